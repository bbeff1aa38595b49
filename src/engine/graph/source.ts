import type { Chunk } from '../../core/chunk.js';
import { describeValue, InputError } from '../../core/errors.js';
import { DoubleList } from '../../core/list.js';
import { type Series, seriesName, TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { currentArena } from '../../kernels/arena.js';
import { isAllFinite, isRisingIn } from '../../kernels/check.js';
import { copyInto } from '../../kernels/columns.js';
import type { RunSettings } from '../options.js';
import { type SourceCounts, zeroSourceCounts } from './counts.js';
import { chunkOver, deliver, type Inlet, scratchChunk } from './node.js';

export interface SourceState {
  /** GREATEST_MS and PROMISED_MS. */
  readonly slots: Float64Array;
  /** Times and values held back, in time order. */
  readonly pendingTimes: DoubleList;
  readonly pendingValues: DoubleList;
}

const GREATEST_MS = 0; // the greatest time seen
const PROMISED_MS = 1; // the last advance

type Columns = Pick<Series, 'timeMs' | 'value'>;

/** What the caller of `pushRising` knows: that the times rise and are possible, and that no value is missing. */
export type Known = 'nothing' | 'times' | 'all';

/** Fewer samples than this are taken one by one. */
const RUN_MIN = 8;

/** All that a source works with, for the functions below. */
interface Gate extends SourceState {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly allowedLatenessMs: number;
  readonly counts: SourceCounts;
  readonly outlets: Inlet[];
  /** Samples on their way to the steps, in scratch columns. */
  readonly out: Chunk;
  /** A whole chunk of the caller's: its own times, and its values in the same scratch column. */
  readonly passing: Chunk;
  readonly late: { timeMs: number[]; value: number[] };
}

/**
 * A series on its way in: drops what is missing or outside the run, holds samples back until their order is
 * certain, and gives them to the steps in time order, each time once.
 */
export class Source {
  readonly counts: SourceCounts;
  readonly outlets: Inlet[];
  readonly state: SourceState;
  readonly #gate: Gate;

  constructor(settings: RunSettings, column: () => Float64Array) {
    const out = scratchChunk({ column });
    const gate: Gate = {
      fromMs: settings.fromMs,
      untilMs: settings.untilMs ?? Number.POSITIVE_INFINITY,
      allowedLatenessMs: settings.allowedLatenessMs,
      counts: zeroSourceCounts(),
      outlets: [],
      out,
      passing: chunkOver(out.timeMs, out.value),
      late: { timeMs: [], value: [] },
      slots: new Float64Array(2).fill(Number.NEGATIVE_INFINITY),
      pendingTimes: new DoubleList(),
      pendingValues: new DoubleList(),
    };
    this.counts = gate.counts;
    this.outlets = gate.outlets;
    this.state = gate;
    this.#gate = gate;
  }

  /** The most samples that go on together. */
  get chunkLength(): number {
    return this.#gate.out.timeMs.length;
  }

  /** Takes samples `from..to` of two columns (all of them by default), in any order within the allowed lateness. */
  push(columns: Columns, from = 0, to = columns.timeMs.length): void {
    push(this.#gate, columns, from, to);
  }

  /**
   * Takes samples `from..to` of a series (at most one chunk) that must rise in time; false when they do not, with
   * nothing taken.
   */
  pushRising(series: Series, from: number, to: number, known: Known): boolean {
    return pushRising(this.#gate, series, from, to, known);
  }

  /** No sample before this time will come. */
  advance(timeMs: number): void {
    const { slots } = this.#gate;
    slots[PROMISED_MS] = Math.max(slots[PROMISED_MS]!, timeMs);
    release(this.#gate, false);
    flush(this.#gate);
  }

  close(): void {
    release(this.#gate, true);
    flush(this.#gate);
  }

  /** Samples that came too late, since this was last asked. */
  takeLate(): { timeMs: Float64Array; value: Float64Array } | undefined {
    return takeLate(this.#gate);
  }

  /** Writes to `marks[at]` the time before which no sample is still to be given: a number returned would be boxed. */
  tellWatermark(marks: Float64Array, at: number): void {
    marks[at] = watermarkMs(this.#gate);
  }

  /** Forgets everything, as if nothing had come yet. */
  reset(): void {
    reset(this.#gate);
  }
}

function reset(gate: Gate): void {
  Object.assign(gate.counts, zeroSourceCounts());
  gate.slots.fill(Number.NEGATIVE_INFINITY);
  gate.pendingTimes.clear();
  gate.pendingValues.clear();
  gate.out.count = 0;
  Object.assign(gate.passing, gate.out); // the caller's own are not held on to
  takeLate(gate);
}

function watermarkMs({ slots, allowedLatenessMs }: Gate): number {
  return Math.max(slots[GREATEST_MS]! - allowedLatenessMs, slots[PROMISED_MS]!);
}

function push(gate: Gate, columns: Columns, start: number, end: number): void {
  gate.counts.samplesIn += end - start;
  const chunkLength = gate.out.timeMs.length;
  for (let from = start; from < end; from += chunkLength) {
    const to = Math.min(from + chunkLength, end);
    if (to - from >= RUN_MIN && pushRun(gate, columns, from, to)) continue;
    for (let i = from; i < to; i++) pushOne(gate, columns, i);
  }
  flush(gate);
}

// Takes the columns, not the numbers, which would be boxed on their way.
function pushOne(gate: Gate, columns: Columns, index: number): void {
  const { counts, slots, late, pendingTimes, pendingValues } = gate;
  const timeMs = columns.timeMs[index]!;
  const value = columns.value[index]!;
  if (value - value !== 0) counts.missing++;
  else if (timeMs < gate.fromMs || timeMs >= gate.untilMs) {
    counts.outOfRun++;
    // It is left out, but it has been seen: time has come this far.
    if (timeMs > slots[GREATEST_MS]!) slots[GREATEST_MS] = timeMs;
    release(gate, false);
  } else if (timeMs > slots[GREATEST_MS]! && timeMs >= slots[PROMISED_MS]!) {
    slots[GREATEST_MS] = timeMs;
    if (gate.allowedLatenessMs === 0 && pendingTimes.length === 1) {
      // The one sample that is held back makes room for this one.
      give(gate, pendingTimes.at(0), pendingValues.at(0));
      pendingTimes.set(0, timeMs);
      pendingValues.set(0, value);
    } else {
      release(gate, false);
      pendingTimes.push(timeMs);
      pendingValues.push(value);
    }
  } else if (timeMs < watermarkMs(gate)) {
    counts.late++;
    late.timeMs.push(timeMs);
    late.value.push(value);
  } else if (insertPending(gate, timeMs, value)) counts.duplicate++;
}

// Samples in order, with nothing missing: the usual case, taken a chunk at a time. False when they are not, with
// nothing taken.
function pushRun(gate: Gate, { timeMs, value }: Columns, from: number, to: number): boolean {
  const { slots, allowedLatenessMs, out, pendingTimes, pendingValues } = gate;
  const last = to - 1;
  const lastMs = timeMs[last]!;
  if (timeMs[from]! < Math.max(gate.fromMs, slots[PROMISED_MS]!) || lastMs >= gate.untilMs) return false;
  if (value[last]! - value[last]! !== 0) return false;
  // What waits there goes on, so that the columns are free to look in. Where nothing may be late one sample at most
  // is held back, which these follow, and all of them but the last go on.
  flush(gate);
  const held = allowedLatenessMs > 0 ? 0 : pendingTimes.length;
  const end = held + last - from;
  copyTo(out.timeMs, held, timeMs, from, last);
  copyTo(out.value, held, value, from, last);
  if (!isRisingIn(out.timeMs, held, end, slots[GREATEST_MS]!) || !(lastMs > out.timeMs[end - 1]!)) return false;
  if (!isAllFinite(out.value, held, end)) return false;
  slots[GREATEST_MS] = lastMs;
  if (allowedLatenessMs > 0) {
    pendingTimes.append(timeMs, from, to);
    pendingValues.append(value, from, to);
    release(gate, false);
    return true;
  }
  release(gate, false);
  out.count = end;
  flush(gate);
  pendingTimes.push(lastMs);
  pendingValues.push(value[last]!);
  return true;
}

// A view is worth its making only for many.
function copyTo(target: Float64Array, at: number, source: Float64Array, from: number, to: number): void {
  if (to - from >= 32) target.set(source.subarray(from, to), at);
  else for (let i = from; i < to; i++) target[at + i - from] = source[i]!;
}

function pushRising(gate: Gate, series: Series, from: number, to: number, known: Known): boolean {
  const { counts, slots, out, passing } = gate;
  const firstMs = series.timeMs[from]!;
  const lastMs = series.timeMs[to - 1]!;
  if (known === 'nothing') {
    if (!isRisingIn(series.timeMs, from, to, slots[GREATEST_MS]!)) return false;
    // Rising times lie within the known years when the first and the last do.
    if (firstMs < TIME_MS_MIN || lastMs >= TIME_MS_END) return false;
  }
  const count = to - from;
  counts.samplesIn += count;
  slots[GREATEST_MS] = lastMs;
  // To their ends: a result that shares them may go on past this chunk.
  const timeMs = series.timeMs.subarray(from);
  const value = series.value.subarray(from);
  // The values go where steps may write over them, unless they lie where kernels read them. The times stay as they lie.
  const isHere = known === 'all' && value.buffer === currentArena().buffer;
  if (!isHere) copyInto(out.value, value, count);
  const isWhole = firstMs >= gate.fromMs && lastMs < gate.untilMs;
  if (isWhole && (known === 'all' || isAllFinite(out.value, 0, count))) {
    counts.samplesOut += count;
    passing.timeMs = timeMs;
    passing.value = isHere ? value : out.value;
    passing.lastingTimeMs = timeMs;
    passing.lastingValue = value;
    passing.count = count;
    deliver(gate.outlets, passing);
    return true;
  }
  for (let i = 0; i < count; i++) {
    const x = value[i]!;
    if (x - x !== 0) counts.missing++;
    else if (timeMs[i]! < gate.fromMs || timeMs[i]! >= gate.untilMs) counts.outOfRun++;
    else give(gate, timeMs[i]!, x);
  }
  flush(gate);
  return true;
}

// Gives the samples held back that lie before the watermark, at the end all of them.
function release(gate: Gate, isEnd: boolean): void {
  const { pendingTimes, pendingValues } = gate;
  const limitMs = isEnd ? Number.POSITIVE_INFINITY : watermarkMs(gate);
  let count = 0;
  for (; count < pendingTimes.length && pendingTimes.at(count) < limitMs; count++) {
    give(gate, pendingTimes.at(count), pendingValues.at(count));
  }
  pendingTimes.shift(count);
  pendingValues.shift(count);
}

function give(gate: Gate, timeMs: number, value: number): void {
  const { out } = gate;
  out.timeMs[out.count] = timeMs;
  out.value[out.count] = value;
  if (++out.count === out.timeMs.length) flush(gate);
}

function flush({ counts, outlets, out }: Gate): void {
  counts.samplesOut += out.count;
  deliver(outlets, out);
  out.count = 0;
}

function takeLate({ late }: Gate): { timeMs: Float64Array; value: Float64Array } | undefined {
  if (late.timeMs.length === 0) return undefined;
  const taken = { timeMs: Float64Array.from(late.timeMs), value: Float64Array.from(late.value) };
  late.timeMs = [];
  late.value = [];
  return taken;
}

// Puts a sample at its place among those held back, most likely near their end; true when it replaced one.
function insertPending({ pendingTimes, pendingValues }: Gate, timeMs: number, value: number): boolean {
  const index = pendingTimes.firstAtOrAfter(timeMs);
  if (index < pendingTimes.length && pendingTimes.at(index) === timeMs) {
    pendingValues.set(index, value);
    return true;
  }
  pendingTimes.insert(index, timeMs);
  pendingValues.insert(index, value);
  return false;
}

/** Checks that `inputs` is a list of series. @throws InputError */
export function checkList(inputs: unknown): void {
  if (Array.isArray(inputs)) return;
  const expected = 'an array of series {timeseriesId, metric, timeMs, value}';
  throw new InputError('input.columns', `inputs: expected ${expected}, received ${describeValue(inputs)}`);
}

/** Checks that the columns of a series fit together. @throws InputError */
export function checkColumns(series: Series): void {
  if (!series) checkList(series);
  const { timeMs, value } = series;
  if (!(timeMs instanceof Float64Array) || !(value instanceof Float64Array)) {
    throw new InputError('input.columns', `${seriesName(series)}: expected timeMs and value as Float64Array`);
  }
  if (timeMs.length !== value.length) {
    const expected = `expected columns of equal length, received ${timeMs.length} times and ${value.length} values`;
    throw new InputError('input.columns', `${seriesName(series)}: ${expected}`);
  }
}

/** Checks every time of a series before any of it is taken. @throws InputError naming the index and what came. */
export function checkTimes(series: Series): void {
  const { timeMs } = series;
  const count = timeMs.length;
  // Rising times lie within the known years when the first and the last do, and of many that is told faster.
  const isMany = count >= RUN_MIN && timeMs[0]! >= TIME_MS_MIN && timeMs[count - 1]! < TIME_MS_END;
  if (isMany && isRisingIn(timeMs, 0, count, Number.NEGATIVE_INFINITY)) return;
  for (let i = 0; i < count; i++) {
    const t = timeMs[i]!;
    if (t >= TIME_MS_MIN && t < TIME_MS_END) continue;
    const expected = 'epoch milliseconds within the years 0001 to 9999';
    throw new InputError('input.time', `${seriesName(series)}: expected ${expected}, received ${t} at index ${i}`);
  }
}
