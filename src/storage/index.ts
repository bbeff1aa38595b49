export { DuplicateKeyError, StaleClaimError, StorageError, StorageFullError } from './errors.js';
export { openSqliteStorage, type SqliteOptions } from './sqlite/open.js';
