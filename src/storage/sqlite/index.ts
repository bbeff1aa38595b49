export { openSqliteStorage, type SqliteOptions } from './open.js';
