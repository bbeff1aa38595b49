import { type Database, SqliteFailure } from './database.js';

/** A state of the store, held by the open transaction of a connection of its own. */
export interface Snapshot {
  readonly database: Database;
  /** How many use it. */
  count: number;
}

/** Beyond these a reader waits until another one ends. */
const CONNECTIONS_MAX = 8;

/**
 * The connections of readers. Those that come together see one state; who comes after a commit sees a later one, while
 * those before it go on with theirs. Nobody waits for a writer, nor a writer for them.
 */
export class Readers {
  readonly #open: () => Database;
  readonly #idle: Database[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #all = new Set<Database>();
  #current: Snapshot | undefined;

  /** @param open a connection that only reads. */
  constructor(open: () => Database) {
    this.#open = open;
  }

  /** The state that readers see now. Each who enters leaves. */
  async enter(): Promise<Snapshot> {
    while (this.#current === undefined && this.#idle.length === 0 && this.#all.size >= CONNECTIONS_MAX) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.hold();
  }

  /** As `enter`, at once: by a connection more where none is free. */
  hold(): Snapshot {
    this.#current ??= this.#begin();
    this.#current.count++;
    return this.#current;
  }

  leave(snapshot: Snapshot): void {
    snapshot.count--;
    if (snapshot.count > 0) return;
    if (this.#current === snapshot) this.#current = undefined;
    const { database } = snapshot;
    if (database.isInTransaction) database.exec('END');
    this.#idle.push(database);
    this.#waiting.shift()?.();
  }

  /** Who enters from now on sees what has been committed until now. */
  renew(): void {
    this.#current = undefined;
  }

  /** When nobody reads any more. */
  close(): void {
    for (const database of this.#all) database.close();
  }

  #connect(): Database {
    const database = this.#open();
    this.#all.add(database);
    return database;
  }

  #begin(): Snapshot {
    const database = this.#idle.pop() ?? this.#connect();
    try {
      database.exec('BEGIN');
      // What a transaction of SQLite sees is settled by its first statement.
      commitIn(database, 0);
    } catch (error) {
      if (database.isInTransaction) database.exec('ROLLBACK');
      this.#idle.push(database);
      throw error;
    }
    return { database, count: 0 };
  }
}

/** The number of the shard's last commit. */
export function commitIn(database: Database, shard: number): number {
  const [row] = database.all('SELECT "commit" FROM "windrow_shard" WHERE "shard" = ?', [shard]);
  if (row === undefined) throw new SqliteFailure('damaged', `the row of shard ${shard} is not there`);
  return Number(row.commit);
}
