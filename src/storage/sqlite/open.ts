import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError, StorageFullError } from '../errors.js';
import type { Storage, StorageClock } from '../storage.js';
import { tables as ownTables } from '../tables/index.js';
import { WorkerLock } from './claims.js';
import { type Database, type FailureKind, loadSqlite, type OpenDatabase, SqliteFailure } from './database.js';
import { Reserve } from './disk-space.js';
import { migrate, readMeta, readVersion, type Schema, writeMeta } from './schema.js';
import { SqliteStorage } from './storage.js';

export interface SqliteOptions extends Schema {
  /** The folder of the store, made when it is not there. */
  readonly directory: string;
  readonly clock: StorageClock;
  /** How the file is opened; tests stand in between. */
  readonly openDatabase?: OpenDatabase;
  /** How much of the disk is kept back for what must go on when the rest is full; 0 keeps nothing. */
  readonly reserveBytes?: number;
}

export const FILE_NAME = 'windrow.db';
/** More than the write-ahead log is long: that has to find room in the database first. */
const RESERVE_BYTES = 32 * 1024 * 1024;

/**
 * Opens the store in a directory. Several processes may have it open at a time.
 *
 * @throws StorageError 'storage.newer' for a store of a newer version, 'storage.damaged' for a file that is no store
 *   or a copy that is not whole, 'storage.locked' while a program holds the file for itself.
 */
export async function openSqliteStorage(options: SqliteOptions): Promise<Storage> {
  const { directory, clock, reserveBytes = RESERVE_BYTES } = options;
  const open = options.openDatabase ?? (await loadSqlite());
  const explain = (error: unknown) => explained(error, directory);
  // Of nobody else's business: names of clients, hashes of passwords, keys of continuation tokens.
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let database: Database | undefined;
  try {
    database = openStore(open, directory, options);
    const reserve = new Reserve(directory, reserveBytes);
    const workerLock = new WorkerLock(open, directory);
    const openWatch = () => open(join(directory, FILE_NAME));
    const { tables = ownTables } = options;
    return new SqliteStorage({ database, tables, openWatch, reserve, workerLock, clock, explain });
  } catch (error) {
    database?.close();
    throw explain(error);
  }
}

/** A connection to the store, checked, at this version and set up. */
function openStore(open: OpenDatabase, directory: string, schema: Schema = {}): Database {
  const path = join(directory, FILE_NAME);
  // The files beside it get the permissions of this one.
  closeSync(openSync(path, 'a', 0o600));
  const database = open(path);
  try {
    // As long as another process may need to make the tables.
    database.exec('PRAGMA busy_timeout = 5000');
    const version = readVersion(database, path, schema);
    refuseOldLog(database, directory, version);
    configure(database, directory);
    migrate(database, path, schema);
    checkCopy(database, path);
    // No longer than a statement of another process takes: who waits longer does so without holding the thread.
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const BUSY_MS = 5;

const CHECKPOINT_BYTES = 8 * 1024 * 1024;

/**
 * A commit is in the write-ahead log, and that is on the disk, before COMMIT returns (synchronous FULL). On macOS fsync
 * leaves pages in the memory of the disk, but for `fullfsync`.
 */
function configure(database: Database, directory: string): void {
  if (Number(database.all('PRAGMA page_count')[0]?.page_count) === 0) {
    // A small commit writes a page or two, each whole. Pages that became free can be given back to the disk.
    database.exec('PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL');
  }
  const mode = database.all('PRAGMA journal_mode = WAL')[0]?.journal_mode;
  if (mode !== 'wal') {
    const mend = 'its file system has no shared memory (a network drive?); use a local disk';
    throw new StorageError('storage.failed', `${directory}: no write-ahead log can be kept there: ${mend}`);
  }
  database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
  // The log is copied into the database every 8 MiB, and cut back where a large commit made it longer.
  const pageBytes = Number(database.all('PRAGMA page_size')[0]?.page_size);
  database.all(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_BYTES / pageBytes}`);
  database.all(`PRAGMA journal_size_limit = ${16 * 1024 * 1024}`);
  // Large enough that what a group of commits changes stays in memory until it is written once.
  database.exec('PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY');
}

/**
 * Stores of version 1 kept commits in a log of their own, `windrow.log`, until SQLite had them too. A server that
 * stopped in order left none; what one that was killed left is not thrown away here.
 */
function refuseOldLog(database: Database, directory: string, version: number): void {
  const path = join(directory, 'windrow.log');
  if (version !== 1 || !existsSync(path)) return;
  const log = readFileSync(path);
  // Its first frame: a CRC, a length, the random number of its epoch, and its place in it.
  const epoch = log.length < 24 ? Number.NaN : log.readDoubleLE(8);
  if (epoch === Number(readMeta(database, 'logEpoch')) && log.readDoubleLE(16) === 0) {
    const mend = 'start the windrow that wrote it once and stop it with SIGTERM, then this one';
    throw new StorageError('storage.newer', `${path} holds commits that are not in the database yet: ${mend}`);
  }
  for (const name of ['windrow.log', 'windrow.lock', 'windrow.db.lock', 'control.json']) {
    rmSync(join(directory, name), { force: true, recursive: true });
  }
}

/**
 * Files that were copied while a server wrote to them need not belong together, and such a store may fail much later.
 * So a file that is not the one that this store was last opened as is read through once.
 */
function checkCopy(database: Database, path: string): void {
  const { ino, birthtimeMs } = statSync(path);
  const identity = `${ino} ${Math.floor(birthtimeMs)}`;
  const known = readMeta(database, 'file');
  if (known === identity) return;
  if (known !== undefined) {
    const [fault] = faultsOf(database);
    if (fault !== undefined) {
      const mend = 'it was copied while it was written to, most likely; copy a store with `windrow backup`';
      throw new StorageError(
        'storage.damaged',
        `${path}: the files of this copy do not belong together: ${mend} (${fault})`,
      );
    }
  }
  writeMeta(database, 'file', identity);
}

/** What SQLite finds wrong with its file; nothing when all is well. */
export function faultsOf(database: Database): string[] {
  try {
    const rows = database.all('PRAGMA integrity_check(20)');
    return rows.map((row) => String(row.integrity_check)).filter((fault) => fault !== 'ok');
  } catch (error) {
    if (error instanceof SqliteFailure && error.kind === 'damaged') return [error.message];
    throw error;
  }
}

const MEANINGS: Readonly<
  Record<FailureKind, readonly [code: 'storage.damaged' | 'storage.failed' | 'storage.locked', string]>
> = {
  damaged: ['storage.damaged', 'its file is damaged, or no SQLite file; `windrow check` tells more, a backup mends it'],
  busy: ['storage.locked', 'another program holds its file; close that program'],
  io: ['storage.failed', 'the disk failed, or its folder may not be written; see the system log and its permissions'],
  full: ['storage.failed', 'the disk is full'],
  other: ['storage.failed', 'SQLite refused a statement'],
};

export function explained(error: unknown, directory: string): unknown {
  if (!(error instanceof SqliteFailure)) return error;
  if (error.kind === 'full') {
    const mend = 'make room; nothing was written, and reading goes on';
    return new StorageFullError(`the store in ${directory}: the disk is full: ${mend}`, { cause: error });
  }
  const [code, meaning] = MEANINGS[error.kind];
  return new StorageError(code, `the store in ${directory}: ${meaning} (${error.message})`, { cause: error });
}
