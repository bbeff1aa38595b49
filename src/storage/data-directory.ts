import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type ErrorCode, WindrowError } from '../core/errors.js';

/**
 * Creates the data directory if it is missing, for its owner only, and checks that files can be created in it. It
 * creates one folder at a time: below one that refuses them, such as /proc, Node's `recursive` never returns.
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
    writeFileSync(probe, '', { mode: 0o600 });
    rmSync(probe);
    return missing;
  } catch (error) {
    throw isSystemError(error) ? unusable(directory, place, error) : error;
  }
}

function createFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

interface SystemError extends Error {
  readonly code: string;
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

const MENDS: Readonly<Record<string, readonly [code: ErrorCode, mend: string]>> = {
  EACCES: ['file.denied', 'check its permissions and the user that windrow runs as'],
  EPERM: ['file.denied', 'check its permissions and the user that windrow runs as'],
  EROFS: ['file.denied', 'its file system is read-only; mount it for writing, or use another folder'],
  ENOSPC: ['file.full', 'free some space on the disk, or use another folder'],
  EDQUOT: ['file.full', 'free some space on the disk, or use another folder'],
  ENOTDIR: ['file.missing', 'it is not a folder; use another path'],
  EEXIST: ['file.missing', 'a file or a broken link has this name; use another path'],
};

function unusable(directory: string, place: string, error: SystemError): WindrowError {
  const [code, mend] = MENDS[error.code] ?? ['file.missing', 'it does not accept files; use a folder on a disk'];
  const problem = `cannot create files in ${place} (${error.code})`;
  return new WindrowError(code, `the data directory ${directory}: ${problem}: ${mend}`, { cause: error });
}
