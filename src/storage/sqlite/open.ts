import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError, StorageFullError, UnknownCommitError } from '../errors.js';
import { quote } from '../sql/statements.js';
import type { Storage, StorageClock } from '../storage.js';
import { systemCode } from '../system-code.js';
import { secrets } from '../tables/identity.js';
import { tables as ownTables } from '../tables/index.js';
import { WorkerLock } from './claims.js';
import {
  createFile,
  type Database,
  type FailureKind,
  loadSqlite,
  type OpenDatabase,
  SqliteFailure,
} from './database.js';
import { keepIndexInPlace, Reserve } from './disk-space.js';
import { identityOf, watchPlaces } from './places.js';
import { migrate, newestVersion, readMeta, readVersion, type Schema, writeMeta } from './schema.js';
import { SqliteStorage } from './storage.js';
import { unlessUnreadable } from './unreadable.js';

export interface SqliteOptions extends Schema {
  /** The folder of the store; created if missing. */
  readonly directory: string;
  readonly clock: StorageClock;
  /** Opens the file; tests wrap it. */
  readonly openDatabase?: OpenDatabase;
  /** Whether to create the store if there is none; by default yes. */
  readonly isMaking?: boolean;
  /** How many bytes to reserve for writes that must work on a full disk; 0 reserves nothing. */
  readonly reserveBytes?: number;
}

export const FILE_NAME = 'windrow.db';
/** What else windrow keeps beside it; SQLite's own files have its name and a suffix. */
export const COMPANIONS = ['windrow.reserve', 'windrow.worker', 'windrow.worker-journal'] as const;
/** More than the length of the write-ahead log, which must fit into the database first. */
const RESERVE_BYTES = 32 * 1024 * 1024;

/**
 * Opens the store in a directory. Several processes may have it open at a time.
 *
 * @throws StorageError 'storage.newer' for a store of a newer version, 'storage.damaged' for a file that is not a
 * store or an incomplete copy, 'storage.failed' for one that the disk cannot read, 'storage.locked' while another
 * program locks the file, 'file.missing' if there is none and `isMaking` is false.
 */
export async function openSqliteStorage(options: SqliteOptions): Promise<Storage> {
  const { directory, clock, isMaking = true, reserveBytes = RESERVE_BYTES } = options;
  const open = options.openDatabase ?? (await loadSqlite());
  const explain = (error: unknown) => explained(error, directory);
  if (!isMaking && !hasStore(directory)) {
    throw new StorageError('file.missing', `${directory}: there is no store of windrow`);
  }
  // Private: it holds names of clients, password hashes and the key of continuation tokens.
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let database: Database | undefined;
  try {
    database = openStore(open, directory, options);
    const misplaced = watchPlaces(directory, [FILE_NAME, `${FILE_NAME}-wal`, `${FILE_NAME}-shm`], clock);
    const reserve = new Reserve(directory, reserveBytes);
    const workerLock = new WorkerLock(open, directory);
    const path = join(directory, FILE_NAME);
    // Where somebody has moved them away, SQLite would create others.
    const openWatch = () => (existsSync(path) && existsSync(`${path}-wal`) ? open(path) : undefined);
    const { tables = ownTables } = options;
    const version = newestVersion(options);
    return new SqliteStorage({ database, misplaced, tables, version, openWatch, reserve, workerLock, clock, explain });
  } catch (error) {
    database?.close();
    throw explain(unlessUnreadable(error, join(directory, FILE_NAME), ON_ANOTHER_DISK));
  }
}

/** What to do about a store that its disk cannot read. */
export const ON_ANOTHER_DISK = ', and move the store to another disk, or restore a backup there';

/**
 * Whether the directory has a store; opening it would create one.
 *
 * @throws StorageError 'file.denied' if that cannot be seen, or the store may not be read.
 */
export function hasStore(directory: string): boolean {
  const path = join(directory, FILE_NAME);
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'EACCES' && code !== 'EPERM') return false;
    const mend = 'check its permissions and the user that windrow runs as';
    throw new StorageError('file.denied', `the data directory ${directory}: permission denied (${code}): ${mend}`, {
      cause: error,
    });
  }
  refuseOther(path);
  return true;
}

/** @throws StorageError 'file.directory' for anything but a file: whoever opens a pipe waits for its writer. */
export function refuseOther(path: string, mend = 'move it away, or use another directory'): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  const kinds = [
    ['a folder', found.isDirectory()],
    ['a pipe', found.isFIFO()],
    ['a socket', found.isSocket()],
  ] as const;
  const [kind = 'a device'] = kinds.find(([, is]) => is) ?? [];
  throw new StorageError('file.directory', `${path}: it is ${kind}, expected a file; ${mend}`);
}

/** A connection to the store, checked, migrated and configured. */
function openStore(open: OpenDatabase, directory: string, schema: Schema = {}): Database {
  const path = join(directory, FILE_NAME);
  for (const name of [FILE_NAME, ...COMPANIONS]) refuseOther(join(directory, name));
  // SQLite gives the files beside it the same permissions.
  createFile(path);
  keepIndexInPlace(`${path}-shm`);
  const identity = identityOf(path);
  const database = open(path);
  try {
    // Long enough for another process to create the tables.
    database.exec('PRAGMA busy_timeout = 5000');
    readVersion(database, path, schema);
    configure(database, directory);
    migrate(database, path, schema);
    checkCopy(database, path, schema);
    // Short, since it blocks the thread; longer waits are retried without blocking.
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    if (identityOf(path) !== identity) {
      const problem = 'it was replaced while it was opened, as by a restore; try again';
      throw new StorageError('storage.failed', `the store in ${directory}: ${problem}`);
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const BUSY_MS = 5;

const CHECKPOINT_BYTES = 8 * 1024 * 1024;

/**
 * A commit is in the write-ahead log, and the log on the disk, before COMMIT returns (synchronous FULL). On macOS only
 * `fullfsync` flushes the disk's own cache.
 */
function configure(database: Database, directory: string): void {
  if (Number(database.all('PRAGMA page_count')[0]?.page_count) === 0) {
    // A small commit writes one or two whole pages. INCREMENTAL allows free pages to be returned to the file system.
    database.exec('PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL');
  }
  const mode = database.all('PRAGMA journal_mode = WAL')[0]?.journal_mode;
  if (mode !== 'wal') {
    const mend = 'its file system has no shared memory (a network drive?); use a local disk';
    throw new StorageError('storage.failed', `${directory}: it cannot hold a write-ahead log: ${mend}`);
  }
  database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
  // The log is copied into the database every 8 MiB, and truncated after a large commit made it longer.
  const pageBytes = Number(database.all('PRAGMA page_size')[0]?.page_size);
  database.all(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_BYTES / pageBytes}`);
  database.all(`PRAGMA journal_size_limit = ${16 * 1024 * 1024}`);
  // Large enough for the changes of a group of commits, which are then written once.
  database.exec('PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY');
}

/**
 * Looks once at a store whose file differs from when it was last opened: it was copied, or restored. Files that were
 * copied while a server wrote to them may not match, and such a store may fail much later. And its next commits differ
 * from those of the store it was copied from: with new secrets, no token or id that names a place in those is taken.
 */
function checkCopy(database: Database, path: string, { tables = ownTables }: Schema): void {
  const { ino, birthtimeMs } = statSync(path);
  const identity = `${ino} ${Math.floor(birthtimeMs)}`;
  const known = readMeta(database, 'file');
  if (known === identity) return;
  if (known !== undefined) {
    const [fault] = faultsOf(database);
    if (fault !== undefined) {
      const mend = 'it was probably copied while in use; copy a store with `windrow backup`';
      throw new StorageError(
        'storage.damaged',
        `${path}: the files of this copy do not belong together: ${mend} (${fault})`,
      );
    }
    if (tables.some(({ name }) => name === secrets.name)) database.exec(`DELETE FROM ${quote(secrets.name)}`);
  }
  writeMeta(database, 'file', identity);
}

/** The faults that SQLite finds in its file, one a line. */
export function faultsOf(database: Database): string[] {
  try {
    const rows = database.all('PRAGMA integrity_check(20)');
    // Those of the file's structure are lines of one row, after a title.
    const lines = rows.flatMap((row) => String(row.integrity_check).split('\n'));
    return lines.filter((line) => line !== 'ok' && !line.startsWith('***'));
  } catch (error) {
    if (error instanceof SqliteFailure && error.kind === 'damaged') return [error.message];
    throw error;
  }
}

const MEANINGS: Readonly<
  Record<
    Exclude<FailureKind, 'full' | 'commit' | 'newer'>,
    readonly [code: 'storage.damaged' | 'storage.failed' | 'storage.locked', string]
  >
> = {
  // SQLite does not tell damage and a page that the disk cannot read apart; `windrow check` does.
  damaged: [
    'storage.damaged',
    'its file is damaged, is not an SQLite file, or cannot be read from the disk; run `windrow check`, which tells ' +
      'which, or restore a backup',
  ],
  busy: ['storage.locked', 'another program has locked its file; close that program'],
  io: ['storage.failed', 'the disk failed or the folder is not writable; check the system log and the permissions'],
  other: ['storage.failed', 'SQLite refused a statement'],
};

export function explained(error: unknown, directory: string): unknown {
  if (!(error instanceof SqliteFailure)) return error;
  if (error.kind === 'full') {
    const mend = 'free some space; nothing was written, reads still work';
    const message = `the store in ${directory}: the disk is full: ${mend}`;
    return new StorageFullError(message, 'reads, tokens and deletions', { cause: error });
  }
  if (error.kind === 'commit') {
    const message = `the store in ${directory}: the disk failed during a commit (${error.message})`;
    const mend =
      'the next process knows whether it took effect: check the disk and the system log, then restart this one';
    return new UnknownCommitError(`${message}; ${mend}`, { cause: error });
  }
  if (error.kind === 'newer') {
    return new StorageError('storage.newer', `the store in ${directory}: ${error.message}`, { cause: error });
  }
  const [code, meaning] = MEANINGS[error.kind];
  return new StorageError(code, `the store in ${directory}: ${meaning} (${error.message})`, { cause: error });
}
