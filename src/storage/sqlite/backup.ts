import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { prepareDataDirectory, removeEmpty } from '../data-directory.js';
import { StorageError } from '../errors.js';
import { systemCode } from '../system-code.js';
import { faultsOfContent } from './check.js';
import { type Database, failureOf, loadSqlite, SqliteFailure } from './database.js';
import { LOG_SUFFIXES, refuseOpen, refuseTarget } from './in-use.js';
import { explained, FILE_NAME, faultsOf, ON_ANOTHER_DISK, refuseOther } from './open.js';
import { newestVersion, readVersion, writeMeta } from './schema.js';
import { writeUnfinished } from './unfinished.js';
import { unlessUnreadable } from './unreadable.js';

/** How long to wait for another program that locks the file. */
const BUSY_MS_MAX = 5000;
const ANOTHER = 'restore another backup';
const CHECK_DISKS = 'check the disks, their permissions and the system log';

/** A copy of a store whose file is whole. */
export interface Copy {
  /** Whether an older version wrote the store: then its samples and results were not read. */
  readonly isOlder: boolean;
  /** What is damaged of these, a sentence each, as in the store: all else is whole. */
  readonly faults: readonly string[];
}

export interface Backup extends Copy {
  readonly byteCount: number;
}

/**
 * Copies the store of a directory into a file while servers use it: SQLite's online backup, of one moment. The file
 * gets its name only after it was synced, opened and read as a whole.
 *
 * @param isReplacing allows it to replace a file that is there.
 * @throws StorageError if the file belongs to this store, or is a store that a process has open.
 */
export async function backupStore(directory: string, target: string, isReplacing = true): Promise<Backup> {
  const path = join(directory, FILE_NAME);
  // A link stays, and what it points at is replaced.
  const file = existsSync(target) ? realpathSync(target) : target;
  const refuse = async () => {
    if (!isReplacing && existsSync(target)) {
      const mend = 'give another name, or --force to replace it';
      throw new StorageError('arguments', `${target}: it exists already; ${mend}`);
    }
    const log = LOG_SUFFIXES.map((suffix) => `${file}${suffix}`).find((name) => existsSync(name));
    if (!isReplacing && log !== undefined) {
      const mend = 'move it away, give the backup another name, or --force to delete it';
      throw new StorageError('arguments', `${log}: SQLite would take it for a part of the backup; ${mend}`);
    }
    await refuseTarget(path, file);
  };
  await refuse();
  try {
    await checkSource(path, 'restore a backup');
    const copy = await writeUnfinished(file, async (unfinished, check) => {
      await copyStore(path, unfinished, check);
      const found = await checkCopyOf(path, unfinished, 'run `windrow check`, and restore an earlier backup', check);
      // Again: a process may have made or opened it meanwhile.
      await refuse();
      check();
      putInPlace(unfinished, file);
      return found;
    });
    sync(dirname(file));
    return { byteCount: statSync(file).size, ...copy };
  } catch (error) {
    const failure = copyFailure(error);
    if (failure?.kind === 'full') throw fullDisk(file, failure);
    throw explained(unlessUnreadable(failure ?? error, path, ON_ANOTHER_DISK), directory);
  }
}

/** @throws StorageError unless it is a store of this version or an older one; what it holds is checked in the copy. */
async function checkSource(path: string, mend: string): Promise<void> {
  const open = await loadSqlite({ readOnly: true, timeout: BUSY_MS_MAX });
  const database = open(path);
  try {
    checkVersion(database, path, mend);
  } finally {
    database.close();
  }
}

/**
 * Restores a backup into a directory.
 *
 * @param isReplacing allows it to replace a store that no process has open.
 */
export async function restoreStore(file: string, directory: string, isReplacing: boolean): Promise<Copy> {
  const path = join(directory, FILE_NAME);
  checkReadable(file);
  if (isNoFolder(directory)) {
    throw new StorageError('arguments', `${directory}: it is a file, expected a folder; give another name`);
  }
  await refuseStore(path, directory, isReplacing);
  let created: readonly string[] = [];
  try {
    await checkSource(file, ANOTHER);
    created = prepareDataDirectory(directory);
    const copy = await writeUnfinished(path, async (unfinished, check) => {
      await copyStore(file, unfinished, check);
      const found = await checkCopyOf(file, unfinished, ANOTHER, check);
      // Again: a process may have made or opened a store meanwhile.
      await refuseStore(path, directory, isReplacing);
      check();
      putInPlace(unfinished, path);
      return found;
    });
    sync(directory);
    return copy;
  } catch (error) {
    removeEmpty(created);
    const failure = copyFailure(error);
    if (failure?.kind === 'full') throw fullDisk(directory, failure);
    const told = unlessUnreadable(failure ?? error, file, `, or ${ANOTHER}`);
    if (failure === undefined || told !== failure) throw told;
    const damage = `this file is damaged, or no backup of a store (${failure.message}); ${ANOTHER}`;
    if (failure.kind === 'damaged') throw new StorageError('storage.damaged', `${file}: ${damage}`, { cause: failure });
    const message = `${file} could not be restored into ${directory} (${failure.message}); ${CHECK_DISKS}`;
    throw new StorageError('storage.failed', message, { cause: failure });
  }
}

function isNoFolder(path: string): boolean {
  try {
    return !statSync(path).isDirectory();
  } catch (error) {
    // Not `throwIfNoEntry`: from Node 22 on, that finds nothing below a file either.
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Copies into an empty file. @param check throws to stop it. */
async function copyStore(path: string, unfinished: string, check: () => void): Promise<void> {
  const { backup, DatabaseSync } = await import('@photostructure/sqlite');
  const source = new DatabaseSync(resolve(path), { readOnly: true, timeout: BUSY_MS_MAX });
  try {
    // In a read transaction, so that writes do not restart the copy.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM "windrow_meta"').get();
    check();
    await backup(source, resolve(unfinished), { rate: 1000, progress: check });
    check();
    source.exec('ROLLBACK');
  } finally {
    source.close();
  }
}

/**
 * Makes the copy a single file, without a write-ahead log beside it, checks it and syncs it.
 *
 * @param check throws to stop it.
 */
async function checkCopyOf(source: string, copy: string, mend: string, check: () => void): Promise<Copy> {
  const open = await loadSqlite();
  const database = open(copy);
  let isOlder: boolean;
  let faults: readonly string[];
  try {
    database.all('PRAGMA journal_mode = DELETE');
    isOlder = checkVersion(database, source, mend) < newestVersion();
    const [fault] = faultsOf(database);
    if (fault !== undefined) throw new StorageError('storage.damaged', `${source}: it is damaged (${fault}); ${mend}`);
    faults = isOlder ? [] : await faultsOfContent(database, check);
    // Whoever opens it sees that it is a copy, even if its file gets the number of the one that it was copied from.
    writeMeta(database, 'file', 'copied');
  } catch (error) {
    if (!(error instanceof SqliteFailure) || error.kind !== 'io') throw error;
    // Not the source: that was read before.
    const told = `${copy}: the copy could not be finished (${error.message})`;
    const message = `${told}; free some space there, or ${CHECK_DISKS}`;
    throw new StorageError('storage.failed', message, { cause: error });
  } finally {
    database.close();
  }
  sync(copy);
  return { isOlder, faults };
}

/** @param file what is blamed: of a copy, that from which it was made. */
function checkVersion(database: Database, file: string, mend: string): number {
  const version = readVersion(database, file, {});
  if (version > 0) return version;
  throw new StorageError('storage.damaged', `${file}: this file is empty, not a store or a backup of one; ${mend}`);
}

/** @throws StorageError if there is a store that may not be replaced, or that a process has open. */
async function refuseStore(path: string, directory: string, isReplacing: boolean): Promise<void> {
  if (!existsSync(path)) return;
  refuseOther(path);
  if (!isReplacing) {
    const mend = 'restore into another directory, or give --force to replace it';
    throw new StorageError('arguments', `${directory}: there is already a store: ${mend}`);
  }
  await refuseOpen(path, directory);
}

/** A failure of SQLite while it copies; undefined for any other error. */
function copyFailure(error: unknown): SqliteFailure | undefined {
  const isOfPackage = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
  return error instanceof SqliteFailure || isOfPackage ? failureOf(error) : undefined;
}

/** Both copies are written under a name of their own first, so that what was there stays. */
function fullDisk(place: string, cause: SqliteFailure): StorageError {
  const message = `${place}: the disk is full: free some space, or use another disk; nothing was replaced`;
  return new StorageError('file.full', message, { cause });
}

/** @throws StorageError unless it is a file that may be read: SQLite would only say that it cannot open it. */
function checkReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    const code = systemCode(error);
    const isDenied = code === 'EACCES' || code === 'EPERM';
    if (!isDenied) throw new StorageError('file.missing', `${file}: there is no such file`, { cause: error });
    const message = `${file}: permission denied to read it (${code}); check its permissions`;
    throw new StorageError('file.denied', message, { cause: error });
  }
  refuseOther(file, 'give a file that `windrow backup` made');
}

/** Gives the copy its name, without the logs of what was there: SQLite would apply them to the copy. */
function putInPlace(copy: string, path: string): void {
  removeLogs(path);
  renameSync(copy, path);
  // A process may have opened what was there in between, which makes new ones. It sees that the file was replaced.
  removeLogs(path);
}

function removeLogs(path: string): void {
  for (const suffix of LOG_SUFFIXES) rmSync(`${path}${suffix}`, { force: true });
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
