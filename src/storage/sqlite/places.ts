import { statSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../errors.js';
import type { StorageClock } from '../storage.js';

/** How often to look where the files are: for each commit, it would cost a sixth of small requests. */
const LOOK_MS = 200;

/**
 * Remembers which files these are. The function that it returns tells why nothing may be written, soon after somebody
 * has moved, replaced or deleted one: what is written to it then is lost with the process, or found by nobody.
 */
export function watchPlaces(
  directory: string,
  names: readonly string[],
  clock: StorageClock,
): () => StorageError | undefined {
  const files = names.map((name) => ({ name, path: join(directory, name) }));
  const known = files.map((file) => ({ ...file, identity: identityOf(file.path) }));
  const find = (): StorageError | undefined => {
    const misplaced = known.find(({ path, identity }) => identityOf(path) !== identity);
    if (misplaced === undefined) return undefined;
    const problem = `${misplaced.name} was moved, replaced or deleted while this process had it open`;
    const mend =
      'it refuses writes, as they would be lost: put the files back, or restart it over those that are there';
    return new StorageError('storage.failed', `the store in ${directory}: ${problem}: ${mend}`);
  };
  let found: StorageError | undefined;
  let lookedMs = clock.monotonicMs();
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lookedMs < LOOK_MS) return found;
    lookedMs = nowMs;
    found = find();
    return found;
  };
}

/** Tells files apart; undefined if there is none. */
export function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    // Most likely it is gone. A folder that may not be entered any more leads to no store either.
    return undefined;
  }
}
