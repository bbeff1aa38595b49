import {
  type Database,
  type FailureKind,
  type OpenDatabase,
  SqliteFailure,
  type SqlRow,
  type SqlValue,
} from './database.js';
import { StatementCache } from './statement-cache.js';

// What is used of node:sqlite, which the types of Node 20 do not know.
interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => NodeConnection;
}
interface NodeConnection {
  exec(sql: string): void;
  prepare(sql: string): NodeStatement;
  close(): void;
}
interface NodeStatement {
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  all(...values: SqlValue[]): SqlRow[];
}

/** The SQLite of Node itself, from 22.13 on; undefined where there is none. */
export function loadNodeSqlite(): OpenDatabase | undefined {
  const module = withoutWarnings(() => process.getBuiltinModule?.('node:sqlite'));
  // `as`: @types/node 20 does not know the module.
  return module && ((path) => new NodeDatabase(module as unknown as NodeSqlite, path));
}

// As it loads the module, Node 22 warns that it is experimental: a word for us, not for who uses the command.
function withoutWarnings<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

class NodeDatabase implements Database {
  readonly losesMark = false;
  readonly #connection: NodeConnection;
  readonly #statements: StatementCache<NodeStatement>;

  constructor(module: NodeSqlite, path: string) {
    this.#connection = asFailure(() => new module.DatabaseSync(path));
    this.#statements = new StatementCache(
      (sql) => this.#connection.prepare(sql),
      () => undefined, // The garbage collector finalizes them.
    );
  }

  exec(sql: string): void {
    asFailure(() => this.#connection.exec(sql));
  }

  run(sql: string, values: readonly SqlValue[]): number {
    return asFailure(() => Number(this.#statements.get(sql).run(...values).changes));
  }

  all(sql: string, values: readonly SqlValue[] = []): SqlRow[] {
    // Its rows have no prototype; those of the other adapter do.
    return asFailure(() => this.#statements.get(sql).all(...values)).map((row) => ({ ...row }));
  }

  close(): void {
    this.#statements.clear();
    asFailure(() => this.#connection.close());
  }
}

function asFailure<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw failureOf(error);
  }
}

// Primary result codes, the low byte of the extended ones.
const KINDS: Readonly<Record<number, FailureKind>> = {
  5: 'busy',
  6: 'busy',
  10: 'io',
  11: 'damaged',
  13: 'full',
  26: 'damaged',
};

function failureOf(error: unknown): SqliteFailure {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
  return new SqliteFailure(KINDS[code & 0xff] ?? 'other', message, { cause: error });
}
