import { DuplicateKeyError, StorageError, StorageFullError } from '../errors.js';

/** Why a statement failed, as far as a caller can do something about it. */
export type FailureKind =
  /** The connection, or the server behind it, is gone: what ran on it may be run again on another. */
  | 'lost'
  /** The server starts, recovers or stops: it lets us in a moment later. */
  | 'starting'
  /** Another transaction was in the way: the whole work may be run again. */
  | 'conflict'
  /** There is a row of this key already. */
  | 'duplicate'
  | 'full'
  | 'damaged'
  /** The server does not let us in: trying again does not help. */
  | 'denied'
  /** The answer to a COMMIT was lost, and so was every answer to the question whether it took effect. */
  | 'unknown'
  | 'other';

/** A failure of PostgreSQL itself, or of the way to it. */
export class PostgresFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.kind = kind;
  }

  /** Whether the same work may do on another connection, or a moment later. */
  get isPassing(): boolean {
    return this.kind === 'lost' || this.kind === 'starting' || this.kind === 'conflict';
  }
}

// Codes of SQLSTATE, whole or their class (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const KINDS: Readonly<Record<string, FailureKind>> = {
  '08': 'lost',
  '23505': 'duplicate', // unique_violation
  '25006': 'lost', // read_only_sql_transaction: the server is a standby now
  '25P03': 'lost', // idle_in_transaction_session_timeout
  '28': 'denied',
  '3D': 'denied', // no such database
  '3F': 'denied', // no such schema
  '40001': 'conflict',
  '40P01': 'conflict',
  '42501': 'denied', // insufficient_privilege
  '53100': 'full',
  '53300': 'lost', // too_many_connections
  '57P': 'lost', // shut down, crashed
  '57P03': 'starting', // cannot_connect_now
  '58': 'damaged', // system_error, such as an I/O error
  XX: 'damaged',
};

export function failureOf(error: unknown): PostgresFailure {
  if (error instanceof PostgresFailure) return error;
  const message = error instanceof Error ? error.message || String(error) : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // What does not come of the server is of the socket: EPIPE is no SQLSTATE, though it looks like one.
  const isOfServer = error instanceof Error && 'severity' in error;
  const kind = isOfServer ? (KINDS[code] ?? KINDS[code.slice(0, 3)] ?? KINDS[code.slice(0, 2)] ?? 'other') : 'lost';
  return new PostgresFailure(kind, code === '' ? message : `${message} (${code})`, { cause: error });
}

function tableOf({ cause }: PostgresFailure): string {
  return cause instanceof Error && 'table' in cause ? String(cause.table) : '';
}

/** What a failure means to a caller. */
export function explained(error: unknown, address: string): unknown {
  if (!(error instanceof PostgresFailure)) return error;
  const options = { cause: error };
  const of = `the store at ${address}`;
  switch (error.kind) {
    case 'full':
      return new StorageFullError(
        `${of}: the disk of the database is full: make room; nothing was written, and reading goes on`,
        options,
      );
    case 'damaged':
      return new StorageError('storage.damaged', `${of}: PostgreSQL reports damage: ${error.message}`, options);
    case 'duplicate':
      return new DuplicateKeyError(tableOf(error), error.message);
    case 'other':
      return new StorageError('storage.failed', `${of}: PostgreSQL refused a statement: ${error.message}`, options);
    case 'unknown':
      return new StorageError(
        'storage.failed',
        `${of}: the database was lost while it committed, and it is not known whether it did: ${error.message}`,
        options,
      );
    case 'denied': {
      const mend = 'check the user, its password and rights, and the name of the database';
      return new StorageError('storage.failed', `${of}: no access: ${error.message}; ${mend}`, options);
    }
    default: {
      const mend = 'check that the database runs and can be reached';
      return new StorageError(
        'storage.failed',
        `${of}: PostgreSQL does not answer: ${error.message}; ${mend}`,
        options,
      );
    }
  }
}
