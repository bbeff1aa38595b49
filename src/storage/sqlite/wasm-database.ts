import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageError } from '../errors.js';
import {
  type Database,
  type FailureKind,
  type OpenDatabase,
  SqliteFailure,
  type SqlRow,
  type SqlValue,
} from './database.js';
import { hasRoomFor } from './disk-room.js';
import { prepareJournal, rollBackJournal } from './journal.js';
import { StatementCache } from './statement-cache.js';

// What is used of node-sqlite3-wasm 0.8.60.
interface WasmModule {
  readonly Database: new (path: string) => WasmConnection;
}
interface WasmConnection {
  exec(sql: string): void;
  prepare(sql: string): WasmStatement;
  close(): void;
}
interface WasmStatement {
  run(values: readonly SqlValue[]): { readonly changes: number };
  all(values: readonly SqlValue[]): SqlRow[];
  finalize(): void;
}

/** Loads SQLite as WebAssembly, for versions of Node that have none of their own. */
export async function loadWasmSqlite(): Promise<OpenDatabase> {
  // `as`: the package declares itself as an ES module, but is CommonJS: what it exports is the default.
  const { default: module } = (await importPackage()) as unknown as { readonly default: WasmModule };
  return (path) => {
    // Its lock is a folder, which a process that dies leaves behind. That there is no other process, the lock of the
    // directory tells.
    rmSync(`${path}.lock`, { recursive: true, force: true });
    rollBackJournal(path);
    prepareJournal(path);
    return new WasmDatabase(module, path);
  };
}

async function importPackage(): Promise<unknown> {
  try {
    return await import('node-sqlite3-wasm');
  } catch (error) {
    throw new StorageError(
      'storage.missing',
      `Node ${process.versions.node} has no SQLite of its own, and the package node-sqlite3-wasm can not be loaded: ` +
        'take Node 22.13 or newer, or npm install node-sqlite3-wasm',
      { cause: error },
    );
  }
}

class WasmDatabase implements Database {
  readonly losesMark = true;
  readonly #path: string;
  readonly #connection: WasmConnection;
  readonly #statements: StatementCache<WasmStatement>;
  /** Bytes bound since the last statement without parameters (BEGIN, COMMIT): about what a transaction writes. */
  #boundBytes = 0;

  constructor(module: WasmModule, path: string) {
    this.#path = path;
    this.#connection = this.#asFailure(() => new module.Database(path));
    this.#statements = new StatementCache((sql) => this.#connection.prepare(sql), finalize);
  }

  exec(sql: string): void {
    this.#asFailure(() => this.#connection.exec(sql));
    if (sql === 'COMMIT') this.#boundBytes = 0;
  }

  run(sql: string, values: readonly SqlValue[]): number {
    for (const value of values) {
      if (value instanceof Uint8Array || typeof value === 'string') this.#boundBytes += value.length;
    }
    return this.#with(sql, (statement) => statement.run(values).changes);
  }

  all(sql: string, values: readonly SqlValue[] = []): SqlRow[] {
    return this.#with(sql, (statement) => statement.all(values));
  }

  close(): void {
    this.#statements.clear();
    this.#asFailure(() => this.#connection.close());
  }

  #with<Result>(sql: string, use: (statement: WasmStatement) => Result): Result {
    return this.#asFailure(() => {
      const statement = this.#statements.get(sql);
      try {
        return use(statement);
      } catch (error) {
        // A statement that failed would tell of its old failure when it is next used.
        this.#statements.drop(sql);
        throw error;
      }
    });
  }

  #asFailure<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const kind = KINDS.find(([pattern]) => pattern.test(message))?.[1] ?? 'other';
      const isFull = kind === 'io' && !hasRoomFor(dirname(this.#path), 2 * this.#boundBytes);
      throw new SqliteFailure(isFull ? 'full' : kind, message, { cause: error });
    }
  }
}

function finalize(statement: WasmStatement): void {
  try {
    statement.finalize();
  } catch {
    // Finalizing tells once more why the statement's last run failed; it is freed nevertheless.
  }
}

// The package gives SQLite's message and not its code; the messages are those of sqlite3ErrStr. That the disk is
// full it takes for any other failure of writing.
const KINDS: readonly (readonly [RegExp, FailureKind])[] = [
  [/database or disk is full/, 'full'],
  [/disk I\/O error|unable to open database file/, 'io'],
  [/database (table )?is locked/, 'busy'],
  [/malformed|not a database/, 'damaged'],
];
