import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError, StorageFullError } from '../errors.js';
import type { Storage } from '../storage.js';
import type { Table } from '../table.js';
import { endClaims } from './claims.js';
import { CommitLog } from './commit-log.js';
import { Connection } from './connection.js';
import { type Database, type FailureKind, type OpenDatabase, SqliteFailure } from './database.js';
import { CommitCounters } from './group.js';
import { syncDirectory } from './journal.js';
import { acquireLock, type LockOptions } from './lock.js';
import { type OpenLogFile, openLogFile } from './log-file.js';
import { migrate } from './migrate.js';
import type { Migration } from './migrations.js';
import { loadNodeSqlite } from './node-database.js';
import { SqliteStorage, type StorageClock } from './storage.js';
import { loadWasmSqlite } from './wasm-database.js';

export interface SqliteOptions {
  /** The folder of the store, made when it is not there. */
  readonly directory: string;
  readonly clock: StorageClock;
  /** How the file is opened; by Node's own SQLite where there is one, else by the one in WebAssembly. */
  readonly openDatabase?: OpenDatabase;
  /** How the file of the commit log is opened. */
  readonly openLog?: OpenLogFile;
  /** Whether groups of commits go to the log, true by default; if not, each is a commit of SQLite. */
  readonly isLogging?: boolean;
  readonly lock?: LockOptions;
  /** The tables of this version; those of windrow where absent. */
  readonly tables?: readonly Table<never>[];
  /** The steps from version 1 on; those of this version where absent. */
  readonly migrations?: readonly Migration[];
}

const FILE_NAME = 'windrow.db';
const LOG_NAME = 'windrow.log';

/**
 * Opens the store in a directory.
 *
 * @throws StorageError 'storage.locked' while another process uses it, 'storage.newer' for a store of a newer version,
 *   'storage.damaged' for a file that is none.
 */
export async function openSqliteStorage(options: SqliteOptions): Promise<Storage> {
  const { directory, clock } = options;
  const explain = (error: unknown) => explained(error, directory);
  const open = options.openDatabase ?? (await loadSqlite());
  // Of nobody else's business: names of clients, hashes of passwords, keys of continuation tokens.
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = await acquireLock(directory, options.lock);
  let connection: Connection | undefined;
  let log: CommitLog | undefined;
  try {
    const path = join(directory, FILE_NAME);
    const opened = new Connection(path, (file) => configured(open(file)));
    connection = opened;
    const { openLog = openLogFile, isLogging = true } = options;
    const commitLog = new CommitLog(openLog(join(directory, LOG_NAME)), isLogging);
    log = commitLog;
    migrate(opened, path, options, (isNew) => (isNew ? commitLog.clear() : commitLog.recover(opened)));
    endClaims(opened);
    opened.takeRecords();
    syncDirectory(directory);
    const counters = new CommitCounters(opened);
    return new SqliteStorage({ connection: opened, log: commitLog, counters, clock, explain, lock });
  } catch (error) {
    log?.close();
    connection?.close();
    lock.release();
    throw explain(error);
  }
}

/** Node's own SQLite where there is one, else the one in WebAssembly: the same SQL, the same file. */
async function loadSqlite(): Promise<OpenDatabase> {
  return loadNodeSqlite() ?? (await loadWasmSqlite());
}

/**
 * What makes a commit survive a loss of power: the rollback journal is on the disk before a page of the database
 * changes, the pages are before the journal is made void, and that is before COMMIT returns (synchronous EXTRA also
 * puts the directory on the disk where the journal is a file that comes and goes). On macOS fsync leaves pages in the
 * memory of the disk, but for `fullfsync`; that is how Node itself syncs, and so the log.
 *
 * The lock is kept (locking_mode EXCLUSIVE): nobody else opens the file, so it need not be taken anew for every
 * statement (160 us in WebAssembly), and the journal is overwritten instead of deleted. Measured here, a commit of
 * 160 kB takes 1.0 ms so, and 1.8 ms with a journal deleted each time.
 */
function configured(database: Database): Database {
  database.all('PRAGMA locking_mode = EXCLUSIVE');
  database.all('PRAGMA journal_mode = DELETE');
  if (Number(database.all('PRAGMA page_count')[0]!.page_count) === 0) {
    // Of 4, 8, 16 and 32 kB, 8 were fastest for rows of 160 kB. Pages that became free can be given back to the disk.
    database.exec('PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL');
  }
  database.all(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  database.exec('PRAGMA synchronous = EXTRA; PRAGMA fullfsync = ON');
  // Large enough that what a group of commits changes stays in memory until it is written once.
  database.exec('PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY');
  return database;
}

const MEANINGS: Readonly<
  Record<FailureKind, readonly [code: 'storage.damaged' | 'storage.failed' | 'storage.locked', string]>
> = {
  damaged: ['storage.damaged', 'its file is damaged, or no SQLite file; put back a copy of the directory'],
  busy: ['storage.locked', 'another program holds its file; close that program'],
  io: ['storage.failed', 'the disk failed, or its folder may not be written; see the system log and its permissions'],
  full: ['storage.failed', 'the disk is full'],
  other: ['storage.failed', 'SQLite refused a statement'],
};

function explained(error: unknown, directory: string): unknown {
  if (!(error instanceof SqliteFailure)) return error;
  if (error.kind === 'full') {
    const mend = 'make room; nothing was written, and reading goes on';
    return new StorageFullError(`the store in ${directory}: the disk is full: ${mend}`, { cause: error });
  }
  const [code, meaning] = MEANINGS[error.kind];
  return new StorageError(code, `the store in ${directory}: ${meaning} (${error.message})`, { cause: error });
}
