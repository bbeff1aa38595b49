import { COMMITS_TOLD_MAX, CommitListeners } from '../listeners.js';
import type { CommitListener } from '../storage.js';

/** Commits `(durableCommit, lastCommit]` of one shard, by this process. */
export interface OwnCommits {
  readonly shard: number;
  readonly durableCommit: number;
  readonly lastCommit: number;
  /** False until the answer to COMMIT has come. */
  isCommitted: boolean;
}

/**
 * Tells listeners of each shard's commits: once, in order, and by whom they are; of more than a thousand at a time only
 * the last thousand. Others may see a commit of this process before its answer has come here, so commits from there on
 * wait for that answer.
 */
export class Announcer {
  readonly #listeners = new CommitListeners();
  /** The last announced commit of each shard. */
  readonly #announced: number[] = [];
  /** The last commit of each shard that is known to be in the database, and the last one that others said is. */
  readonly #reached: number[] = [];
  readonly #heardOf: number[] = [];
  /** By shard, in order: this process's commits that are not announced. */
  readonly #own: OwnCommits[][] = [];

  onCommit(listener: CommitListener): () => void {
    return this.#listeners.add(listener);
  }

  /** Commits up to this one are not announced. Only the first call for a shard counts. */
  startAfter(shard: number, commit: number): void {
    this.#announced[shard] ??= commit;
  }

  /** The database holds the commits up to this one. */
  reached(shard: number, commit: number): void {
    this.#reached[shard] = Math.max(this.#reached[shard] ?? 0, commit);
    this.#announce(shard);
  }

  /**
   * Another process says that the database holds the commits up to this one.
   *
   * @returns false if that is too far ahead to be believed: the database has to be asked.
   */
  heardOf(shard: number, commit: number): boolean {
    if (commit > (this.#reached[shard] ?? 0) + COMMITS_TOLD_MAX) return false;
    this.#heardOf[shard] = Math.max(this.#heardOf[shard] ?? 0, commit);
    this.#announce(shard);
    return true;
  }

  /** To be called before COMMIT is sent, with the shard's row locked. */
  sending(shard: number, durableCommit: number, lastCommit: number): OwnCommits {
    const own = { shard, durableCommit, lastCommit, isCommitted: false };
    this.#own[shard] ??= [];
    this.#own[shard].push(own);
    return own;
  }

  committed(own: OwnCommits): void {
    own.isCommitted = true;
    this.reached(own.shard, own.lastCommit);
  }

  /** Their numbers are free for others. */
  notCommitted(own: OwnCommits): void {
    this.#own[own.shard] = this.#own[own.shard]!.filter((one) => one !== own);
    this.#announce(own.shard);
  }

  #announce(shard: number): void {
    const announced = this.#announced[shard];
    if (announced === undefined) return;
    const own = this.#own[shard] ?? [];
    const unanswered = own.find(({ isCommitted }) => !isCommitted);
    const reached = Math.max(this.#reached[shard] ?? 0, this.#heardOf[shard] ?? 0);
    const last = Math.min(reached, unanswered?.durableCommit ?? Number.POSITIVE_INFINITY);
    this.#announced[shard] = Math.max(announced, last);
    this.#listeners.tell(shard, announced + 1, last, (commit) =>
      own.some(({ durableCommit, lastCommit }) => durableCommit < commit && commit <= lastCommit),
    );
    while (own[0]?.isCommitted === true && own[0].lastCommit <= this.#announced[shard]) own.shift();
  }
}
