import { resolve } from 'node:path';
import { WindrowError } from '../../core/errors.js';
import type { Io } from '../terminal/io.js';
import type { Settings } from './settings.js';

/** Checks that no path of a run stands for two things. @throws WindrowError */
export function checkPaths(requestPath: string, settings: Settings, io: Io): void {
  const { inputs, output, report, plot, rejects } = settings;
  if (requestPath === '-' && inputs.includes('-')) {
    throw new WindrowError(
      'arguments',
      'run: expected standard input for the request or for --input, received it for both',
    );
  }
  const taken = new Map([...inputs, requestPath].map((path) => [placeOf(path, io), 'is read by this run']));
  const written: [flag: string, path: string | undefined][] = [
    ['--output', output],
    ['--report', report],
    ['--plot', plot],
    ['--rejects', rejects],
  ];
  for (const [flag, path] of written) {
    if (path === undefined) continue;
    if (path === '-' && flag !== '--output') {
      throw new WindrowError(
        'arguments',
        `${flag}: expected a file, received \`-\`: standard output is for the results`,
      );
    }
    if (path === '-') continue;
    const place = placeOf(path, io);
    const use = taken.get(place);
    if (use !== undefined) throw new WindrowError('arguments', `${flag}: ${path} ${use}; write to another file`);
    taken.set(place, `is written by ${flag} already`);
  }
}

// Where a path leads: two links to one file are one place.
function placeOf(path: string, io: Io): string {
  try {
    return io.fs.realpathSync(path);
  } catch {
    return resolve(path); // not there yet
  }
}
