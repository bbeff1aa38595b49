import type { SeriesReference } from '../../../core/series.js';
import { sortInput } from '../../../engine/batch/sort-input.js';
import { isAllFinite, isRising } from '../../../kernels/check.js';
import { inTurns, nextTurn } from '../../../storage/next-turn.js';
import { sliceColumns } from '../../../storage/samples/patch.js';
import type { Columns, SampleChange } from '../../../storage/samples/samples.js';
import { sortByTime } from '../../../storage/samples/sort-by-time.js';
import { FreeList } from '../../free-list.js';

/** The numbers of samples of a batch by outcome. */
export interface BatchCounts {
  /** Samples to be stored. */
  samples: number;
  /** Samples without a value: null, NaN, infinite. */
  missing: number;
  /** Samples of a time that is repeated in the batch: the last one counts. */
  duplicate: number;
}

/** Samples of many series in the order of arrival, as columns, until they are stored together. */
export interface SampleBatch {
  rowCount: number;
  /** Index into `series`. */
  seriesIndex: Int32Array;
  timeMs: Float64Array;
  value: Float64Array;
  readonly series: SeriesReference[];
  /** By id, and there by metric. */
  readonly indexes: Map<string, Map<string, number>>;
}

type BatchColumns = Pick<SampleBatch, 'seriesIndex' | 'timeMs' | 'value'>;

/** Small, as many bodies have few samples. */
const FIRST_CAPACITY = 16;
/** Batches of more rows than `FEW_ROWS` have columns of this capacity, which later ones use again. */
const USUAL_CAPACITY = 16_384;
const FEW_ROWS = 1024;
const freeColumns = new FreeList<BatchColumns>(32);

function createColumns(capacity: number): BatchColumns {
  return {
    seriesIndex: new Int32Array(capacity),
    timeMs: new Float64Array(capacity),
    value: new Float64Array(capacity),
  };
}

export function createSampleBatch(): SampleBatch {
  return { rowCount: 0, ...createColumns(FIRST_CAPACITY), series: [], indexes: new Map() };
}

/** The index of a series in the batch; undefined if it has none. */
export function knownSeries({ indexes }: SampleBatch, timeseriesId: string, metric: string): number | undefined {
  return indexes.get(timeseriesId)?.get(metric);
}

/** The index of a series in the batch; adds it if it is new. */
export function seriesIndexOf({ indexes, series }: SampleBatch, timeseriesId: string, metric: string): number {
  const ofId = indexes.get(timeseriesId) ?? new Map<string, number>();
  if (ofId.size === 0) indexes.set(timeseriesId, ofId);
  const index = ofId.get(metric) ?? series.push({ timeseriesId, metric }) - 1;
  ofId.set(metric, index);
  return index;
}

/** Makes room for `count` more rows, which the caller then writes and counts in `rowCount`. */
function makeRoom(batch: SampleBatch, count: number): void {
  const length = batch.rowCount + count;
  if (length <= batch.timeMs.length) return;
  const columns = columnsFor(Math.max(length, 2 * batch.timeMs.length));
  columns.seriesIndex.set(batch.seriesIndex.subarray(0, batch.rowCount));
  columns.timeMs.set(batch.timeMs.subarray(0, batch.rowCount));
  columns.value.set(batch.value.subarray(0, batch.rowCount));
  replaceColumns(batch, columns);
}

function columnsFor(capacity: number): BatchColumns {
  if (capacity <= FEW_ROWS || capacity > USUAL_CAPACITY) return createColumns(capacity);
  return freeColumns.take() ?? createColumns(USUAL_CAPACITY);
}

function replaceColumns(batch: SampleBatch, columns: BatchColumns): void {
  const { seriesIndex, timeMs, value } = batch;
  if (timeMs.length === USUAL_CAPACITY) freeColumns.give({ seriesIndex, timeMs, value });
  Object.assign(batch, columns);
}

/** Empties a batch that is done with, and gives its columns to later ones. */
export function releaseColumns(batch: SampleBatch): void {
  batch.rowCount = 0;
  replaceColumns(batch, createColumns(0));
}

export function addSample(batch: SampleBatch, series: number, timeMs: number, value: number): void {
  makeRoom(batch, 1);
  const row = batch.rowCount++;
  batch.seriesIndex[row] = series;
  batch.timeMs[row] = timeMs;
  batch.value[row] = value;
}

export function addColumns(batch: SampleBatch, series: number, timeMs: Float64Array, value: Float64Array): void {
  makeRoom(batch, timeMs.length);
  const { rowCount } = batch;
  batch.seriesIndex.fill(series, rowCount, rowCount + timeMs.length);
  batch.timeMs.set(timeMs, rowCount);
  batch.value.set(value, rowCount);
  batch.rowCount += timeMs.length;
}

/** Adds the first rows of columns, whose series are `indexes[indexColumn[row]]`. */
export function addRows(
  batch: SampleBatch,
  indexes: ArrayLike<number>,
  indexColumn: Int32Array,
  timeMs: Float64Array,
  value: Float64Array,
  count: number,
): void {
  makeRoom(batch, count);
  const { rowCount } = batch;
  // No part of a column is copied as a whole: where there are few rows, making the part costs more.
  for (let row = 0; row < count; row++) {
    batch.seriesIndex[rowCount + row] = indexes[indexColumn[row]!]!;
    batch.timeMs[rowCount + row] = timeMs[row]!;
    batch.value[rowCount + row] = value[row]!;
  }
  batch.rowCount += count;
}

export interface Taken {
  readonly changes: SampleChange[];
  readonly counts: BatchCounts;
}

/**
 * Empties the batch into one change per series: times ascending, the last sample of equal times, nothing missing.
 * Requests are answered meanwhile, as a body may have thousands of series.
 */
export async function takeChanges(batch: SampleBatch): Promise<Taken> {
  const taken = noneTaken();
  const split = splitBySeries({ ...batch, series: batch.series.slice() });
  batch.rowCount = 0;
  batch.series.length = 0;
  batch.indexes.clear();
  for await (const one of inTurns(split, SERIES_PER_TURN)) {
    if (one.timeMs.length <= SORTED_PER_TURN || isStorable(one)) take(one, taken);
    else await takeLong(one, taken);
  }
  return taken;
}

/** Whether all samples can be stored as they are. */
function isStorable({ timeMs, value }: SampleChange): boolean {
  const { length } = timeMs;
  return isAllFinite(value, 0, length) && isRising(timeMs, 0, length, Number.NEGATIVE_INFINITY);
}

const SERIES_PER_TURN = 1000;
/** How many samples of one series are sorted without a pause: about 10 ms of work. */
const SORTED_PER_TURN = 50_000;

// Sorts pieces and merges them; of equal times, the later piece's sample counts.
async function takeLong(one: SampleChange, { changes, counts }: Taken): Promise<void> {
  let pieces: SampleChange[] = [];
  for (let from = 0; from < one.timeMs.length; from += SORTED_PER_TURN) {
    if (from > 0) await nextTurn();
    const [timeMs, value] = [one.timeMs, one.value].map((column) => column.subarray(from, from + SORTED_PER_TURN));
    const piece = noneTaken();
    take({ ...one, timeMs: timeMs!, value: value! }, piece);
    counts.missing += piece.counts.missing;
    counts.duplicate += piece.counts.duplicate;
    pieces.push(...piece.changes);
  }
  while (pieces.length > 1) {
    const merged: SampleChange[] = [];
    for (let n = 0; n < pieces.length; n += 2) {
      const [earlier, later] = [pieces[n]!, pieces[n + 1]];
      const both = later === undefined ? earlier : mergeChanges(earlier, later);
      counts.duplicate += earlier.timeMs.length + (later?.timeMs.length ?? 0) - both.timeMs.length;
      merged.push(both);
      await nextTurn();
    }
    pieces = merged;
  }
  counts.samples += pieces[0]?.timeMs.length ?? 0;
  changes.push(...pieces);
}

function mergeChanges(earlier: SampleChange, later: SampleChange): SampleChange {
  const length = earlier.timeMs.length + later.timeMs.length;
  const [timeMs, value] = [new Float64Array(length), new Float64Array(length)];
  let [count, e, l] = [0, 0, 0];
  while (e < earlier.timeMs.length || l < later.timeMs.length) {
    const earlierMs = earlier.timeMs[e] ?? Number.POSITIVE_INFINITY;
    const laterMs = later.timeMs[l] ?? Number.POSITIVE_INFINITY;
    const isLater = laterMs <= earlierMs;
    timeMs[count] = isLater ? laterMs : earlierMs;
    value[count++] = isLater ? later.value[l]! : earlier.value[e]!;
    if (laterMs <= earlierMs) l++;
    if (earlierMs <= laterMs) e++;
  }
  return { ...earlier, timeMs: timeMs.subarray(0, count), value: value.subarray(0, count) };
}

/** Like `takeChanges` for a small batch, but keeps the indexes of its series for later rows. */
export function takeRows(batch: SampleBatch): Taken {
  const taken = noneTaken();
  for (const one of splitBySeries(batch)) take(one, taken);
  batch.rowCount = 0;
  return taken;
}

function noneTaken(): Taken {
  return { changes: [], counts: { samples: 0, missing: 0, duplicate: 0 } };
}

function take(one: SampleChange, { changes, counts }: Taken): void {
  const count = one.timeMs.length;
  if (isAllFinite(one.value, 0, count)) {
    const left = sortByTime(one);
    counts.samples += left;
    counts.duplicate += count - left;
    changes.push(left === count ? one : { ...one, ...sliceColumns(one, 0, left) });
    return;
  }
  const { series, missing, duplicateMs } = sortInput(one, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  counts.missing += missing;
  counts.duplicate += duplicateMs.length;
  counts.samples += series.timeMs.length;
  if (series.timeMs.length > 0) changes.push(series);
}

/**
 * Whether the rows from `from` on can all be stored as they are: each has a value, and the times of each series
 * ascend.
 */
export function isSound({ rowCount, seriesIndex, timeMs, value, series }: SampleBatch, from: number): boolean {
  if (scratch.slots.length < series.length) growScratch(series.length);
  const { slots, lastMs } = scratch;
  let isGood = true;
  for (let row = from; row < rowCount && isGood; row++) {
    const index = seriesIndex[row]!;
    isGood = value[row]! - value[row]! === 0 && (slots[index] === 0 || timeMs[row]! > lastMs[index]!);
    slots[index] = 1;
    lastMs[index] = timeMs[row]!;
  }
  for (let row = from; row < rowCount; row++) slots[seriesIndex[row]!] = 0;
  return isGood;
}

/**
 * A counting sort: the rows of each series that has any, in order of arrival. There may be many more series than rows.
 * All are sorted at once; of what is yielded later, only the names are read from the batch.
 */
function splitBySeries({ rowCount, seriesIndex, timeMs, value, series }: SampleBatch): Iterable<SampleChange> {
  if (scratch.slots.length < series.length) growScratch(series.length);
  const { slots } = scratch;
  const present: number[] = [];
  // `next[n]` is where the n-th present series goes on; the counts are first stored one place further.
  const next = new Int32Array(Math.min(series.length, rowCount) + 2);
  for (let row = 0; row < rowCount; row++) {
    const index = seriesIndex[row]!;
    if (slots[index] === 0) slots[index] = present.push(index);
    next[slots[index]! + 1]!++;
  }
  for (let slot = 1; slot <= present.length; slot++) next[slot + 1]! += next[slot]!;
  const sortedTimes = new Float64Array(rowCount);
  const sortedValues = new Float64Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const to = next[slots[seriesIndex[row]!]!]!++;
    // A time of −0 is 0.
    sortedTimes[to] = timeMs[row]! + 0;
    sortedValues[to] = value[row]!;
  }
  for (const index of present) slots[index] = 0;
  // By now the start of each series has moved to its end, which is the start of the next.
  return changesOf(series, present, next, { timeMs: sortedTimes, value: sortedValues });
}

/** @param starts where each of the present series starts in the columns, and the end. */
function* changesOf(
  series: readonly SeriesReference[],
  present: readonly number[],
  starts: Int32Array,
  columns: Columns,
): Generator<SampleChange> {
  for (const [n, index] of present.entries()) {
    const { timeseriesId, metric } = series[index]!;
    yield { timeseriesId, metric, ...sliceColumns(columns, starts[n]!, starts[n + 1]!) };
  }
}

// By index of a series; the slots are 0 between calls. Shared by all calls, which are synchronous.
const scratch = { slots: new Int32Array(64), lastMs: new Float64Array(64) };

function growScratch(seriesCount: number): void {
  scratch.slots = new Int32Array(2 * seriesCount);
  scratch.lastMs = new Float64Array(2 * seriesCount);
}
