import { openPostgresStorage } from './postgres/open.js';
import { openSqliteStorage } from './sqlite/open.js';
import type { Storage, StorageClock } from './storage.js';

export { DuplicateKeyError, StaleClaimError, StorageError, StorageFullError, UnknownCommitError } from './errors.js';
export { backupStore, restoreStore } from './sqlite/backup.js';
export { checkStore, type StoreReport } from './sqlite/check.js';
export { openSqliteStorage, type SqliteOptions } from './sqlite/open.js';

/** Opens the store in a directory (SQLite), or at an address (`postgres://…`). */
export function openStorage(
  place: { readonly clock: StorageClock } & ({ readonly directory: string } | { readonly address: string }),
): Promise<Storage> {
  return 'address' in place ? openPostgresStorage(place) : openSqliteStorage(place);
}
