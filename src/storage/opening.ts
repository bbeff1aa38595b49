import { StorageError } from './errors.js';
import type { Claim, CommitListener, Reader, Storage, Transaction, TransactionOptions } from './storage.js';

/** How to open a store that may have to be waited for. */
export interface Waiting {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called with the reason to wait, at the start and whenever it changes. */
  readonly onWait: (reason: Error) => void;
}

/**
 * A store that may be used before it is open: until then its jobs fail, with the reason why it is not open yet. So a
 * process can answer while its database cannot be reached.
 */
export class OpeningStorage implements Storage {
  /** Rejects if the store cannot be opened. */
  readonly opened: Promise<void>;
  readonly #ending = new AbortController();
  readonly #listeners = new Map<CommitListener, () => void>();
  #storage: Storage | undefined;
  #failure: Error = new StorageError('storage.failed', 'the store is not open yet');

  /** @param onWait see `Waiting`. */
  constructor(open: (waiting: Waiting) => Promise<Storage>, onWait: (reason: Error) => void) {
    this.opened = this.#open(open, onWait);
    // Jobs fail with the same reason, so it need not be awaited.
    this.opened.catch(() => {});
  }

  read<Result>(shard: number, work: (tx: Reader) => Promise<Result>): Promise<Result> {
    return this.#with((storage) => storage.read(shard, work));
  }

  lastCommit(shard: number): number | Promise<number> {
    return this.#with((storage) => storage.lastCommit(shard));
  }

  recentCommit(shard: number): number | Promise<number> {
    return this.#with((storage) => storage.recentCommit(shard));
  }

  transaction<Result>(
    shard: number,
    work: (tx: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result> {
    return this.#with((storage) => storage.transaction(shard, work, options));
  }

  transactionOver<Result>(
    shards: readonly number[],
    work: (txs: readonly Transaction[]) => Promise<Result>,
    options?: Omit<TransactionOptions, 'claim'>,
  ): Promise<Result> {
    return this.#with((storage) => storage.transactionOver(shards, work, options));
  }

  claim(shard: number, owner: string, leaseMs: number): Promise<Claim | undefined> {
    return this.#with((storage) => storage.claim(shard, owner, leaseMs));
  }

  release(claim: Claim): Promise<void> {
    return this.#with((storage) => storage.release(claim));
  }

  maintains(shard: number): Promise<boolean> {
    return this.#with((storage) => storage.maintains(shard));
  }

  onCommit(listener: CommitListener): () => void {
    this.#listeners.set(listener, this.#storage?.onCommit(listener) ?? (() => {}));
    return () => {
      this.#listeners.get(listener)?.();
      this.#listeners.delete(listener);
    };
  }

  check(): Promise<void> {
    return this.#with((storage) => storage.check());
  }

  async close(): Promise<void> {
    this.#ending.abort(new StorageError('storage.closed', 'the store was closed before it was open'));
    await this.opened.catch(() => {});
    await this.#storage?.close();
  }

  async #open(open: (waiting: Waiting) => Promise<Storage>, onWait: (reason: Error) => void): Promise<void> {
    const waiting: Waiting = {
      signal: this.#ending.signal,
      onWait: (reason) => {
        this.#failure = reason;
        onWait(reason);
      },
    };
    try {
      const storage = await open(waiting);
      for (const listener of this.#listeners.keys()) this.#listeners.set(listener, storage.onCommit(listener));
      this.#storage = storage;
    } catch (error) {
      if (error instanceof Error) this.#failure = error;
      throw error;
    }
  }

  #with<Result>(work: (storage: Storage) => Result): Result | Promise<never> {
    return this.#storage === undefined ? Promise.reject(this.#failure) : work(this.#storage);
  }
}
