import { describeValue } from '../../../core/errors.js';
import { groupBy } from '../../../core/group.js';
import { formatInstant } from '../../../core/instant.js';
import { jsonNumber } from '../../../core/json-number.js';
import { type SeriesReference, seriesKey, TIME_MS_END, TIME_MS_MIN } from '../../../core/series.js';
import type { IsWanted, LoggedChange, TimeRange } from '../../../storage/samples/samples.js';
import type { ServiceContext } from '../../context.js';
import { badRequest } from '../../http/errors.js';
import { type Feeds, readChanges, Subscription } from './feed.js';

/** The most samples of one event. */
const EVENT_SAMPLES_MAX = 5000;
const KEEP_ALIVE_MS = 5000;
/** For how long samples are sent to a follower without asking again. */
const ALLOWED_MS = 1000;

/** Whom samples are sent to, and since when. */
export interface Follower {
  readonly organisation: string;
  readonly references: readonly SeriesReference[];
  /** `Last-Event-ID`: where to begin; by default after what is stored now. */
  readonly lastEventId: string | undefined;
  /** The fingerprint of the store, in the id of each event: the commits of a store that was restored are others. */
  readonly store: string;
  readonly signal: AbortSignal;
  /** Whether the follower may still see what it follows: asked before samples are sent, once a second at most. */
  readonly isAllowed: () => Promise<boolean>;
}

/** The followed series of one shard, and the commit up to which their changes were sent. */
interface Leg {
  readonly shard: number;
  readonly isWanted: IsWanted;
  readonly feed: ReturnType<Feeds['of']>;
  readonly subscription: Subscription;
  commit: number;
}

/**
 * Follows series: yields the changes of each commit after `lastEventId` as server-sent events (WHATWG HTML, section
 * 9.2), then waits for the next commit. Changes from before the feed, or too many for it to hold, are read from the
 * store.
 *
 * @throws ServiceError 400 for a `lastEventId` that no stream sends.
 */
export async function follow(
  context: ServiceContext,
  feeds: Feeds,
  follower: Follower,
): Promise<AsyncGenerator<string>> {
  const { organisation, references, lastEventId, store } = follower;
  const placement = await context.placements.of(organisation);
  const parts = groupBy(references, ({ timeseriesId }) => placement.shardOf(timeseriesId));
  // In a fixed order, because the id of an event has a commit for each shard.
  const shards = [...parts.keys()].sort((a, b) => a - b);
  const from = lastEventId === undefined ? undefined : readEventId(lastEventId, store, shards);
  const alarm = createAlarm(context, follower.signal);
  const legs = shards.map((shard, index): Leg => {
    const part = parts.get(shard)!;
    const wanted = new Set(part.map(seriesKey));
    return {
      shard,
      isWanted: (owner, series) => owner === organisation && wanted.has(seriesKey(series)),
      feed: feeds.of(shard),
      subscription: new Subscription(organisation, part, alarm.ring),
      commit: from?.[index] ?? Number.NaN,
    };
  });
  const { turnOf } = feeds;
  const events = followLegs(
    context,
    follower,
    { legs, turnOf },
    alarm,
    lastEventId !== undefined && from === undefined,
  );
  return counted(feeds, events);
}

async function* counted(feeds: Feeds, events: AsyncGenerator<string>): AsyncGenerator<string> {
  feeds.followerCount++;
  try {
    yield* events;
  } finally {
    feeds.followerCount--;
  }
}

/** @param isOfOther whether the id to begin after is of another store, or of a stream of other series. */
async function* followLegs(
  context: ServiceContext,
  { signal, isAllowed, store }: Follower,
  { legs, turnOf }: { readonly legs: readonly Leg[]; readonly turnOf: Feeds['turnOf'] },
  alarm: ReturnType<typeof createAlarm>,
  isOfOther: boolean,
): AsyncGenerator<string> {
  const { storage, clock } = context;
  const idNow = (): string => writeEventId(store, legs);
  const isQuiet = (): boolean =>
    legs.every(({ commit, subscription }) => subscription.isEmpty && commit >= subscription.fromCommit);
  try {
    let isReset = isOfOther;
    for (const leg of legs) {
      await leg.feed.join(leg.subscription);
      if (leg.commit <= leg.subscription.fromCommit) continue;
      const last = await storage.lastCommit(leg.shard);
      // Of another shard: nothing would be sent before there are as many commits.
      isReset ||= leg.commit > last;
      if (!(leg.commit <= last)) leg.commit = last;
    }
    // First: whoever has an id of this store must know that it does not continue the one before.
    if (isReset) yield writeEvent('reset', idNow(), RESET);
    yield writeEvent('samples', idNow(), EMPTY);
    let quietSinceMs = clock.monotonicMs();
    let allowedMs = quietSinceMs;
    const mayGoOn = async (charCount = 0): Promise<boolean> => {
      await turnOf(charCount);
      if (signal.aborted) return false;
      if (clock.monotonicMs() - allowedMs < ALLOWED_MS) return true;
      if (!(await isAllowed())) return false;
      allowedMs = clock.monotonicMs();
      return true;
    };
    while (await mayGoOn()) {
      let isAll = true;
      for (const leg of legs) isAll = (yield* tellOf(context, mayGoOn, idNow, leg)) && isAll;
      if (isAll && isQuiet()) await alarm.wait(KEEP_ALIVE_MS);
      if (clock.monotonicMs() - quietSinceMs < KEEP_ALIVE_MS) continue;
      quietSinceMs = clock.monotonicMs();
      for (const leg of isQuiet() ? legs : []) {
        leg.commit = Math.max(leg.commit, leg.subscription.take(leg.commit).lastCommit);
      }
      // The id alone is no event, but moves Last-Event-ID on: past what others write.
      yield `: still here\nid: ${idNow()}\n\n`;
    }
    yield signal.aborted ? writeEvent('stop', undefined, STOPPING) : writeEvent('stop', idNow(), ENDED);
  } finally {
    for (const { feed, subscription } of legs) feed.leave(subscription);
    alarm.end();
  }
}

/** Yields the new changes of a shard; returns whether there are no more for now. */
async function* tellOf(
  { storage, samples }: ServiceContext,
  mayGoOn: (charCount: number) => Promise<boolean>,
  idNow: () => string,
  leg: Leg,
): AsyncGenerator<string, boolean> {
  const { shard, subscription, commit, isWanted } = leg;
  const { changes, lastCommit, isForgotten, isAll } =
    commit < subscription.fromCommit
      ? await storage.read(shard, (tx) => readChanges(samples, tx, commit, isWanted))
      : subscription.take(commit);
  if (isForgotten) {
    leg.commit = lastCommit;
    yield writeEvent('reset', idNow(), RESET);
  }
  for (const [text, endedCommit] of writeChanges(changes)) {
    // A follower that takes its time is not sent to for ever either.
    if (!(await mayGoOn(text.length))) return false;
    // The id stands with the last event of a commit alone: Last-Event-ID never skips what was not sent.
    if (endedCommit !== undefined) leg.commit = endedCommit;
    yield endedCommit === undefined ? text : `id: ${idNow()}\n${text}`;
  }
  leg.commit = Math.max(commit, lastCommit);
  return isAll;
}

/** The store, and the commit of each shard that is followed, in the order of their numbers: `0123abcd-3:51.17:8`. */
function writeEventId(store: string, legs: readonly Leg[]): string {
  return `${store}-${legs.map(({ shard, commit }) => `${shard}:${commit}`).join('.')}`;
}

/**
 * The commits of an id; undefined if it is of another store or of a stream of other shards, or of a version whose ids
 * named none.
 */
function readEventId(text: string, store: string, shards: readonly number[]): readonly number[] | undefined {
  const [, ofStore, places] = /^(?:([0-9a-f]{8})-)?(\d{1,15}(?:[.:]\d{1,15})*)$/.exec(text) ?? [];
  if (places === undefined) {
    const received = describeValue(text);
    throw badRequest(`header Last-Event-ID: expected the id of an event of a stream, received ${received}`);
  }
  const parts = places.split('.').map((place) => place.split(':').map(Number));
  const isOfThese = parts.length === shards.length && parts.every(([shard], index) => shard === shards[index]);
  const commits = parts.flatMap(([, commit]) => commit ?? []);
  return ofStore === store && isOfThese && commits.length === shards.length ? commits : undefined;
}

const EMPTY = JSON.stringify({ samples: [] });
const RESET = JSON.stringify({ reason: 'read the series anew' });
const ENDED = JSON.stringify({ reason: 'the access token has ended; connect again with a new one' });
const STOPPING = JSON.stringify({ reason: 'the service is stopping; connect again' });

/** Events without ids, and with the last of a commit its number. */
function* writeChanges(changes: readonly LoggedChange[]): Generator<readonly [string, number | undefined]> {
  for (const [index, change] of changes.entries()) {
    const { commit, damage } = change;
    const endedCommit = changes[index + 1]?.commit === commit ? undefined : commit;
    if (damage !== undefined) {
      yield [writeEvent('reset', undefined, JSON.stringify({ reason: damage.error.message })), endedCommit];
      continue;
    }
    const texts = textsOf(change);
    for (const [part, text] of texts.entries()) {
      yield [writeEvent('samples', undefined, text), part === texts.length - 1 ? endedCommit : undefined];
    }
  }
}

// A change with many followers is serialised once.
const written = new WeakMap<LoggedChange, readonly string[]>();

function textsOf(change: LoggedChange): readonly string[] {
  const known = written.get(change);
  if (known !== undefined) return known;
  const { timeseriesId, metric, timeMs, value, deleted } = change;
  const texts: string[] = [];
  for (let from = 0; from === 0 || from < timeMs.length; from += EVENT_SAMPLES_MAX) {
    const until = Math.min(from + EVENT_SAMPLES_MAX, timeMs.length);
    const samples: string[] = [];
    for (let i = from; i < until; i++) {
      samples.push(`{"timestamp":"${formatInstant(timeMs[i]!)}","val":${jsonNumber(value[i]!)}}`);
    }
    const range = from === 0 && deleted !== undefined ? { deleted: writeRange(deleted) } : {};
    const head = JSON.stringify({ timeseriesId, metric, ...range });
    texts.push(`${head.slice(0, -1)},"samples":[${samples.join(',')}]}`);
  }
  written.set(change, texts);
  return texts;
}

function writeRange({ fromMs, untilMs }: TimeRange) {
  const startTime = fromMs <= TIME_MS_MIN ? null : formatInstant(fromMs);
  // Outside of the years that the service takes, and of those that JavaScript reads.
  const endTime = untilMs >= TIME_MS_END ? null : formatInstant(untilMs);
  return { startTime, endTime };
}

function writeEvent(event: 'samples' | 'reset' | 'stop', id: string | undefined, data: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Wakes a follower when it has changes, after a while, and at the end. */
function createAlarm({ scheduler }: ServiceContext, signal: AbortSignal) {
  let hasRung = false;
  let wake: (() => void) | undefined;
  const ring = (): void => {
    hasRung = true;
    wake?.();
  };
  signal.addEventListener('abort', ring);
  return {
    ring,
    wait: async (delayMs: number) => {
      if (!hasRung && !signal.aborted) {
        const cancel = scheduler.after(delayMs, ring);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        cancel();
      }
      wake = undefined;
      hasRung = false;
    },
    end: () => signal.removeEventListener('abort', ring),
  };
}
