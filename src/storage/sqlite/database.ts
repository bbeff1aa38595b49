import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { resolve } from 'node:path';
import type { DatabaseSyncInstance, DatabaseSyncOptions, StatementSyncInstance } from '@photostructure/sqlite';

/** What SQLite takes and gives. */
export type SqlValue = string | number | bigint | Uint8Array | null;
export type SqlRow = Record<string, SqlValue>;

/**
 * A connection to an SQLite file: the edge at which storage touches the world, so that tests can hold it, fail it
 * or stop it between two statements. All calls are synchronous. Statements are prepared once and kept.
 */
export interface Database {
  /** Whether a transaction is open: SQLite ends one by itself after some failures. */
  readonly isInTransaction: boolean;
  /** Runs statements without parameters and without rows. */
  exec(sql: string): void;
  /** @returns the number of rows inserted, changed or deleted. */
  run(sql: string, values: readonly SqlValue[]): number;
  all(sql: string, values?: readonly SqlValue[]): SqlRow[];
  close(): void;
}

/** Opens a file; one that is not there is created. */
export type OpenDatabase = (path: string) => Database;

/**
 * Creates a file that SQLite is to open, for its owner only. One that is there is not even opened: its locks are those
 * of the process, and to close any descriptor of a file ends all that SQLite holds on it, in every thread. Another
 * program would then take a store in use for one that nobody has open, and delete its write-ahead log.
 */
export function createFile(path: string): void {
  if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  else closeSync(openSync(path, 'a', 0o600));
}

/**
 * Why a statement failed, as far as a caller can do something about it; `commit` is an `io` of a COMMIT, and `newer` a
 * store that a newer version has upgraded.
 */
export type FailureKind = 'full' | 'io' | 'commit' | 'busy' | 'damaged' | 'newer' | 'other';

/** A failure of SQLite itself. */
export class SqliteFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.kind = kind;
  }
}

/** Loads the native package only when a store is opened: the rest of the command works without it. */
export async function loadSqlite(options: DatabaseSyncOptions = {}): Promise<OpenDatabase> {
  const sqlite = await import('@photostructure/sqlite');
  // Resolved, as SQLite takes names such as `file:x` and `:memory:` for something else.
  return (path) => new SqliteDatabase(asFailure(() => new sqlite.DatabaseSync(resolve(path), options)));
}

// Filters that clients compose make ever new statements. Statements not used while this many others were are dropped.
const STATEMENT_COUNT_MAX = 250;

class SqliteDatabase implements Database {
  readonly #connection: DatabaseSyncInstance;
  #statements = new Map<string, StatementSyncInstance>();
  #olderStatements = new Map<string, StatementSyncInstance>();

  constructor(connection: DatabaseSyncInstance) {
    this.#connection = connection;
  }

  get isInTransaction(): boolean {
    return this.#connection.isTransaction;
  }

  exec(sql: string): void {
    asFailure(() => this.#connection.exec(sql));
  }

  run(sql: string, values: readonly SqlValue[]): number {
    return asFailure(() => Number(this.#statement(sql).run(...values).changes));
  }

  all(sql: string, values: readonly SqlValue[] = []): SqlRow[] {
    return asFailure(() => this.#statement(sql).all(...values));
  }

  close(): void {
    // SQLite itself lets go of the file, and of its locks, when the collector has taken the last of them.
    this.#statements.clear();
    this.#olderStatements.clear();
    asFailure(() => {
      try {
        if (this.isInTransaction) this.#connection.exec('ROLLBACK');
      } finally {
        this.#connection.close();
      }
    });
  }

  #statement(sql: string): StatementSyncInstance {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#olderStatements.get(sql) ?? this.#connection.prepare(sql);
    if (this.#statements.size >= STATEMENT_COUNT_MAX) {
      this.#olderStatements = this.#statements;
      this.#statements = new Map();
    }
    this.#statements.set(sql, statement);
    return statement;
  }
}

function asFailure<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw failureOf(error);
  }
}

// Primary result codes, the low byte of the extended ones.
const KINDS: Readonly<Record<number, FailureKind>> = {
  5: 'busy',
  6: 'busy',
  8: 'io', // SQLITE_READONLY
  10: 'io',
  11: 'damaged',
  13: 'full',
  14: 'io', // SQLITE_CANTOPEN
  26: 'damaged',
};
/** SQLITE_IOERR_SHMSIZE: the index of the write-ahead log could not grow, which is how it meets a full disk. */
const SHARED_MEMORY_SIZE = 4874;
/** SQLITE_IOERR_WRITE: how it meets the end of a quota, while that of the disk has a code of its own. */
const WRITE = 778;

// What the package throws of `all` has the words of SQLite, and no code.
const KINDS_BY_MESSAGE: Readonly<Record<string, FailureKind>> = {
  'database is locked': 'busy',
  'database table is locked': 'busy',
  'disk I/O error': 'io',
  'attempt to write a readonly database': 'io',
  'unable to open database file': 'io',
  'database disk image is malformed': 'damaged',
  'file is not a database': 'damaged',
  'database or disk is full': 'full',
};

/** What the package throws, by its meaning. */
export function failureOf(error: unknown): SqliteFailure {
  if (error instanceof SqliteFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
  const systemCode = error instanceof Error && 'systemErrno' in error ? error.systemErrno : 0;
  const isFull = code === SHARED_MEMORY_SIZE || (code === WRITE && systemCode === osConstants.errno.EDQUOT);
  const kind = isFull ? 'full' : (KINDS[code & 0xff] ?? KINDS_BY_MESSAGE[message]);
  return new SqliteFailure(kind ?? 'other', message, { cause: error });
}
