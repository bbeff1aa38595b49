import { StorageError } from '../../storage/errors.js';
import type { Storage } from '../../storage/storage.js';
import { type Administration, createAdministration } from '../identity/administration.js';
import type { AdministrationContext } from '../identity/names.js';
import { ControlGoneError, remoteAdministration } from './client.js';
import { readControlFile } from './control-file.js';

export interface OpenOptions extends Omit<AdministrationContext, 'storage'> {
  readonly directory: string;
  openStorage(): Promise<Storage>;
  /** Resolves after so many milliseconds. */
  wait(ms: number): Promise<void>;
}

// Another command holds the store for a moment, a service that starts has no control file yet.
const TRY_INTERVAL_MS = 100;
const TRY_COUNT = 100;

/**
 * Does work with clients, users and collections: on the store itself when nobody holds it, else through the process
 * that does.
 *
 * @throws WindrowError `storage.locked` when somebody holds it who cannot be asked.
 */
export async function administer<Result>(
  options: OpenOptions,
  work: (administration: Administration) => Promise<Result>,
): Promise<Result> {
  for (let tryCount = 1; ; tryCount++) {
    const storage = await openUnlessLocked(options);
    if (!(storage instanceof StorageError)) {
      try {
        return await work(createAdministration({ ...options, storage }));
      } finally {
        await storage.close();
      }
    }
    const control = readControlFile(options.directory);
    try {
      if (control !== undefined) return await work(remoteAdministration(control));
    } catch (error) {
      // The file of a process that ended without a word, or one that ends right now.
      if (!(error instanceof ControlGoneError)) throw error;
    }
    if (tryCount === TRY_COUNT) throw storage;
    await options.wait(TRY_INTERVAL_MS);
  }
}

async function openUnlessLocked({ openStorage }: OpenOptions): Promise<Storage | StorageError> {
  try {
    return await openStorage();
  } catch (error) {
    if (error instanceof StorageError && error.code === 'storage.locked') return error;
    throw error;
  }
}
