import { basename, dirname } from 'node:path';
import { WindrowError } from '../../core/errors.js';
import { didYouMean } from '../../core/suggest.js';
import { fileFailure } from '../failure.js';
import type { Io } from '../terminal/io.js';

/** Checks that a path can be read from, and gives its size in bytes. @throws WindrowError */
export function existingFile(path: string, io: Io): number {
  let stats: ReturnType<Io['fs']['statSync']>;
  try {
    stats = io.fs.statSync(path);
  } catch (error) {
    const failure = fileFailure(error, path, 'read');
    if (!(failure instanceof WindrowError) || failure.code !== 'file.missing') throw failure;
    const hint = didYouMean(basename(path), namesBeside(path, io));
    throw new WindrowError('file.missing', `${failure.message}${hint === undefined ? '' : `; ${hint}`}`, {
      cause: error,
    });
  }
  if (stats?.isDirectory()) throw new WindrowError('file.directory', `${path}: is a folder, expected a file`);
  return stats?.size ?? 0;
}

function namesBeside(path: string, io: Io): string[] {
  try {
    return io.fs.readdirSync(dirname(path));
  } catch {
    return []; // the folder is missing too
  }
}
