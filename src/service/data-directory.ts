import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type ErrorCode, WindrowError } from '../core/errors.js';

/**
 * Makes the folder of a store where there is none, for its owner alone, and makes sure that files can be made in it.
 * Folder by folder: below one that takes none, such as /proc, Node's `recursive` tries without end.
 *
 * @throws WindrowError that names what is in the way.
 */
export function prepareDataDirectory(directory: string): void {
  const path = resolve(directory);
  const missing: string[] = [];
  const probe = join(path, `windrow.${process.pid}.new`);
  let place = path;
  try {
    for (; !existsSync(place); place = dirname(place)) missing.unshift(place);
    for (const folder of missing) {
      makeFolder(folder);
      place = folder;
    }
    writeFileSync(probe, '', { mode: 0o600 });
    rmSync(probe);
  } catch (error) {
    throw isOfSystem(error) ? unusable(directory, place, error) : error;
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}

interface SystemError extends Error {
  readonly code: string;
}

function isOfSystem(error: unknown): error is SystemError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

const MENDS: Readonly<Record<string, readonly [code: ErrorCode, mend: string]>> = {
  EACCES: ['file.denied', 'check its permissions, and the user that this runs as'],
  EPERM: ['file.denied', 'check its permissions, and the user that this runs as'],
  EROFS: ['file.denied', 'it may only be read; give a folder elsewhere'],
  ENOSPC: ['file.full', 'free some room on the disk, or give a folder elsewhere'],
  EDQUOT: ['file.full', 'free some room on the disk, or give a folder elsewhere'],
  ENOTDIR: ['file.missing', 'it is no folder; give a folder elsewhere'],
  EEXIST: ['file.missing', 'something that is no folder stands there; give a folder elsewhere'],
};

function unusable(directory: string, place: string, error: SystemError): WindrowError {
  const [code, mend] = MENDS[error.code] ?? ['file.missing', 'it takes no files; give a folder on a disk'];
  const problem = `nothing can be made in ${place} (${error.code})`;
  return new WindrowError(code, `the data directory ${directory}: ${problem}: ${mend}`, { cause: error });
}
