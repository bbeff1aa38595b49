import { formatInstant } from '../../../core/instant.js';
import { type SeriesReference, seriesKey } from '../../../core/series.js';
import type { LoggedChange } from '../../../storage/samples/samples.js';
import type { IsWanted } from '../../../storage/samples/store.js';
import { shardOf } from '../../../storage/shard.js';
import type { ServiceContext } from '../../context.js';
import { type Feeds, readChanges, Subscription } from './feed.js';

/** Samples of one event at most; more come in several. */
const EVENT_SAMPLES_MAX = 5000;
const KEEP_ALIVE_MS = 15_000;

/** Whom samples are sent to, and since when. */
export interface Follower {
  readonly organisation: string;
  readonly references: readonly SeriesReference[];
  /** The commit after which it begins; the present one where absent. */
  readonly fromCommit: number | undefined;
  readonly signal: AbortSignal;
  /** Whether the follower may still see what it follows: asked while it is connected. */
  readonly isAllowed: () => Promise<boolean>;
}

/**
 * Follows series: yields what each commit after `fromCommit` changes in them, as server-sent events are written
 * (WHATWG HTML, section 9.2), then waits for the next one. What lies before the feed of the shard, or was too much for
 * it to hold, is read from the store.
 */
export async function* follow(context: ServiceContext, feeds: Feeds, follower: Follower): AsyncGenerator<string> {
  const { storage, samples, clock } = context;
  const { organisation, references, fromCommit, signal, isAllowed } = follower;
  const shard = shardOf(organisation);
  const wanted = new Set(references.map(seriesKey));
  const isWanted: IsWanted = (owner, series) => owner === organisation && wanted.has(seriesKey(series));
  const alarm = createAlarm(context, signal);
  const subscription = new Subscription(organisation, references, alarm.ring);
  const feed = feeds.of(shard);
  try {
    await feed.join(subscription);
    let commit = fromCommit ?? (await storage.read(shard, async (tx) => tx.lastCommit));
    yield writeEvent('samples', commit, EMPTY);
    let quietSinceMs = clock.monotonicMs();
    while (!signal.aborted) {
      const isBehind = commit < subscription.fromCommit;
      const { changes, last, isForgotten, isAll } = isBehind
        ? await storage.read(shard, (tx) => readChanges(samples, tx, commit, isWanted))
        : subscription.take(commit);
      if (isForgotten) yield writeEvent('reset', last, RESET);
      for (const text of writeChanges(changes)) {
        // A follower that takes its time is not sent to for ever either.
        if (signal.aborted) break;
        yield text;
      }
      commit = Math.max(commit, last);
      if (isAll && subscription.isEmpty && commit >= subscription.fromCommit) await alarm.wait(KEEP_ALIVE_MS);
      if (clock.monotonicMs() - quietSinceMs < KEEP_ALIVE_MS) continue;
      quietSinceMs = clock.monotonicMs();
      if (!(await isAllowed())) {
        yield writeEvent('stop', commit, ENDED);
        return;
      }
      if (subscription.isEmpty && commit >= subscription.fromCommit) {
        commit = Math.max(commit, subscription.take(commit).last);
      }
      // The id alone is no event, but moves Last-Event-ID on: past what others write.
      yield `: still here\nid: ${commit}\n\n`;
    }
    yield writeEvent('stop', undefined, STOPPING);
  } finally {
    feed.leave(subscription);
    alarm.end();
  }
}

const EMPTY = JSON.stringify({ samples: [] });
const RESET = JSON.stringify({ reason: 'read the series anew' });
const ENDED = JSON.stringify({ reason: 'the access token has ended; connect again with a new one' });
const STOPPING = JSON.stringify({ reason: 'the service is stopping; connect again' });

// The id stands with the last event of a commit alone: Last-Event-ID never skips what was not sent.
function* writeChanges(changes: readonly LoggedChange[]): Generator<string> {
  for (const [index, change] of changes.entries()) {
    const { commit, damage } = change;
    const isLast = changes[index + 1]?.commit !== commit;
    if (damage !== undefined) {
      yield writeEvent('reset', isLast ? commit : undefined, JSON.stringify({ reason: damage.error.message }));
      continue;
    }
    const texts = textsOf(change);
    for (const [part, text] of texts.entries()) {
      yield writeEvent('samples', isLast && part === texts.length - 1 ? commit : undefined, text);
    }
  }
}

// A change that many follow is written once.
const written = new WeakMap<LoggedChange, readonly string[]>();

function textsOf(change: LoggedChange): readonly string[] {
  const known = written.get(change);
  if (known !== undefined) return known;
  const { timeseriesId, metric, timeMs, value, deleted } = change;
  const texts: string[] = [];
  for (let from = 0; from === 0 || from < timeMs.length; from += EVENT_SAMPLES_MAX) {
    const until = Math.min(from + EVENT_SAMPLES_MAX, timeMs.length);
    const samples = [];
    for (let i = from; i < until; i++) samples.push({ timestamp: formatInstant(timeMs[i]!), val: value[i]! });
    const range = from === 0 && deleted !== undefined ? { deleted: writeRange(deleted) } : {};
    texts.push(JSON.stringify({ timeseriesId, metric, ...range, samples }));
  }
  written.set(change, texts);
  return texts;
}

function writeRange({ fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number }) {
  return { startTime: formatInstant(fromMs), endTime: formatInstant(untilMs) };
}

function writeEvent(event: 'samples' | 'reset' | 'stop', commit: number | undefined, data: string): string {
  const id = commit === undefined ? '' : `id: ${commit}\n`;
  return `${id}event: ${event}\ndata: ${data}\n\n`;
}

/** Wakes a follower when something came for it, after a while, and at the end. */
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
        const callOff = scheduler.after(delayMs, ring);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        callOff();
      }
      wake = undefined;
      hasRung = false;
    },
    end: () => signal.removeEventListener('abort', ring),
  };
}
