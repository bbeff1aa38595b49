import { openPostgresStorage } from './postgres/open.js';
import { openSqliteStorage } from './sqlite/open.js';
import type { Storage, StorageClock } from './storage.js';

/** Opens the store in a directory (SQLite), or at an address (`postgres://…`). */
export function openStorage(
  place: { readonly clock: StorageClock } & ({ readonly directory: string } | { readonly address: string }),
): Promise<Storage> {
  return 'address' in place ? openPostgresStorage(place) : openSqliteStorage(place);
}
