import { seriesKey } from '../../../core/series.js';
import { OutputLimitError } from '../../../index.js';
import type { SampleChange } from '../../../storage/samples/samples.js';
import { lastTimeMs } from '../compute/columns.js';
import { pushChunks } from '../compute/step.js';
import { trueMarks } from './checkpoints.js';
import { findReaders, readersOf } from './entries.js';
import { failEntry } from './failure.js';
import { dropMarks, makeDue } from './marks.js';
import { type Entry, isAtWork, type Live } from './memory.js';
import type { Session } from './session.js';

const CHANGES_READ = 1000;

/** Takes in what the log holds that items have not seen. */
export async function absorb(session: Session): Promise<void> {
  const { tx, context, absorbedCommit } = session;
  for (let after = absorbedCommit; after < tx.lastCommit; ) {
    const changes = await context.samples.changesAfter(tx, after, CHANGES_READ);
    if (changes.length > 0) session.hasWritten = true;
    for (const organisation of new Set(changes.map((change) => change.organisation))) {
      const own = changes.filter((change) => change.organisation === organisation);
      await findReaders(session, organisation, own);
    }
    for (const change of changes) await tellReaders(session, change.organisation, change);
    if (changes.length < CHANGES_READ) return;
    after = changes.at(-1)!.commit;
  }
}

/** Gives a change of a series to the items that read it. */
async function tellReaders(session: Session, organisation: string, change: SampleChange): Promise<void> {
  const firstMs = Math.min(
    change.deleted?.fromMs ?? Number.POSITIVE_INFINITY,
    change.timeMs[0] ?? Number.POSITIVE_INFINITY,
  );
  if (firstMs === Number.POSITIVE_INFINITY) return;
  for (const entry of await readersOf(session, organisation, change)) {
    if (isAtWork(entry)) await take(session, entry, change, firstMs);
  }
}

async function take(session: Session, entry: Entry, change: SampleChange, firstMs: number): Promise<void> {
  const source = entry.sourceIndex.get(seriesKey(change));
  if (source === undefined) throw new Error('assertion failed: the item does not read the series');
  const kept = trueMarks(entry.marks, source, firstMs);
  if (kept !== entry.marks) await dropMarks(session, entry, kept);
  const { row, running, live } = entry;
  if (running !== undefined && firstMs <= running.positions[source]!) running.isSpoiled = true;
  if (row.processingType === 'batch') {
    // Of a batch without a frequency, and before its first run, all is read yet.
    if (row.boundaryMs !== null && firstMs < row.boundaryMs) await makeDue(session, entry);
  } else if (entry.dueMs !== null) {
    // Its turn reads all that is stored.
  } else if (live === undefined || isBehind(live, source, change, firstMs)) {
    entry.live = undefined;
    session.replays.add(entry);
  } else {
    await push(session, entry, live, source, change);
  }
}

// At its position the stream still takes another value; what is deleted there, or lies before, it has taken in.
function isBehind({ positions }: Live, source: number, { deleted }: SampleChange, firstMs: number): boolean {
  const positionMs = positions[source]!;
  return firstMs < positionMs || (deleted !== undefined && deleted.fromMs <= positionMs);
}

async function push(session: Session, entry: Entry, live: Live, source: number, change: SampleChange): Promise<void> {
  const { timeMs, value } = change;
  // What the stream has not taken cannot be taken from it, but its preview may rest on it: samples that were not final.
  if (timeMs.length === 0) {
    session.previews.add(entry);
    return;
  }
  const { timeseriesId, metric } = change;
  session.memory.touch(entry);
  let results: ReturnType<typeof pushChunks>;
  try {
    results = pushChunks(entry.plan, live.stream, [{ timeseriesId, metric, timeMs, value }]);
  } catch (error) {
    return refuse(session, entry, error);
  }
  live.positions[source] = timeMs[timeMs.length - 1]!;
  live.sampleCount += timeMs.length;
  live.emittedMs = lastTimeMs(results) ?? live.emittedMs;
  session.previews.add(entry);
  if (results.timeMs.length > 0) await publish(session, entry, results);
}

/** A stream that makes too many results for a transaction is left to a thread; all else is a failure. */
export async function refuse(session: Session, entry: Entry, error: unknown): Promise<void> {
  if (!(error instanceof OutputLimitError) || entry.needsThread) return failEntry(session, entry, error);
  entry.needsThread = true;
  await makeDue(session, entry);
}

/** Changes a result, in the store and for those who read it. */
export async function publish(
  session: Session,
  { row, output }: Entry,
  change: Omit<SampleChange, 'timeseriesId' | 'metric'>,
): Promise<void> {
  const { organisation, itemId } = row;
  const full = { ...output, ...change, itemId };
  const changes = session.produced.get(organisation);
  if (changes === undefined) session.produced.set(organisation, [full]);
  else changes.push(full);
  session.hasWritten = true;
  await tellReaders(session, organisation, full);
}
