import { nextDouble } from '../../../core/next-double.js';
import { type Series, TIME_MS_END } from '../../../core/series.js';
import type { Stream } from '../../../index.js';
import { concatenate, NO_COLUMNS } from '../../../storage/samples/columns.js';
import type { Columns } from '../../../storage/samples/samples.js';
import { areSameColumns, lastTimeMs, resultChange } from '../compute/columns.js';
import { cutSlice, type Slice } from '../compute/slice.js';
import { openAt, previewOf, pushChunks } from '../compute/step.js';
import { publish, refuse } from './absorb.js';
import { isCheckpointDue, type Positions, startPositions } from './checkpoints.js';
import { readersOf } from './entries.js';
import { addMark, makeDue, readState, type Standing } from './marks.js';
import { type Entry, isAtWork } from './memory.js';
import { flushProduced, type Session } from './session.js';

const PREVIEW_KEPT_MAX = 65_536;

/** Brings the items that were touched to where their results rest on all that is stored, or leaves them to a turn. */
export async function settle(session: Session): Promise<void> {
  const { replays, previews } = session;
  for (let entry = nextOf(session); entry !== undefined; entry = nextOf(session)) {
    const isReplayed = replays.delete(entry);
    previews.delete(entry);
    if (entry.dueMs !== null || !isAtWork(entry)) continue;
    if (isReplayed || entry.live === undefined) await replay(session, entry);
    else await renewPreview(session, entry, entry.live.stream);
  }
}

// Items whose results others read come before these.
function nextOf({ replays, previews }: Session): Entry | undefined {
  let next: Entry | undefined;
  for (const entries of [replays, previews]) {
    for (const entry of entries) if (next === undefined || entry.rank < next.rank) next = entry;
  }
  return next;
}

/** Where an item goes on from: its newest checkpoint, or the start. */
export function standingOf({ marks, plan }: Entry): Standing {
  return marks.at(-1) ?? { positions: startPositions(plan.sources.length), emittedMs: null, sampleCount: 0 };
}

async function replay(session: Session, entry: Entry): Promise<void> {
  const from = standingOf(entry);
  const limit = Math.min(session.sizes.inlineSamplesMax, session.replayRoom);
  const slice = await readSlice(session, entry, from.positions, limit);
  if (!slice.isLast || slice.sampleCount > limit) return makeDue(session, entry);
  session.replayRoom -= slice.sampleCount;
  await finish(session, entry, slice);
}

/** The next samples of an item's sources, at most about so many. */
export async function readSlice(
  session: Session,
  { plan, row }: Entry,
  positions: Positions,
  limit: number,
  untilMs?: number,
): Promise<Slice> {
  // Results of this transaction are samples too.
  await flushProduced(session);
  const { context, tx, sizes } = session;
  const ofSource = Math.max(sizes.sourceSamplesMin, Math.ceil(limit / Math.max(1, plan.sources.length)));
  const read: Columns[] = [];
  for (const [index, source] of plan.sources.entries()) {
    const range = { ...rangeAfter(positions[index]!, untilMs), limit: ofSource, isFinalOnly: true };
    read.push(await context.samples.read(tx, row.organisation, source, range));
  }
  return cutSlice(plan.sources, positions, read, ofSource);
}

function rangeAfter(afterMs: number, untilMs: number | undefined) {
  return {
    ...(afterMs === Number.NEGATIVE_INFINITY ? {} : { fromMs: nextDouble(afterMs) }),
    ...(untilMs === undefined ? {} : { untilMs }),
  };
}

/** Samples of results behind their final ones: the next input may change them, so no state rests on them. */
async function readTail(session: Session, entry: Entry, positions: Positions, untilMs?: number): Promise<Series[]> {
  const tail: Series[] = [];
  if (entry.resultSources.length === 0) return tail;
  await flushProduced(session);
  const { context, tx } = session;
  for (const index of entry.resultSources) {
    const source = entry.plan.sources[index]!;
    const range = rangeAfter(positions[index]!, untilMs);
    const columns = await context.samples.read(tx, entry.row.organisation, source, range);
    tail.push({ ...source, ...columns });
  }
  return tail;
}

/**
 * Takes an item from its newest checkpoint over the last samples that are stored, here and now, so that its results
 * rest on all of them. False when the engine refused.
 */
export async function finish(
  session: Session,
  entry: Entry,
  slice: Slice,
  { untilMs, state: known }: { readonly untilMs?: number; readonly state?: Uint8Array } = {},
): Promise<boolean> {
  const { plan, row, marks } = entry;
  const from = standingOf(entry);
  const mark = marks.at(-1);
  const state = known ?? (mark === undefined ? undefined : await readState(session, entry, mark));
  const tail = await readTail(session, entry, slice.positions, untilMs);
  const { outputSamplesMax } = session.context.settings;
  // Without samples there is only the preview left to make, which a thread does not do.
  const isWhole = slice.sampleCount === 0;
  const options = {
    maxOutputSamples: isWhole ? outputSamplesMax : Math.min(session.sizes.inlineOutputMax, outputSamplesMax),
  };
  let stream: Stream;
  let results: Columns;
  let preview: Columns;
  try {
    stream = openAt(plan, state, options);
    results = pushChunks(plan, stream, slice.chunks);
    preview = previewOf(plan, stream, tail, options);
  } catch (error) {
    await refuse(session, entry, error);
    return false;
  }
  const isOnce = row.processingType === 'batch' && row.frequencyMs === null;
  if (isOnce) [results, preview] = [concatenate([results, preview]), NO_COLUMNS];
  await replaceResults(session, entry, from.emittedMs, results, true);
  const standing = {
    positions: [...slice.positions],
    emittedMs: lastTimeMs(results) ?? from.emittedMs,
    sampleCount: from.sampleCount + slice.sampleCount,
  };
  if (row.processingType === 'stream') entry.live = { ...standing, stream };
  await keepPreview(session, entry, preview);
  if (!isOnce && isCheckpointDue(slice.sampleCount, mark, session.sizes))
    await addMark(session, entry, standing, stream.checkpoint());
  return true;
}

/** Makes the results after an instant, up to the last of these or to the end, these. */
export async function replaceResults(
  session: Session,
  entry: Entry,
  afterMs: number | null,
  results: Columns,
  isEnd: boolean,
): Promise<void> {
  await flushProduced(session);
  const { context, tx } = session;
  const read = (range: object): Promise<Columns> =>
    context.samples.read(tx, entry.row.organisation, entry.output, { ...range, isFinalOnly: true });
  const lastMs = lastTimeMs(results);
  const range = rangeAfter(afterMs ?? Number.NEGATIVE_INFINITY, lastMs === undefined ? undefined : nextDouble(lastMs));
  const change = lastMs === undefined ? undefined : resultChange(await read(range), results);
  const endMs = lastMs ?? afterMs ?? Number.NEGATIVE_INFINITY;
  const left = isEnd ? await read({ ...rangeAfter(endMs, undefined), limit: 1 }) : NO_COLUMNS;
  if (change !== undefined) await publish(session, entry, change);
  const [leftMs] = left.timeMs;
  if (leftMs === undefined) return;
  await publish(session, entry, { ...NO_COLUMNS, deleted: { fromMs: leftMs, untilMs: TIME_MS_END } });
}

async function renewPreview(session: Session, entry: Entry, stream: Stream): Promise<void> {
  const { live, plan } = entry;
  if (live === undefined) throw new Error('assertion failed: a stream without an item');
  const tail = await readTail(session, entry, live.positions);
  let preview: Columns;
  try {
    preview = previewOf(plan, stream, tail, { maxOutputSamples: session.sizes.inlineOutputMax });
  } catch (error) {
    return refuse(session, entry, error);
  }
  await keepPreview(session, entry, preview);
  const before = entry.marks.at(-1);
  if (isCheckpointDue(live.sampleCount - (before?.sampleCount ?? 0), before, session.sizes)) {
    await addMark(session, entry, live, stream.checkpoint());
  }
}

/** Stores what comes behind the final results, and has those who read it renew theirs. */
export async function keepPreview(session: Session, entry: Entry, preview: Columns): Promise<void> {
  const before = entry.provisional;
  if (before !== undefined && areSameColumns(before, preview)) return;
  const { organisation } = entry.row;
  await session.context.samples.setProvisional(session.tx, organisation, { ...entry.output, ...preview });
  entry.provisional = preview.timeMs.length > PREVIEW_KEPT_MAX ? undefined : preview;
  session.hasWritten = true;
  const firstBeforeMs =
    before === undefined ? Number.NEGATIVE_INFINITY : (before.timeMs[0] ?? Number.POSITIVE_INFINITY);
  const firstMs = Math.min(firstBeforeMs, preview.timeMs[0] ?? Number.POSITIVE_INFINITY);
  for (const reader of await readersOf(session, organisation, entry.output)) {
    const { row, dueMs } = reader;
    if (!isAtWork(reader)) continue;
    if (row.processingType === 'stream' && dueMs === null) session.previews.add(reader);
    if (row.boundaryMs !== null && firstMs < row.boundaryMs) await makeDue(session, reader);
  }
}
