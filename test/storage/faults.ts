import {
  type Database,
  type FailureKind,
  type OpenDatabase,
  SqliteFailure,
} from '../../src/storage/sqlite/database.js';
import { type OpenLogFile, openLogFile } from '../../src/storage/sqlite/log-file.js';

/** A way to SQLite at which tests stand: `before` each statement, free to throw. */
export interface Held {
  readonly open: OpenDatabase;
  before: (sql: string) => void;
  /** After a statement took effect. */
  after: (sql: string) => void;
  /** The connection opened last, as it is without the hold. */
  database: Database | undefined;
}

export function hold(open: OpenDatabase): Held {
  const held: Held = {
    before: () => {},
    after: () => {},
    database: undefined,
    open: (path) => {
      const database = open(path);
      held.database = database;
      const around = <Result>(sql: string, run: () => Result): Result => {
        held.before(sql);
        const result = run();
        held.after(sql);
        return result;
      };
      return {
        losesMark: database.losesMark,
        exec: (sql) => around(sql, () => database.exec(sql)),
        run: (sql, values) => around(sql, () => database.run(sql, values)),
        all: (sql, values) => around(sql, () => database.all(sql, values)),
        close: () => database.close(),
      };
    },
  };
  return held;
}

/** The commit log, at which tests stand: `before` each call, free to throw. */
export interface HeldLog {
  readonly open: OpenLogFile;
  before: (call: 'write' | 'sync' | 'synced' | 'truncate') => void;
}

export function holdLog(open: OpenLogFile = openLogFile): HeldLog {
  const held: HeldLog = {
    before: () => {},
    open: (path) => {
      const file = open(path);
      return {
        read: () => file.read(),
        write: (bytes, at) => {
          held.before('write');
          file.write(bytes, at);
        },
        sync: async () => {
          held.before('sync');
          await file.sync();
          held.before('synced');
        },
        truncate: () => {
          held.before('truncate');
          file.truncate();
        },
        close: () => file.close(),
      };
    },
  };
  return held;
}

/** Throws at the statements that begin so, `count` times. */
export function failAt(start: string, kind: FailureKind, count = 1): (sql: string) => void {
  let left = count;
  return (sql) => {
    if (!sql.startsWith(start) || left === 0) return;
    left--;
    throw new SqliteFailure(kind, `simulated: ${kind}`);
  };
}
