import { WindrowError } from '../core/errors.js';
import { systemCode } from '../storage/system-code.js';
import { fileFailure } from './failure.js';
import type { Io } from './terminal/io.js';

/**
 * The folder of this user's demo data, which is made if it is missing. The folder for temporary files may be shared by
 * all users of a machine: somebody else could have put a folder of their own, or a link, under our name.
 *
 * @throws WindrowError if it is not a folder that belongs to this user alone.
 */
export function demoFolder({ fs, tempFolder }: Pick<Io, 'fs' | 'tempFolder'>): string {
  // Windows has no such number, and a folder for temporary files for each user.
  const userId = process.getuid?.();
  const path = `${tempFolder}/windrow-demo${userId === undefined ? '' : `-${userId}`}`;
  try {
    fs.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw fileFailure(error, `the folder ${path}`, 'write');
  }
  const found = fs.lstatSync(path);
  const isPrivate = userId === undefined || (found.uid === userId && (found.mode & 0o077) === 0);
  if (found.isDirectory() && isPrivate) return path;
  const expected = 'a folder that belongs to this user and is closed to others';
  const received = found.isDirectory() ? 'one of another user, or open to others' : 'a link or a file';
  const mend = 'remove it, or name another folder by --data-dir';
  throw new WindrowError(
    'file.denied',
    `${path}, for the data of --demo: expected ${expected}, received ${received}; ${mend}`,
  );
}
