export { DuplicateKeyError, StaleClaimError, StorageError, StorageFullError } from './errors.js';
export { openStorage } from './open.js';
export { backupStore, restoreStore } from './sqlite/backup.js';
export { checkStore, type StoreReport } from './sqlite/check.js';
export { openSqliteStorage, type SqliteOptions } from './sqlite/open.js';
