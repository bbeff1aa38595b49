import { formatInstant } from '../../../core/instant.js';
import { type SeriesReference, seriesKey } from '../../../core/series.js';
import { ForgottenChangesError, type LoggedChange } from '../../../storage/samples/samples.js';
import type { SampleStore } from '../../../storage/samples/store.js';
import { shardOf } from '../../../storage/shard.js';
import type { Reader } from '../../../storage/storage.js';
import type { ServiceContext } from '../../context.js';

/** Samples of one event at most; more come in several. */
const EVENT_SAMPLES_MAX = 5000;
/** Changes that are held in memory at once, beyond those of one commit. */
const CHANGES_MAX = 64;
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
 * (WHATWG HTML, section 9.2), then waits for the next one. Commits are told of by the store, and looked for at
 * intervals, as a hint may not come.
 */
export async function* follow(context: ServiceContext, follower: Follower): AsyncGenerator<string> {
  const { storage, samples, clock } = context;
  const { organisation, references, fromCommit, signal, isAllowed } = follower;
  const shard = shardOf(organisation);
  const wanted = new Set(references.map(seriesKey));
  const isWanted = (change: LoggedChange) => change.organisation === organisation && wanted.has(seriesKey(change));
  const commits = waitForCommits(context, shard, signal);
  try {
    let commit = fromCommit ?? (await storage.read(shard, async (tx) => tx.lastCommit));
    yield writeEvent('samples', commit, { samples: [] });
    let quietSinceMs = clock.monotonicMs();
    while (!signal.aborted) {
      const { changes, last, isForgotten } = await storage.read(shard, (tx) => readChanges(samples, tx, commit));
      if (isForgotten) yield writeEvent('reset', last, { reason: 'read the series anew' });
      for (const text of writeChanges(changes.filter(isWanted))) {
        // A follower that takes its time is not sent to for ever either.
        if (signal.aborted) break;
        yield text;
      }
      commit = Math.max(commit, last);
      if (changes.length < CHANGES_MAX) await commits.wait();
      if (clock.monotonicMs() - quietSinceMs < KEEP_ALIVE_MS) continue;
      quietSinceMs = clock.monotonicMs();
      if (!(await isAllowed())) {
        yield writeEvent('stop', commit, { reason: 'the access token has ended; connect again with a new one' });
        return;
      }
      // The id alone is no event, but moves Last-Event-ID on: past what others write.
      yield `: still here\nid: ${commit}\n\n`;
    }
    yield writeEvent('stop', undefined, { reason: 'the service is stopping; connect again' });
  } finally {
    commits.stop();
  }
}

/** Changes, the commit up to which they go, and whether the log no longer reaches back to their beginning. */
async function readChanges(samples: SampleStore, tx: Reader, afterCommit: number) {
  try {
    const changes = await samples.changesAfter(tx, afterCommit, CHANGES_MAX);
    return { changes, last: changes.length < CHANGES_MAX ? tx.lastCommit : changes.at(-1)!.commit, isForgotten: false };
  } catch (error) {
    if (!(error instanceof ForgottenChangesError)) throw error;
    return { changes: [], last: tx.lastCommit, isForgotten: true };
  }
}

// The id stands with the last event of a commit alone: Last-Event-ID never skips what was not sent.
function* writeChanges(changes: readonly LoggedChange[]): Generator<string> {
  for (const [index, change] of changes.entries()) {
    const { timeseriesId, metric, timeMs, value, deleted, damage, commit } = change;
    const isLast = changes[index + 1]?.commit !== commit;
    if (damage !== undefined) {
      yield writeEvent('reset', isLast ? commit : undefined, { reason: damage.error.message });
      continue;
    }
    for (let from = 0; from === 0 || from < timeMs.length; from += EVENT_SAMPLES_MAX) {
      const until = Math.min(from + EVENT_SAMPLES_MAX, timeMs.length);
      const samples = [];
      for (let i = from; i < until; i++) samples.push({ timestamp: formatInstant(timeMs[i]!), val: value[i]! });
      const range = from === 0 && deleted !== undefined ? { deleted: writeRange(deleted) } : {};
      const id = isLast && until === timeMs.length ? commit : undefined;
      yield writeEvent('samples', id, { timeseriesId, metric, ...range, samples });
    }
  }
}

function writeRange({ fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number }) {
  return { startTime: formatInstant(fromMs), endTime: formatInstant(untilMs) };
}

function writeEvent(event: 'samples' | 'reset' | 'stop', commit: number | undefined, data: unknown): string {
  const id = commit === undefined ? '' : `id: ${commit}\n`;
  return `${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Wakes a follower when the shard has a commit, at intervals, and at the end. */
function waitForCommits({ storage, scheduler, settings }: ServiceContext, shard: number, signal: AbortSignal) {
  let hasCome = false;
  let wake: (() => void) | undefined;
  const tell = (): void => {
    hasCome = true;
    wake?.();
  };
  const stopListening = storage.onCommit((committed) => {
    if (committed === shard) tell();
  });
  signal.addEventListener('abort', tell);
  return {
    wait: async () => {
      if (!hasCome && !signal.aborted) {
        const callOff = scheduler.after(settings.pollIntervalMs, tell);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        callOff();
      }
      wake = undefined;
      hasCome = false;
    },
    stop: () => {
      stopListening();
      signal.removeEventListener('abort', tell);
    },
  };
}
