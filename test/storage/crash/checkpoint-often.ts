import { loadSqlite, type OpenDatabase } from '../../../src/storage/sqlite/database.js';

/**
 * SQLite, except that its log is copied into the database every `pageCount` pages, in the middle of the work, to test
 * power failures during that copy.
 */
export async function checkpointOften(pageCount: number): Promise<OpenDatabase> {
  const open = await loadSqlite();
  const setting = `wal_autocheckpoint = ${pageCount}`;
  return (path) => {
    const database = open(path);
    return {
      get isInTransaction() {
        return database.isInTransaction;
      },
      exec: (sql) => database.exec(sql),
      run: (sql, values) => database.run(sql, values),
      all: (sql, values) => database.all(sql.replace(/wal_autocheckpoint = \d+/, setting), values),
      close: () => database.close(),
    };
  };
}
