import { isShard } from '../shard.js';
import type { Announcer } from './announcer.js';
import type { Connection } from './connection.js';
import { PostgresFailure } from './failure.js';
import { LOCK_CLASS } from './schema.js';
import { pause, pauseOf } from './writer.js';

export interface HintParts {
  readonly announcer: Announcer;
  readonly connect: () => Promise<Connection>;
  /** This process's name, by which it ignores its own notifications. */
  readonly name: string;
  /** The number of the lock that shows others that this process is alive. */
  readonly session: number;
  readonly onDatabaseTime?: OnDatabaseTime | undefined;
}

/**
 * Told twice a second what time it is in the database, in epoch milliseconds.
 *
 * @param roundTripMs how long the answer took: the time is at most so old.
 */
export type OnDatabaseTime = (databaseMs: number, roundTripMs: number) => void;

const BACKEND = 'SELECT pg_backend_pid() AS "id"';

/** How often to poll for commits without a notification. */
const POLL_MS = 500;
/** How long a poll that is under way may take when the store is closed. */
const CLOSE_MS_MAX = 1000;

/**
 * Finds commits of other processes, by LISTEN and by polling, and notifies others of this process's. Notifications are
 * sent apart from their commits, many at once, as PostgreSQL commits transactions that notify only one at a time. Its
 * connection holds the lock that shows that a process that works on shards is alive.
 */
export class Hints {
  readonly #parts: HintParts;
  /** By shard: the last commit that others are to know. */
  readonly #unsent = new Map<number, number>();
  #isSending = false;
  #connection: Connection | undefined;
  /** The number of the table of shards: a database may hold several stores, each in its own schema. */
  #storeId = 0;
  #isClosed = false;
  #isWorking = false;
  #hasLock = false;
  /** Whether to poll again at once, after the poll that may be under way. */
  #isWoken = false;
  #endSleep = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(parts: HintParts) {
    this.#parts = parts;
  }

  /**
   * Resolves once it listens.
   *
   * @throws PostgresFailure 'pooled' if its connection and another one, both open, are in one session: a pooler that
   * gives sessions to others between transactions loses notifications, and keeps the lock of a process that has died.
   */
  async start(other: Connection): Promise<void> {
    await this.#open();
    // One after the other: for two at once, a pooler would open two sessions.
    const [own] = await this.#connection!.exec(BACKEND);
    const [theirs] = await other.exec(BACKEND);
    if (own![0]!.id === theirs![0]!.id) throw new PostgresFailure('pooled', 'two connections have one session');
    this.#running = this.#run();
  }

  /** Notifies other processes of this one's commits, up to `lastCommit`. */
  notify(shard: number, lastCommit: number): void {
    this.#unsent.set(shard, Math.max(lastCommit, this.#unsent.get(shard) ?? 0));
    void this.#send();
  }

  /**
   * Takes the lock of a process that works on shards, held for as long as the connection lasts. It is a shared one: a
   * new connection takes it while the server still takes the one before, lost, for alive. The second one is for
   * processes of the version before, which look for it; see `live`.
   */
  async holdLiveLock(): Promise<void> {
    this.#isWorking = true;
    if (this.#hasLock) return;
    // `| 0`: PostgreSQL numbers tables up to 2^32, and takes a signed class.
    const { session } = this.#parts;
    await this.#connection!.exec(
      `SELECT pg_advisory_lock_shared(${this.#storeId | 0}, ${session}),
        pg_advisory_lock_shared(${LOCK_CLASS}, ${session})`,
    );
    this.#hasLock = true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endSleep();
    // A connection whose other end has gone without a word answers no poll for a quarter of a minute.
    const timer = setTimeout(() => this.#connection?.cut(), CLOSE_MS_MAX);
    await this.#running;
    clearTimeout(timer);
    this.#connection?.close();
  }

  async #run(): Promise<void> {
    for (let failureCount = 0; !this.#isClosed; ) {
      this.#isWoken = false;
      try {
        if (this.#connection?.failure !== undefined) await this.#open();
        if (this.#isWorking) await this.holdLiveLock();
        await this.#poll();
        failureCount = 0;
      } catch {
        // Users of the store get the error themselves.
        failureCount++;
      }
      if (!this.#isClosed) await this.#sleep(failureCount === 0 ? POLL_MS : pauseOf(failureCount));
    }
  }

  get #channel(): string {
    return `windrow_${this.#storeId}`;
  }

  #wake(): void {
    this.#isWoken = true;
    this.#endSleep();
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isWoken) return;
    const woken = new Promise<void>((resolve) => {
      this.#endSleep = resolve;
    });
    await Promise.race([pause(ms), woken]);
  }

  async #open(): Promise<void> {
    this.#connection?.close();
    const connection = await this.#parts.connect();
    this.#connection = connection;
    if (this.#isClosed) connection.close();
    const [, [found] = []] = await connection.exec(
      `SET synchronous_commit = off; SELECT to_regclass('windrow_shard')::oid AS "id"`,
    );
    this.#storeId = Number(found?.id);
    connection.onNotification((payload) => this.#receive(payload));
    await connection.exec(`LISTEN ${this.#channel}`);
    this.#hasLock = false;
    if (this.#isWorking) await this.holdLiveLock();
    await this.#poll();
  }

  async #poll(): Promise<void> {
    const [sentMs, sentDateMs] = [performance.now(), Date.now()];
    const [rows = [], [now] = []] = await this.#connection!.exec(
      `SELECT "shard", "commit" FROM "windrow_shard"; SELECT extract(epoch FROM clock_timestamp()) * 1000 AS "ms"`,
    );
    // While the machine sleeps, only one of its clocks goes on.
    const roundTripMs = Math.max(performance.now() - sentMs, Date.now() - sentDateMs);
    this.#parts.onDatabaseTime?.(Number(now?.ms), roundTripMs);
    for (const row of rows) {
      const [shard, commit] = [Number(row.shard), Number(row.commit)];
      this.#parts.announcer.startAfter(shard, commit);
      this.#parts.announcer.reached(shard, commit);
    }
  }

  #receive(payload: string): void {
    const [sender, ...commits] = payload.split(' ');
    if (sender === this.#parts.name) return;
    for (const text of commits) {
      const [shard, commit] = text.split(':').map(Number);
      // Any role may notify, and a later version may say something else.
      if (!isShard(shard) || !Number.isSafeInteger(commit)) continue;
      if (!this.#parts.announcer.heardOf(shard, commit!)) this.#wake();
    }
  }

  /** Commits during a notification go with the next one. */
  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#unsent.size > 0) {
      const commits = [...this.#unsent].map(([shard, commit]) => `${shard}:${commit}`);
      this.#unsent.clear();
      const payload = [this.#parts.name, ...commits].join(' ');
      await this.#connection?.exec(`NOTIFY ${this.#channel}, '${payload}'`).catch(() => {});
    }
    this.#isSending = false;
  }
}
