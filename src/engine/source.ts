import { CHUNK_LENGTH, type Chunk } from '../core/chunk.js';
import { InputError } from '../core/errors.js';
import { DoubleList } from '../core/list.js';
import { type Series, seriesName, TIME_MS_END, TIME_MS_MIN } from '../core/series.js';
import { firstNotRising, isAllFinite, isRising } from '../kernels/check.js';
import { type SourceCounts, zeroSourceCounts } from './counts.js';
import { copyInto, deliver, type Inlet, scratchChunk } from './node.js';
import type { RunSettings } from './options.js';

/**
 * A series on its way in: drops what is missing or outside the run, holds samples back until their order is
 * certain, and gives them to the steps in time order, each time once.
 */
export interface Source {
  readonly counts: SourceCounts;
  readonly outlets: Inlet[];
  /** Takes samples in any order within the allowed lateness. */
  readonly push: (series: Series) => void;
  /**
   * Takes samples `from..to` of a series (at most one chunk) that must rise in time; false when they do not, with
   * nothing taken. With `areTimesChecked` the caller knows that they do.
   */
  readonly pushRising: (series: Series, from: number, to: number, areTimesChecked: boolean) => boolean;
  /** No sample before this time will come. */
  readonly advance: (timeMs: number) => void;
  readonly close: () => void;
  /** Samples that came too late, since this was last asked. */
  readonly takeLate: () => { timeMs: Float64Array; value: Float64Array } | undefined;
  /** No sample before this time is still to be given to the steps. */
  readonly watermarkMs: () => number;
  readonly state: SourceState;
}

export interface SourceState {
  /** GREATEST_MS and PROMISED_MS. */
  readonly slots: Float64Array;
  /** Times and values held back, in time order. */
  readonly pendingTimes: DoubleList;
  readonly pendingValues: DoubleList;
}

const GREATEST_MS = 0; // the greatest time seen
const PROMISED_MS = 1; // the last advance

export function createSource(settings: RunSettings, nextColumn: () => number): Source {
  const { fromMs, allowedLatenessMs } = settings;
  const untilMs = settings.untilMs ?? Number.POSITIVE_INFINITY;
  const counts = zeroSourceCounts();
  const outlets: Inlet[] = [];
  const out: Chunk = scratchChunk({ nextColumn });
  const passing: Chunk = { ...out, areTimesLasting: true };
  const slots = new Float64Array(2).fill(Number.NEGATIVE_INFINITY);
  const pendingTimes = new DoubleList();
  const pendingValues = new DoubleList();
  let lateTimes: number[] = [];
  let lateValues: number[] = [];

  const watermarkMs = (): number => Math.max(slots[GREATEST_MS]! - allowedLatenessMs, slots[PROMISED_MS]!);

  function flush(): void {
    counts.samplesOut += out.count;
    deliver(outlets, out);
    out.count = 0;
  }

  function give(timeMs: number, value: number): void {
    out.timeMs[out.count] = timeMs;
    out.value[out.count] = value;
    if (++out.count === CHUNK_LENGTH) flush();
  }

  function giveRun(timeMs: Float64Array, value: Float64Array, from: number, to: number): void {
    for (let at = from; at < to; ) {
      const length = Math.min(to - at, CHUNK_LENGTH - out.count);
      out.timeMs.set(timeMs.subarray(at, at + length), out.count);
      out.value.set(value.subarray(at, at + length), out.count);
      out.count += length;
      at += length;
      if (out.count === CHUNK_LENGTH) flush();
    }
  }

  function release(): void {
    const limitMs = watermarkMs();
    let count = 0;
    for (; count < pendingTimes.length && pendingTimes.at(count) < limitMs; count++) {
      give(pendingTimes.at(count), pendingValues.at(count));
    }
    pendingTimes.shift(count);
    pendingValues.shift(count);
  }

  function admit(timeMs: number, value: number): void {
    if (value - value !== 0) counts.missing++;
    else if (timeMs < fromMs || timeMs >= untilMs) counts.outOfRun++;
    else if (timeMs < watermarkMs()) {
      counts.late++;
      lateTimes.push(timeMs);
      lateValues.push(value);
    } else if (timeMs > slots[GREATEST_MS]!) {
      slots[GREATEST_MS] = timeMs;
      release();
      pendingTimes.push(timeMs);
      pendingValues.push(value);
    } else if (insertPending(pendingTimes, pendingValues, timeMs, value)) counts.duplicate++;
  }

  // Runs of samples in order, with nothing missing: the usual case, taken a chunk at a time.
  function admitRun(series: Series, from: number, to: number): boolean {
    const { timeMs, value } = series;
    if (firstNotRising(timeMs, from, to, slots[GREATEST_MS]!) < to || !isAllFinite(value, from, to)) return false;
    if (timeMs[from]! < Math.max(fromMs, slots[PROMISED_MS]!) || timeMs[to - 1]! >= untilMs) return false;
    slots[GREATEST_MS] = timeMs[to - 1]!;
    if (allowedLatenessMs > 0) {
      pendingTimes.append(timeMs, from, to);
      pendingValues.append(value, from, to);
      release();
      return true;
    }
    release();
    giveRun(timeMs, value, from, to - 1);
    pendingTimes.push(timeMs[to - 1]!);
    pendingValues.push(value[to - 1]!);
    return true;
  }

  function push(series: Series): void {
    const { timeMs, value } = series;
    counts.samplesIn += timeMs.length;
    for (let from = 0; from < timeMs.length; from += CHUNK_LENGTH) {
      const to = Math.min(from + CHUNK_LENGTH, timeMs.length);
      if (to - from >= 8 && admitRun(series, from, to)) continue;
      for (let i = from; i < to; i++) admit(timeMs[i]!, value[i]!);
    }
    flush();
  }

  function pushRising(series: Series, from: number, to: number, areTimesChecked: boolean): boolean {
    const timeMs = series.timeMs.subarray(from, to);
    const count = to - from;
    const firstMs = timeMs[0]!;
    const lastMs = timeMs[count - 1]!;
    if (!areTimesChecked) {
      copyInto(out.timeMs, timeMs, count);
      if (!isRising(out.timeMs, count, slots[GREATEST_MS]!)) return false;
      // Rising times lie within the known years when the first and the last do.
      if (firstMs < TIME_MS_MIN || lastMs >= TIME_MS_END) return false;
    }
    counts.samplesIn += count;
    slots[GREATEST_MS] = lastMs;
    copyInto(out.value, series.value.subarray(from, to), count);
    if (isAllFinite(out.value, 0, count) && firstMs >= fromMs && lastMs < untilMs) {
      counts.samplesOut += count;
      passing.timeMs = timeMs;
      passing.count = count;
      deliver(outlets, passing);
      return true;
    }
    for (let i = 0; i < count; i++) {
      const x = series.value[from + i]!;
      if (x - x !== 0) counts.missing++;
      else if (timeMs[i]! < fromMs || timeMs[i]! >= untilMs) counts.outOfRun++;
      else give(timeMs[i]!, x);
    }
    flush();
    return true;
  }

  function advance(timeMs: number): void {
    slots[PROMISED_MS] = Math.max(slots[PROMISED_MS]!, timeMs);
    release();
    flush();
  }

  function close(): void {
    for (let i = 0; i < pendingTimes.length; i++) give(pendingTimes.at(i), pendingValues.at(i));
    pendingTimes.clear();
    pendingValues.clear();
    flush();
  }

  function takeLate(): { timeMs: Float64Array; value: Float64Array } | undefined {
    if (lateTimes.length === 0) return undefined;
    const late = { timeMs: Float64Array.from(lateTimes), value: Float64Array.from(lateValues) };
    lateTimes = [];
    lateValues = [];
    return late;
  }

  const state = { slots, pendingTimes, pendingValues };
  return { counts, outlets, push, pushRising, advance, close, takeLate, watermarkMs, state };
}

// Puts a sample at its place among those held back, most likely near their end; true when it replaced one.
function insertPending(times: DoubleList, values: DoubleList, timeMs: number, value: number): boolean {
  const index = times.firstAtOrAfter(timeMs);
  if (index < times.length && times.at(index) === timeMs) {
    values.set(index, value);
    return true;
  }
  times.insert(index, timeMs);
  values.insert(index, value);
  return false;
}

/** Checks that the columns of a series fit together. @throws InputError */
export function checkColumns(series: Series): void {
  const { timeMs, value } = series;
  const name = seriesName(series);
  if (!(timeMs instanceof Float64Array) || !(value instanceof Float64Array)) {
    throw new InputError('input.columns', `${name}: expected timeMs and value as Float64Array`);
  }
  if (timeMs.length !== value.length) {
    const received = `${timeMs.length} times and ${value.length} values`;
    throw new InputError('input.columns', `${name}: expected columns of equal length, received ${received}`);
  }
}

/** Checks every time of a series before any of it is taken. @throws InputError naming the index and what came. */
export function checkTimes(series: Series): void {
  const { timeMs } = series;
  for (let i = 0; i < timeMs.length; i++) {
    const t = timeMs[i]!;
    if (t >= TIME_MS_MIN && t < TIME_MS_END) continue;
    const expected = 'epoch milliseconds within the years 0001 to 9999';
    throw new InputError('input.time', `${seriesName(series)}: expected ${expected}, received ${t} at index ${i}`);
  }
}
