import { SHARD_COUNT } from '../shard.js';
import type { CommitListener } from '../storage.js';
import type { Connection } from './connection.js';
import { LOCK_CLASS } from './schema.js';
import { pause, pauseOf } from './writer.js';

export interface HintParts {
  readonly connect: () => Promise<Connection>;
  /** What this process calls itself, so that it does not hear itself. */
  readonly name: string;
  /** The number of the lock that tells others that this process lives. */
  readonly session: number;
}

/** How often commits are looked for of which no notification came. */
const POLL_MS = 500;

/**
 * Tells of commits, this process's own and those of others: by LISTEN and NOTIFY, and by looking. Notifications are
 * sent apart from the commits they tell of, many at once, as PostgreSQL lets transactions that notify commit one by one
 * alone. Its connection holds the lock by which others see that a process that works on shards lives.
 */
export class Hints {
  readonly #parts: HintParts;
  readonly #listeners = new Set<CommitListener>();
  /** The last commit of each shard that was told of. */
  #told: number[] = [];
  readonly #unsent = new Map<number, number>();
  #isSending = false;
  #connection: Connection | undefined;
  #channel = '';
  #isClosed = false;
  #isWorking = false;
  #hasLock = false;
  #wake = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(parts: HintParts) {
    this.#parts = parts;
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    await this.#open();
    this.#running = this.#run();
  }

  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells of commits of this process, here and to the others. */
  committed(shard: number, lastCommit: number): void {
    this.#tell(shard, lastCommit, true);
    this.#unsent.set(shard, lastCommit);
    void this.#send();
  }

  /** Takes the lock of a process that works on shards, for as long as its connection lasts. */
  async showLife(): Promise<void> {
    this.#isWorking = true;
    if (this.#hasLock) return;
    this.#hasLock = true;
    // The connection before this may have it still; then that one tells that we live.
    await this.#connection!.exec(`SELECT pg_try_advisory_lock(${LOCK_CLASS}, ${this.#parts.session})`);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#running;
    this.#connection?.close();
  }

  async #run(): Promise<void> {
    for (let failureCount = 0; !this.#isClosed; ) {
      try {
        if (this.#connection?.failure !== undefined) await this.#open();
        await this.#look();
        failureCount = 0;
      } catch {
        // The store tells of it wherever it is used.
        failureCount++;
      }
      if (!this.#isClosed) await this.#rest(failureCount === 0 ? POLL_MS : pauseOf(failureCount));
    }
  }

  async #rest(ms: number): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([pause(ms), woken]);
  }

  async #open(): Promise<void> {
    this.#connection?.close();
    const connection = await this.#parts.connect();
    this.#connection = connection;
    const [, [found] = []] = await connection.exec(
      `SET synchronous_commit = off; SELECT to_regclass('windrow_shard')::oid AS "id"`,
    );
    // A database may hold several stores, each in a schema of its own.
    this.#channel = `windrow_${found?.id}`;
    connection.onNotification((payload) => this.#hear(payload));
    await connection.exec(`LISTEN ${this.#channel}`);
    this.#hasLock = false;
    if (this.#isWorking) await this.showLife();
    await this.#look();
  }

  async #look(): Promise<void> {
    const [rows = []] = await this.#connection!.exec('SELECT "shard", "commit" FROM "windrow_shard"');
    const isFirst = this.#told.length === 0;
    if (isFirst) this.#told = Array.from({ length: SHARD_COUNT }, () => 0);
    for (const { shard, commit } of rows) {
      if (isFirst) this.#told[Number(shard)] = Number(commit);
      else this.#tell(Number(shard), Number(commit), false);
    }
  }

  #hear(payload: string): void {
    const [sender, ...commits] = payload.split(' ');
    if (sender === this.#parts.name) return;
    for (const text of commits) {
      const [shard = 0, commit = 0] = text.split(':').map(Number);
      this.#tell(shard, commit, false);
    }
  }

  #tell(shard: number, lastCommit: number, isOwn: boolean): void {
    const first = (this.#told[shard] ?? 0) + 1;
    if (first > lastCommit) return;
    this.#told[shard] = lastCommit;
    for (let commit = first; commit <= lastCommit; commit++) {
      // In turns of their own: what a listener throws is no failure of the commit.
      for (const listener of this.#listeners) {
        queueMicrotask(() => this.#listeners.has(listener) && listener(shard, commit, isOwn));
      }
    }
  }

  /** What comes while a notification is on its way goes with the next one. */
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
