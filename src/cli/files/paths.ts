import { dirname, resolve } from 'node:path';
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
  const taken = new Map(read.map((path) => [resolve(placeOf(path, io)), 'is read by this run']));
  for (const [flag, paths] of written) {
    for (const path of paths) {
      if (path === '-') continue;
      const place = resolve(placeOf(path, io));
      const use = taken.get(place);
      if (use !== undefined) throw new WindrowError('arguments', `${flag}: ${path} ${use}; write to another file`);
      taken.set(place, `is written by ${flag} already`);
    }
  }
}

/** As many links in sequence as Linux follows. */
const LINKS_MAX = 40;

/** Where a path leads: two links to one file are the same, also if that file is not there yet. */
export function placeOf(path: string, io: Io): string {
  let place = path;
  for (let count = 0; count < LINKS_MAX; count++) {
    try {
      return io.fs.realpathSync(place);
    } catch {
      if (!isLink(place, io)) return place; // not there yet
      place = resolve(io.fs.realpathSync(dirname(place)), io.fs.readlinkSync(place));
    }
  }
  return path; // a circle
}

/** Whether there is a link of this name, wherever it leads. */
export function isLink(path: string, io: Io): boolean {
  try {
    return io.fs.lstatSync(path).isSymbolicLink();
  } catch {
    return false; // not there, or where one may not look: whoever opens it says so
  }
}
