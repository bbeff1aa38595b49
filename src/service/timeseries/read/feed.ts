import { type SeriesReference, seriesKey } from '../../../core/series.js';
import { shareTurns } from '../../../storage/next-turn.js';
import {
  ForgottenChangesError,
  type IsWanted,
  type LoggedChange,
  type LoggedChanges,
} from '../../../storage/samples/samples.js';
import type { SampleStore } from '../../../storage/samples/store.js';
import type { Reader } from '../../../storage/storage.js';
import { forLog } from '../../background.js';
import type { ServiceContext } from '../../context.js';

/** The most changes to read at once, or to hold for a follower, beyond those of one commit. */
const CHANGES_MAX = 64;

/** Changes of series, and the commits that they cover. */
export interface Changes extends LoggedChanges {
  /** Whether the log no longer reaches back to their beginning. */
  readonly isForgotten: boolean;
}

export async function readChanges(
  samples: SampleStore,
  tx: Reader,
  afterCommit: number,
  isWanted: IsWanted,
): Promise<Changes> {
  try {
    return { ...(await samples.changesAfter(tx, afterCommit, CHANGES_MAX, isWanted)), isForgotten: false };
  } catch (error) {
    if (!(error instanceof ForgottenChangesError)) throw error;
    return { changes: [], lastCommit: tx.lastCommit, isForgotten: true, isAll: true };
  }
}

/** The changes of a feed for one follower. */
export class Subscription {
  readonly keys: readonly string[];
  readonly #wake: () => void;
  #feed: { readonly commit: number } = { commit: 0 };
  #waiting: LoggedChange[] = [];
  #fromCommit = Number.POSITIVE_INFINITY;
  #isForgotten = false;

  constructor(organisation: string, references: readonly SeriesReference[], wake: () => void) {
    this.keys = references.map((reference) => keyOf(organisation, reference));
    this.#wake = wake;
  }

  /** The commit after which all changes are here; earlier ones must be read from the store. */
  get fromCommit(): number {
    return this.#fromCommit;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && !this.#isForgotten;
  }

  /** All changes since, of commits after this one. */
  take(afterCommit: number): Changes {
    const changes = this.#waiting.filter(({ commit }) => commit > afterCommit);
    const isForgotten = this.#isForgotten;
    this.#waiting = [];
    this.#isForgotten = false;
    return { changes, lastCommit: this.#feed.commit, isForgotten, isAll: true };
  }

  begin(feed: { readonly commit: number }): void {
    this.#feed = feed;
    this.#fromCommit = feed.commit;
  }

  add(change: LoggedChange): void {
    this.#waiting.push(change);
  }

  /** Ends a delivery. A follower that falls behind reads from the store later, so that its changes take no memory. */
  reach(commit: number, isForgotten: boolean, waitedCount: number): void {
    if (waitedCount > CHANGES_MAX) {
      this.#waiting = [];
      this.#fromCommit = commit;
    }
    if (isForgotten) {
      // The follower reads its series anew, and nothing older may come after that.
      this.#waiting = [];
      this.#isForgotten = true;
    }
    this.#wake();
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }
}

/**
 * The changes of one shard, read and decoded once for all followers of its series, and given only to these. Commits
 * known to change none of these series are skipped without reading the store.
 */
class Feed {
  readonly #context: ServiceContext;
  readonly #shard: number;
  readonly #subscriptions = new Set<Subscription>();
  readonly #byKey = new Map<string, Set<Subscription>>();
  #commit = 0;
  #opened: Promise<void> | undefined;
  #end = (): void => {};
  #isRunning = false;
  /** The last announced commit that is not being read yet. */
  #dueCommit = 0;

  constructor(context: ServiceContext, shard: number) {
    this.#context = context;
    this.#shard = shard;
  }

  /** All changes up to this commit have been delivered. */
  get commit(): number {
    return this.#commit;
  }

  async join(subscription: Subscription): Promise<void> {
    this.#subscriptions.add(subscription);
    for (const key of subscription.keys) {
      const ofKey = this.#byKey.get(key) ?? new Set();
      this.#byKey.set(key, ofKey.add(subscription));
    }
    this.#opened ??= this.#open();
    await this.#opened;
    subscription.begin(this);
  }

  leave(subscription: Subscription): void {
    this.#subscriptions.delete(subscription);
    for (const key of subscription.keys) {
      const ofKey = this.#byKey.get(key);
      ofKey?.delete(subscription);
      if (ofKey?.size === 0) this.#byKey.delete(key);
    }
    if (this.#subscriptions.size > 0) return;
    this.#end();
    this.#opened = undefined;
  }

  async #open(): Promise<void> {
    const { storage, scheduler, settings } = this.#context;
    const stopListening = storage.onCommit((shard, commit, isOwn) => {
      if (shard === this.#shard) this.#tell(commit, isOwn);
    });
    // A commit of another process may not be announced. The next poll waits for the answer to the one before: a store
    // that stands still would get ever more of them.
    let isEnded = false;
    const poll = async (): Promise<void> => {
      try {
        this.#tell(await storage.lastCommit(this.#shard), false);
      } catch (error) {
        this.#warn(error);
      }
      if (!isEnded) cancel = scheduler.after(settings.pollIntervalMs, poll);
    };
    let cancel = scheduler.after(settings.pollIntervalMs, poll);
    this.#end = () => {
      isEnded = true;
      stopListening();
      cancel();
    };
    this.#commit = await storage.read(this.#shard, async (tx) => tx.lastCommit);
  }

  #tell(commit: number, isOwn: boolean): void {
    const isNext = isOwn && !this.#isRunning && commit === this.#commit + 1;
    if (isNext && this.#context.samples.isOfOthers(this.#shard, commit, this.#isWanted)) {
      this.#commit = commit;
      return;
    }
    this.#dueCommit = Math.max(this.#dueCommit, commit);
    if (!this.#isRunning) void this.#run();
  }

  readonly #isWanted: IsWanted = (organisation, series) => this.#byKey.has(keyOf(organisation, series));

  readonly #warn = (error: unknown): void => {
    this.#context.log.warn(
      { ...forLog(error), shard: this.#shard },
      'changes were not read for followers; will try again later',
    );
  };

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#dueCommit > this.#commit && this.#subscriptions.size > 0) {
        this.#dueCommit = 0;
        await this.#deliver();
      }
    } catch (err) {
      this.#warn(err);
    } finally {
      this.#isRunning = false;
    }
  }

  async #deliver(): Promise<void> {
    const { storage, samples } = this.#context;
    const opened = this.#opened;
    await opened;
    const asked = new Set(this.#subscriptions);
    const read = await storage.read(this.#shard, (tx) => readChanges(samples, tx, this.#commit, this.#isWanted));
    // All followers have left meanwhile, and new ones have joined, which begin later.
    if (opened !== this.#opened) return;
    const { changes, lastCommit, isForgotten, isAll } = read;
    if (!isAll) this.#dueCommit = Number.POSITIVE_INFINITY;
    const waited = new Map<Subscription, number>();
    for (const change of changes) {
      for (const subscription of this.#byKey.get(keyOf(change.organisation, change)) ?? []) {
        if (!waited.has(subscription)) waited.set(subscription, subscription.waitingCount);
        subscription.add(change);
      }
    }
    this.#commit = Math.max(this.#commit, lastCommit);
    for (const subscription of this.#subscriptions) {
      // One that has joined while this was read looks itself: its changes may have been passed over as nobody's.
      const waitedCount = asked.has(subscription) ? waited.get(subscription) : Number.POSITIVE_INFINITY;
      if (waitedCount === undefined && !isForgotten) continue;
      subscription.reach(this.#commit, isForgotten, waitedCount ?? 0);
    }
  }
}

/** How much text to send to followers in a turn of the event loop: some milliseconds of copying it to sockets. */
const TURN_CHARS = 1024 * 1024;

/** The feeds of a service, by shard. */
export class Feeds {
  /** Waits for the turn of a text of this length; undefined if it is now. */
  readonly turnOf = shareTurns(TURN_CHARS);
  /** The number of followers, each of whom may have subscriptions to several feeds; `follow` counts them. */
  followerCount = 0;
  readonly #context: ServiceContext;
  readonly #feeds = new Map<number, Feed>();

  constructor(context: ServiceContext) {
    this.#context = context;
  }

  of(shard: number): Feed {
    const feed = this.#feeds.get(shard) ?? new Feed(this.#context, shard);
    this.#feeds.set(shard, feed);
    return feed;
  }
}

function keyOf(organisation: string, series: SeriesReference): string {
  return JSON.stringify([organisation, seriesKey(series)]);
}
