import type { CommitListener } from './storage.js';

/**
 * After a process was cut off from the database there may be millions of commits. To be told is only a hint, so of that
 * many the last will do.
 */
export const COMMITS_TOLD_MAX = 1000;

/** Who is told of commits. An error of a listener is thrown by itself; it concerns neither commit nor others. */
export class CommitListeners {
  readonly #listeners = new Set<CommitListener>();

  get areNone(): boolean {
    return this.#listeners.size === 0;
  }

  add(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells of the commits `fromCommit` to `lastCommit` of a shard soon, or of the last of very many. */
  tell(shard: number, fromCommit: number, lastCommit: number, isOwn: (commit: number) => boolean): void {
    if (this.areNone || fromCommit > lastCommit) return;
    const told: Parameters<CommitListener>[] = [];
    for (let commit = Math.max(fromCommit, lastCommit - COMMITS_TOLD_MAX + 1); commit <= lastCommit; commit++) {
      told.push([shard, commit, isOwn(commit)]);
    }
    queueMicrotask(() => {
      for (const one of told) this.#tellAll(one);
    });
  }

  #tellAll(of: Parameters<CommitListener>): void {
    for (const listener of this.#listeners) {
      try {
        listener(...of);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
