/** What SQLite takes and gives, exactly. */
export type SqlValue = string | number | bigint | Uint8Array | null;
export type SqlRow = Record<string, SqlValue>;

/**
 * A connection to an SQLite file: the edge at which storage touches the world, so that tests can hold it, fail it
 * or stop it between two statements. All calls are synchronous. Statements are prepared once and kept.
 */
export interface Database {
  /** Whether text of more than 16 bytes comes back without the byte order mark that it begins with. */
  readonly losesMark: boolean;
  /** Runs statements without parameters and without rows. */
  exec(sql: string): void;
  /** @returns the number of rows inserted, changed or deleted. */
  run(sql: string, values: readonly SqlValue[]): number;
  /** All the rows, bytes copied out of the database's memory. */
  all(sql: string, values?: readonly SqlValue[]): SqlRow[];
  close(): void;
}

/** Opens a file, made when it is not there. */
export type OpenDatabase = (path: string) => Database;

/** Why a statement failed, as far as a caller can do something about it. */
export type FailureKind = 'full' | 'io' | 'busy' | 'damaged' | 'other';

/** A failure of SQLite itself, whichever adapter it came through. */
export class SqliteFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.kind = kind;
  }
}
