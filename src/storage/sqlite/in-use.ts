import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StorageError } from '../errors.js';
import { type Database, loadSqlite, SqliteFailure } from './database.js';
import { COMPANIONS, FILE_NAME } from './open.js';

/** SQLite keeps these beside its file: a file of this name is applied to the store, or deleted. */
export const LOG_SUFFIXES = ['-wal', '-shm', '-journal'] as const;

/** @throws StorageError if a process has the store open. */
export async function refuseOpen(path: string, place: string): Promise<void> {
  // Any other failure is of a damaged store, which is what a backup replaces.
  if ((await lockFailure(path))?.kind === 'busy') throw inUse(place);
}

/** Whether a process copies into the file now. */
export async function isWritten(path: string): Promise<boolean> {
  return (await lockFailure(path, 'BEGIN IMMEDIATE'))?.kind === 'busy';
}

function inUse(place: string): StorageError {
  return new StorageError('storage.locked', `${place}: a process has the store open; stop it first`);
}

/** Why SQLite refuses a statement: to leave write-ahead mode is 'busy' only if a process has the store open. */
async function lockFailure(path: string, sql = 'PRAGMA journal_mode = DELETE'): Promise<SqliteFailure | undefined> {
  const open = await loadSqlite();
  let database: Database | undefined;
  try {
    database = open(path);
    database.all(sql);
    return undefined;
  } catch (error) {
    if (error instanceof SqliteFailure) return error;
    throw error;
  } finally {
    database?.close();
  }
}

/** @throws StorageError if a backup of the store in `path` would overwrite a file of it, or of a store in use. */
export async function refuseTarget(path: string, file: string): Promise<void> {
  const mend = 'give the backup another name';
  // Also by another name: opening a link to a store beside the store itself would damage it.
  if (isSame(path, file)) throw new StorageError('arguments', `${file}: it is the store itself; ${mend}`);
  const owner = ownerOf(file);
  if (owner !== undefined) {
    throw new StorageError('arguments', `${file}: this name belongs to the store in ${owner}; ${mend}`);
  }
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile()) {
    throw new StorageError('arguments', `${file}: it is a folder, a device or a pipe, not a file; ${mend}`);
  }
  const failure = await lockFailure(file);
  // A damaged one is no store, or none that a process can use.
  if (failure === undefined || failure.kind === 'damaged') return;
  if (failure.kind === 'busy') throw inUse(file);
  // As of a hard link to a store in use.
  throw new StorageError('storage.locked', `${file}: it may be a store in use (${failure.message}); ${mend}`);
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [a, b].map((name) => statSync(name, { throwIfNoEntry: false, bigint: true }));
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

/** The store that the file lies beside and is a part of, whether it exists or not. */
function ownerOf(file: string): string | undefined {
  const suffix = LOG_SUFFIXES.find((known) => file.endsWith(known));
  const beside = COMPANIONS.some((name) => name === basename(file)) ? join(dirname(file), FILE_NAME) : undefined;
  const owner = suffix === undefined || beside !== undefined ? beside : file.slice(0, -suffix.length);
  return owner !== undefined && existsSync(owner) ? owner : undefined;
}
