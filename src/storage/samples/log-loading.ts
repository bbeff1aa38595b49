import { nextTurn } from '../next-turn.js';
import type { Reader, Storage } from '../storage.js';
import { type Expiries, haveLate } from './compaction/retention.js';
import type { PendingLogs } from './pending.js';
import { readProgress } from './progress.js';

/** Readers of a call of `loadSome`. */
const READERS_PER_LOAD = 20;

/**
 * Loads the log into memory by short readers: writers of the embedded store wait for each reader, and would wait long
 * for one that reads all of the log. Background work keeps a shard's log loaded while its samples are read.
 */
export class LogLoading {
  readonly #logs: PendingLogs;
  /** By shard: the loading before it was read. */
  readonly #loading = new Map<number, Promise<void>>();
  /** Shards that were read since `wasRead` was asked. */
  readonly #read = new Set<number>();

  constructor(logs: PendingLogs) {
    this.#logs = logs;
  }

  /** To be called before samples are read. Resolves at once as long as background work keeps the log loaded. */
  load(storage: Storage, shard: number): Promise<void> {
    let loading = this.#loading.get(shard);
    if (loading === undefined) {
      loading = this.loadAll(storage, shard);
      this.#loading.set(shard, loading);
      loading.catch(() => this.#loading.delete(shard));
    }
    this.#read.add(shard);
    return loading;
  }

  /** To be called when samples are read. */
  noteRead(shard: number): void {
    this.#read.add(shard);
  }

  /** Whether samples of a shard were read since the last call; if not, the next reader loads the log again. */
  wasRead(shard: number): boolean {
    const wasRead = this.#read.delete(shard);
    if (!wasRead) this.#loading.delete(shard);
    return wasRead;
  }

  /** Loads up to where the log ends now: writers may bring more as fast as it is loaded. */
  async loadAll(storage: Storage, shard: number, mayGoOn: () => boolean = () => true): Promise<void> {
    const untilCommit = await storage.lastCommit(shard);
    while (mayGoOn() && (await this.loadSome(storage, shard, untilCommit)));
  }

  /** @returns whether there are more rows up to `untilCommit`. */
  async loadSome(storage: Storage, shard: number, untilCommit: number): Promise<boolean> {
    for (let count = 0; count < READERS_PER_LOAD; count++) {
      if (!(await storage.read(shard, (tx) => this.loadNext(tx, { untilCommit })))) return false;
      // Each reader has a turn of its own, or requests would wait for all of them.
      await nextTurn();
    }
    return true;
  }

  /** @returns whether there are more rows, up to a commit if one is given. */
  async loadNext(tx: Reader, options: { untilCommit?: number; rowCountMax?: number } = {}): Promise<boolean> {
    return this.#logs.loadNext(tx, await readProgress(tx), options);
  }

  /** Drops the rows that are in segments from memory, as nobody may read for long. */
  async dropCompacted(tx: Reader): Promise<void> {
    await this.#logs.dropCompacted(tx, await readProgress(tx));
  }

  /** Whether the log has rows up to `untilCommit` that are not in segments. */
  async hasRows(tx: Reader, untilCommit: number): Promise<boolean> {
    return this.#logs.hasRows(tx, await readProgress(tx), untilCommit);
  }

  /** Whether the log has samples of an organisation that should have been deleted by now. */
  async hasLate(tx: Reader, organisation: string, expiries: Expiries): Promise<boolean> {
    const progress = await readProgress(tx);
    const log = await this.#logs.open(tx, progress);
    return haveLate(tx, log.rowsWithin(progress.compactedCommit, Infinity), organisation, expiries);
  }
}
