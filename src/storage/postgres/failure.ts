import { DuplicateKeyError, StorageError, StorageFullError, UnknownCommitError } from '../errors.js';

/** Why a statement failed, as far as callers can act on it. */
export type FailureKind =
  /** The connection or its server is gone: the work can be rerun on another connection. */
  | 'lost'
  /** The server is starting, recovering or stopping: retry a moment later. */
  | 'starting'
  /** Another transaction interfered: the whole work can be rerun. */
  | 'conflict'
  /** A statement was cancelled, by an administrator or a limit of the session: the whole work can be rerun. */
  | 'cancelled'
  /** The server is a standby, or takes no writes: another one may. */
  | 'readOnly'
  /** The server's commits are confirmed by no standby: another server may have taken its place. */
  | 'unconfirmed'
  /** Another process creates or upgrades the tables. */
  | 'upgrading'
  /** It has no connection left for us. */
  | 'crowded'
  /** A row with this key exists. */
  | 'duplicate'
  /** A value does not fit into an entry of an index. */
  | 'tooLong'
  | 'full'
  | 'damaged'
  /** A pooler gives a session to others, or one of others to us. */
  | 'pooled'
  /** The server refuses access: a retry does not help. */
  | 'denied'
  /** A newer windrow has changed the store so that this version cannot work with it. */
  | 'newer'
  /** The answer to a COMMIT was lost, and every later check whether it took effect failed. */
  | 'unknown'
  | 'other';

/** A failure of PostgreSQL itself or of the connection to it. */
export class PostgresFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.kind = kind;
  }

  /** Whether a retry on another connection, or a moment later, may succeed. */
  get isTransient(): boolean {
    return TRANSIENT.has(this.kind);
  }
}

const TRANSIENT: ReadonlySet<FailureKind> = new Set([
  'lost',
  'starting',
  'conflict',
  'cancelled',
  'readOnly',
  'unconfirmed',
  'upgrading',
  'crowded',
]);

// SQLSTATE codes or their classes (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const KINDS: Readonly<Record<string, FailureKind>> = {
  '08': 'lost',
  '23505': 'duplicate', // unique_violation
  '25006': 'readOnly', // read_only_sql_transaction: the server is a standby now
  '25P03': 'lost', // idle_in_transaction_session_timeout
  '25P04': 'lost', // transaction_timeout: since PostgreSQL 17, and it ends the session too
  '26000': 'pooled', // invalid_sql_statement_name
  '28': 'denied',
  '3D': 'denied', // no such database
  '3F': 'denied', // no such schema
  '40001': 'conflict',
  '40P01': 'conflict',
  '42501': 'denied', // insufficient_privilege
  '42P05': 'pooled', // duplicate_prepared_statement: each connection prepares a name once
  '53100': 'full',
  '53300': 'crowded', // too_many_connections
  '54000': 'tooLong', // program_limit_exceeded
  '55P03': 'conflict', // lock_not_available: `lock_timeout` is over
  '57014': 'cancelled', // query_canceled
  '57P': 'lost', // shut down, crashed
  '57P03': 'starting', // cannot_connect_now
  '58': 'damaged', // system_error, such as an I/O error
  XX: 'damaged',
};

export const LACKS_TLS = /not support SSL/;
// What `pg` itself finds wrong with a password, and Node with a certificate.
const DENIED = /^SASL/;
const LACKS_PASSWORD = /client password must be a/;
const NO_PASSWORD = 'the server asks for a password; give it in the address, in PGPASSWORD or in ~/.pgpass';
const DENIED_CODES = /^(CERT_|ERR_TLS_|UNABLE_TO_)|SELF_SIGNED/;

export function failureOf(error: unknown): PostgresFailure {
  if (error instanceof PostgresFailure) return error;
  const given = error instanceof Error ? error.message || String(error) : String(error);
  const message = LACKS_PASSWORD.test(given) ? NO_PASSWORD : given;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // An error without a severity is from the socket, not the server: EPIPE looks like an SQLSTATE but is none.
  const isFromServer = error instanceof Error && 'severity' in error;
  const isDenied = DENIED.test(given) || LACKS_TLS.test(given) || DENIED_CODES.test(code);
  const ofSocket = isDenied ? 'denied' : 'lost';
  const kind = isFromServer ? (KINDS[code] ?? KINDS[code.slice(0, 3)] ?? KINDS[code.slice(0, 2)] ?? 'other') : ofSocket;
  return new PostgresFailure(kind, code === '' ? message : `${message} (${code})`, { cause: error });
}

function tableOf({ cause }: PostgresFailure): string {
  return cause instanceof Error && 'table' in cause ? String(cause.table) : '';
}

function tooLong(cause: PostgresFailure): StorageError {
  // An entry of an index has at most a third of a page.
  const where = 'the names of a series, the status of an event or the source and partition of a queue';
  const message = `expected ${where} in at most some 2,600 bytes, which PostgreSQL can index; shorten them`;
  return new StorageError('storage.value', message, { cause });
}

const GONE = 'check that the database runs and can be reached';

/** What the remaining kinds mean to the caller: the words before the message, and how to mend it. */
const MEANINGS: Readonly<
  Record<
    Exclude<FailureKind, 'full' | 'duplicate' | 'tooLong' | 'unknown'>,
    readonly [lead: string, mend?: string | undefined, code?: 'storage.damaged' | 'storage.newer']
  >
> = {
  lost: ['PostgreSQL does not answer: ', GONE],
  starting: ['PostgreSQL does not answer: ', GONE],
  conflict: ['transactions of others hold locks for too long: ', 'pg_stat_activity shows whose'],
  cancelled: ['statements are cancelled again and again: '],
  readOnly: [
    '',
    'name the one that takes writes in the address, beside this one or in its place; a role or a database may be ' +
      'read-only, too (default_transaction_read_only)',
  ],
  unconfirmed: [
    '',
    'pg_stat_replication on that server shows its standbys, and synchronous_standby_names which it needs',
  ],
  upgrading: [''],
  crowded: [
    'no connection is free: ',
    'raise max_connections, or start fewer processes: each uses up to 11 connections',
  ],
  damaged: ['PostgreSQL reports damage: ', undefined, 'storage.damaged'],
  pooled: ['', 'a pooler must keep a session for one connection and then reset it (PgBouncer: pool_mode = session)'],
  denied: [
    'no access: ',
    'check the user, its password and privileges, the name of the database, search_path, and TLS',
  ],
  newer: ['', undefined, 'storage.newer'],
  other: ['PostgreSQL refused a statement: '],
};

/** The failure as an error for the caller. */
export function explained(error: unknown, address: string): unknown {
  if (!(error instanceof PostgresFailure)) return error;
  const options = { cause: error };
  const of = `the store at ${address}`;
  const { kind, message } = error;
  if (kind === 'duplicate') return new DuplicateKeyError(tableOf(error), message);
  if (kind === 'tooLong') return tooLong(error);
  if (kind === 'full') {
    const mend = 'free some space; nothing was written, reads still work';
    return new StorageFullError(`${of}: the disk of the database is full: ${mend}`, 'reads', options);
  }
  if (kind === 'unknown') {
    const lost = 'the connection was lost during a commit, and it is not known whether it took effect';
    return new UnknownCommitError(`${of}: ${lost}: ${message}`, options);
  }
  const [lead, mend, code = 'storage.failed'] = MEANINGS[kind];
  return new StorageError(code, `${of}: ${lead}${message}${mend === undefined ? '' : `; ${mend}`}`, options);
}
