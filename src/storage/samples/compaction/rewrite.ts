import { areSameColumns } from '../../../core/series.js';
import { equal, type Transaction } from '../../storage.js';
import { type SegmentRow, type SeriesRow, segments, series } from '../../tables/samples.js';
import { overlay, type Patch, sliceColumns } from '../patch.js';
import { type Columns, concatenate, NO_COLUMNS } from '../samples.js';
import {
  type Area,
  deleteSegment,
  isErased,
  packSegment,
  SegmentCursor,
  segmentRange,
  segmentsBefore,
  touchedAreas,
  unpackSegments,
} from '../segments.js';

/** The remaining budget of a call, in samples written or read. */
export interface Budget {
  left: number;
}

/** The cost of a row in addition to its samples. */
const ROW_COST = 256;
/**
 * Appended samples are merged into the last segment only if it has at most this many times as many. So a sample is
 * rewritten a few times until its segment is full, not thousands of times.
 */
const TAIL_RATIO = 3;

/**
 * Applies a patch to the segments of a series; rewrites only those that it touches.
 *
 * @returns where to resume if the budget ended first; else undefined.
 */
export async function rewriteSegments(
  tx: Transaction,
  row: SeriesRow,
  patch: Patch,
  budget: Budget,
  sizes: Sizes,
): Promise<number | undefined> {
  const writing: Writing = { tx, key: row.seriesKey, budget, sizes, held: NO_COLUMNS, countChange: 0 };
  let resumeMs: number | undefined;
  const cursor = new SegmentCursor(tx, row.seriesKey);
  for await (const area of touchedAreas(cursor, patch, () => writing.held.timeMs.length > 0)) {
    await takeArea(writing, area);
    if (budget.left > 0 || writing.held.timeMs.length > 0 || area.isTail) continue;
    resumeMs = area.endMs;
    break;
  }
  await writeHeld(writing, evenPieces);
  const [firstMs, lastMs] = await segmentRange(tx, row.seriesKey);
  await tx.update(series, nameOf(row), { sampleCount: row.sampleCount + writing.countChange, firstMs, lastMs });
  return resumeMs;
}

/** Samples after all segments of a series. */
export interface Tail {
  readonly row: SeriesRow;
  readonly patch: Patch;
}

export function isTail({ row: { lastMs }, patch: { timeMs, deleted } }: Tail): boolean {
  return deleted.length === 0 && timeMs.length > 0 && (lastMs === null || timeMs[0]! > lastMs);
}

/** The least cost of a tail, in samples written. */
export function costOf({ patch }: Tail): number {
  return ROW_COST + patch.timeMs.length;
}

/**
 * Appends to many series at once, as most new samples are appends. The statements go to the database together, so that
 * a remote one costs few round trips.
 */
export async function appendTails(tx: Transaction, tails: readonly Tail[], budget: Budget, sizes: Sizes) {
  const parts = await allOf(
    tails.map(async ({ row, patch }) => {
      const writing: Writing = { tx, key: row.seriesKey, budget, sizes, held: patch, countChange: 0 };
      if (row.lastMs !== null) await takeLastSegments(writing);
      const added = packHeld(writing, fullPieces);
      const sampleCount = row.sampleCount + writing.countChange;
      return {
        row,
        added,
        changes: { sampleCount, firstMs: row.firstMs ?? patch.timeMs[0]!, lastMs: patch.timeMs.at(-1)! },
      };
    }),
  );
  const added = parts.flatMap((part) => part.added);
  const updated = parts.map(({ row, changes }) => tx.update(series, nameOf(row), changes));
  await allOf<unknown>([tx.insertAll(segments, added), ...updated]);
}

/** Awaits all, even if one fails: none may continue after its transaction has ended. */
async function allOf<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(works);
  return Promise.all(works);
}

function nameOf({ organisation, timeseriesId, metric }: SeriesRow) {
  return equal({ organisation, timeseriesId, metric });
}

/** The state of rewriting one series. */
interface Writing {
  readonly tx: Transaction;
  readonly key: number;
  readonly budget: Budget;
  readonly sizes: Sizes;
  /** Samples not yet in a segment: too few for one, so the next area is added to them. */
  held: Columns;
  countChange: number;
}

async function takeArea(writing: Writing, { segment, patch, isTail }: Area): Promise<void> {
  const { held } = writing;
  if (segment !== undefined) {
    const isGone = isErased(segment, patch);
    const stored = isGone ? NO_COLUMNS : unpackSegments([segment]);
    const changed = overlay(stored, patch);
    writing.budget.left -= ROW_COST + stored.timeMs.length;
    // Samples that are sent again change nothing and are not written.
    if (!isGone && held.timeMs.length === 0 && areSameColumns(stored, changed)) return;
    await remove(writing, segment);
    writing.held = concatenate([held, changed]);
    if (writing.held.timeMs.length >= writing.sizes.smallSamples) await writeHeld(writing, evenPieces);
    return;
  }
  writing.held = concatenate([held, patch]);
  if (!isTail) {
    if (writing.held.timeMs.length >= writing.sizes.smallSamples) await writeHeld(writing, evenPieces);
    return;
  }
  await takeLastSegments(writing);
  await writeHeld(writing, fullPieces);
}

async function takeLastSegments(writing: Writing): Promise<void> {
  for (;;) {
    const [last] = await segmentsBefore(writing.tx, writing.key, writing.held.timeMs[0]!, 1);
    if (last === undefined || last.sampleCount >= writing.sizes.segmentSamples) return;
    if (last.sampleCount > TAIL_RATIO * writing.held.timeMs.length) return;
    await remove(writing, last);
    writing.held = concatenate([unpackSegments([last]), writing.held]);
  }
}

async function remove(writing: Writing, segment: SegmentRow): Promise<void> {
  await deleteSegment(writing.tx, segment);
  writing.countChange -= segment.sampleCount;
}

async function writeHeld(writing: Writing, lengthsOf: PieceLengths): Promise<void> {
  await writing.tx.insertAll(segments, packHeld(writing, lengthsOf));
}

function packHeld(writing: Writing, lengthsOf: PieceLengths): SegmentRow[] {
  const { held, key } = writing;
  let from = 0;
  const rows = lengthsOf(held.timeMs.length, writing.sizes.segmentSamples).map((length) => {
    const row = packSegment(key, sliceColumns(held, from, from + length));
    writing.budget.left -= ROW_COST + length;
    from += length;
    return row;
  });
  writing.countChange += held.timeMs.length;
  writing.held = NO_COLUMNS;
  return rows;
}

type PieceLengths = (count: number, segmentSamples: number) => number[];

/** In the middle of a series: pieces of similar length, so that each has room for late samples. */
function evenPieces(count: number, segmentSamples: number): number[] {
  const pieceCount = count <= 2 * segmentSamples ? Math.min(count, 1) : Math.round(count / segmentSamples);
  return Array.from({ length: pieceCount }, (_, i) => bound(count, pieceCount, i + 1) - bound(count, pieceCount, i));
}

function bound(count: number, pieceCount: number, i: number): number {
  return Math.round((count * i) / pieceCount);
}

/** At the end of a series: full pieces, and a rest that the next samples will likely fill. */
function fullPieces(count: number, segmentSamples: number): number[] {
  const rest = count % segmentSamples;
  const full = new Array<number>((count - rest) / segmentSamples).fill(segmentSamples);
  return rest === 0 ? full : [...full, rest];
}

/** The sizes of segments and of compaction's steps. Tests use small ones, to get many of them. */
export interface Sizes {
  /** Samples in a new segment; segments are split at twice as many. */
  readonly segmentSamples: number;
  /** If a change leaves fewer in a segment, it is merged with the next one. */
  readonly smallSamples: number;
  /** The budget of a call of `compact`, in samples written or read: some milliseconds. */
  readonly callCost: number;
  /** The most samples of one series that a call moves: after a large body, one series may have more than all others. */
  readonly callSamples: number;
  /**
   * A round begins when the log has `samplesMin` samples and `seriesSamplesMin` for each of its series, or reaches one
   * of the other limits. Less stays in the log, and reads merge it.
   */
  readonly samplesMin: number;
  readonly seriesSamplesMin: number;
  readonly samplesEnough: number;
  readonly changesEnough: number;
  readonly rowsEnough: number;
  /** The limits of a round, so that the rows it reads fit into their cache. */
  readonly roundSamplesMax: number;
  readonly roundChangesMax: number;
}

export const defaultSizes: Sizes = Object.freeze({
  segmentSamples: 4096,
  smallSamples: 1024,
  callCost: 30_000,
  callSamples: 30_000,
  samplesMin: 16_384,
  seriesSamplesMin: 4096,
  samplesEnough: 1_048_576,
  changesEnough: 262_144,
  rowsEnough: 4000,
  roundSamplesMax: 1_048_576,
  roundChangesMax: 524_288,
});
