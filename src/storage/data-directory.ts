import { existsSync, mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type ErrorCode, WindrowError } from '../core/errors.js';
import { emptyReserve } from './sqlite/disk-space.js';
import { systemCode } from './system-code.js';

/**
 * Creates the data directory if it is missing, for its owner only, and checks that files can be written in it; on a
 * full disk, in the space that its store has reserved. It creates one folder at a time: below one that refuses them,
 * such as /proc, Node's `recursive` never returns.
 *
 * @returns the folders that it created, each after the one that holds it.
 * @throws WindrowError that names the obstacle.
 */
export function prepareDataDirectory(directory: string): readonly string[] {
  const path = resolve(directory);
  const missing: string[] = [];
  const probe = join(path, `windrow.${process.pid}.new`);
  let place = path;
  try {
    for (; !existsSync(place); place = dirname(place)) missing.unshift(place);
    for (const folder of missing) {
      createFolder(folder);
      place = folder;
    }
    tryOut(probe, path);
    return missing;
  } catch (error) {
    removeEmpty(missing);
    throw unusable(directory, place, error);
  }
}

/** Removes folders, each after those that it holds, up to one that another process has put something into. */
export function removeEmpty(folders: readonly string[]): void {
  try {
    for (const folder of [...folders].reverse()) rmdirSync(folder);
  } catch {
    // It stays, with what it holds.
  }
}

/** As much as SQLite needs for the index of its write-ahead log. */
const INDEX_BYTES = 32 * 1024;

function tryOut(probe: string, directory: string): void {
  try {
    write(probe, INDEX_BYTES);
  } catch (error) {
    if (!isFull(error)) throw error;
    emptyReserve(directory);
    // The index of a store that was not closed is there.
    write(probe, existsSync(join(directory, 'windrow.db-shm')) ? 0 : INDEX_BYTES);
  }
}

function write(path: string, byteCount: number): void {
  try {
    writeFileSync(path, new Uint8Array(byteCount), { mode: 0o600 });
  } finally {
    rmSync(path, { force: true });
  }
}

function isFull(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function createFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

const MENDS: Readonly<Record<string, readonly [code: ErrorCode, mend: string]>> = {
  EACCES: ['file.denied', 'check its permissions and the user that windrow runs as'],
  EPERM: ['file.denied', 'check its permissions and the user that windrow runs as'],
  EROFS: ['file.denied', 'its file system is read-only; mount it for writing, or use another folder'],
  ENOSPC: ['file.full', 'free some space on the disk, or use another folder'],
  EDQUOT: ['file.full', 'the quota of this user is used up; free some space, or use another folder'],
  ENOTDIR: ['file.missing', 'it is not a folder; use another path'],
  EEXIST: ['file.missing', 'a file or a broken link has this name; use another path'],
};

/** Turns an error of the operating system into one of windrow; another is returned unchanged. */
function unusable(directory: string, place: string, error: unknown): unknown {
  const systemError = systemCode(error);
  if (systemError === undefined) return error;
  const [code, mend] = MENDS[systemError] ?? ['file.missing', 'it does not accept files; use a folder on a disk'];
  const problem = `cannot create files in ${place} (${systemError})`;
  return new WindrowError(code, `the data directory ${directory}: ${problem}: ${mend}`, { cause: error });
}
