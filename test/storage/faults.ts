import {
  type Database,
  type FailureKind,
  loadSqlite,
  type OpenDatabase,
  SqliteFailure,
} from '../../src/storage/sqlite/database.js';

export const openDatabase = await loadSqlite();

/** SQLite with hooks: `before` runs before each statement and may throw. */
export interface Held {
  readonly open: OpenDatabase;
  before: (sql: string) => void;
  /** Runs after a statement took effect. */
  after: (sql: string) => void;
  /** The connection to the store that writes, without the hooks: it is opened first. */
  database: Database | undefined;
}

export function hold(open: OpenDatabase = openDatabase): Held {
  let storeCount = 0;
  const held: Held = {
    before: () => {},
    after: () => {},
    database: undefined,
    open: (path) => {
      const database = open(path);
      const isOfStore = path.endsWith('.db');
      if (isOfStore && storeCount++ === 0) held.database = database;
      const around = <Result>(sql: string, run: () => Result): Result => {
        held.before(sql);
        const result = run();
        held.after(sql);
        return result;
      };
      return {
        get isInTransaction() {
          return database.isInTransaction;
        },
        exec: (sql) => around(sql, () => database.exec(sql)),
        run: (sql, values) => around(sql, () => database.run(sql, values)),
        all: (sql, values) => around(sql, () => database.all(sql, values)),
        close: () => {
          if (isOfStore) storeCount--;
          database.close();
        },
      };
    },
  };
  return held;
}

/** Throws at statements that start with `start`, `count` times. */
export function failAt(start: string, kind: FailureKind, count = 1): (sql: string) => void {
  let left = count;
  return (sql) => {
    if (!sql.startsWith(start) || left === 0) return;
    left--;
    throw new SqliteFailure(kind, `simulated: ${kind}`);
  };
}
