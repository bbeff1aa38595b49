import { resolve } from 'node:path';
import { WindrowError } from '../../core/errors.js';
import type { Io } from '../terminal/io.js';

/** Paths by the argument or the option that names them. */
export type NamedPaths = readonly (readonly [name: string, paths: readonly string[]])[];

/** Checks that standard input, which ends once it is read, is read for one purpose. @throws WindrowError */
export function checkStandardInput(command: string, read: NamedPaths): void {
  const [first, second] = read.filter(([, paths]) => paths.includes('-')).map(([name]) => name);
  if (second === undefined) return;
  const expected = `expected standard input for ${first} or for ${second}, received it for both`;
  throw new WindrowError('arguments', `${command}: ${expected}`);
}

/** Checks that nothing is written over a file that is read, or twice to one file. @throws WindrowError */
export function checkWritten(read: readonly string[], written: NamedPaths, io: Io): void {
  const taken = new Map(read.map((path) => [fileOf(path, io), 'is read by this run']));
  for (const [flag, paths] of written) {
    for (const path of paths) {
      if (path === '-') continue;
      const place = fileOf(path, io);
      const use = taken.get(place);
      if (use !== undefined) throw new WindrowError('arguments', `${flag}: ${path} ${use}; write to another file`);
      taken.set(place, `is written by ${flag} already`);
    }
  }
}

// Resolves a path: two links to one file are the same.
function fileOf(path: string, io: Io): string {
  try {
    return io.fs.realpathSync(path);
  } catch {
    return resolve(path); // not there yet
  }
}
