import type { Waiting } from './opening.js';
import { openPostgresStorage, type PostgresOptions } from './postgres/open.js';
import { openSqliteStorage } from './sqlite/open.js';
import type { Storage, StorageClock } from './storage.js';

export { DuplicateKeyError, StaleClaimError, StorageError, StorageFullError, UnknownCommitError } from './errors.js';
export { OpeningStorage, type Waiting } from './opening.js';
export type { OnDatabaseTime } from './postgres/hints.js';
export { backupStore, restoreStore } from './sqlite/backup.js';
export { checkStore, type StoreReport } from './sqlite/check.js';
export { hasStore, openSqliteStorage, type SqliteOptions } from './sqlite/open.js';
export { stopUnfinished } from './sqlite/unfinished.js';

/** Where a store is: in a directory (SQLite), or at an address (`postgres://…`). */
type Place =
  | { readonly directory: string }
  | ({ readonly address: string } & Pick<PostgresOptions, 'waitMsMax' | 'isMaking' | 'onDatabaseTime'> &
      Partial<Waiting>);

/** Opens a store; waits for a database that cannot be reached now. */
export function openStorage(place: Place & { readonly clock: StorageClock }): Promise<Storage> {
  return 'address' in place ? openPostgresStorage(place) : openSqliteStorage(place);
}
