import type { Chunk } from '../../core/chunk.js';
import { DoubleList } from '../../core/list.js';
import type { Columns, Series } from '../../core/series.js';
import { currentArena } from '../../kernels/arena.js';
import { areValidTimes, isAllFinite, isRising } from '../../kernels/check.js';
import { clearZeroSign, copyInto } from '../../kernels/columns.js';
import type { State } from '../../operations/operation.js';
import type { RunSettings } from '../options.js';
import { type SourceCounts, zeroSourceCounts } from './counts.js';
import { chunkOver, deliver, type Inlet, scratchChunk } from './node.js';

const GREATEST_MS = 0; // the greatest time seen
const PROMISED_MS = 1; // the last advance

/** What the caller of `pushRising` has checked: that times rise and are valid; with `all`, that no value is missing. */
export type Known = 'nothing' | 'times' | 'all';

/** Fewer samples than this are taken one by one. */
const RUN_MIN = 8;

/**
 * A series on its way in: drops what is missing or outside the run, holds samples back until their order is
 * certain, and gives them to the steps in time order, each time once.
 */
export class Source {
  readonly counts: SourceCounts = zeroSourceCounts();
  readonly outlets: Inlet[] = [];
  readonly #slots = new Float64Array(2).fill(Number.NEGATIVE_INFINITY);
  /** Samples held back, in time order. */
  readonly #pendingTimes = new DoubleList();
  readonly #pendingValues = new DoubleList();
  readonly state: State = { slots: this.#slots, lists: [this.#pendingTimes, this.#pendingValues] };
  readonly #fromMs: number;
  readonly #untilMs: number;
  readonly #allowedLatenessMs: number;
  /** Samples on their way to the steps, in scratch columns. */
  readonly #out: Chunk;
  /** A whole chunk of the input, in the same scratch columns or in a loaded series. */
  readonly #whole: Chunk;
  #lateTimes: number[] = [];
  #lateValues: number[] = [];

  constructor(settings: RunSettings, column: () => Float64Array) {
    this.#fromMs = settings.fromMs;
    this.#untilMs = settings.untilMs ?? Number.POSITIVE_INFINITY;
    this.#allowedLatenessMs = settings.allowedLatenessMs;
    this.#out = scratchChunk({ column });
    this.#whole = chunkOver(this.#out.timeMs, this.#out.value);
  }

  /** The most samples in one chunk. */
  get chunkLength(): number {
    return this.#out.timeMs.length;
  }

  /** Takes samples of two columns, in any order within the allowed lateness. */
  push(columns: Columns, start = 0, end = columns.timeMs.length): void {
    this.counts.samplesIn += end - start;
    const { chunkLength } = this;
    for (let from = start; from < end; from += chunkLength) {
      const to = Math.min(from + chunkLength, end);
      if (to - from >= RUN_MIN && this.#pushRun(columns, from, to)) continue;
      for (let i = from; i < to; i++) this.#pushOne(columns, i);
    }
    this.#flush();
  }

  /**
   * Takes samples `from..to` (exclusive, at most one chunk) of a series whose times must rise. If they do not, it takes
   * nothing and returns false.
   */
  pushRising(series: Series, from: number, to: number, known: Known): boolean {
    const count = to - from;
    const inputTimeMs = from === 0 ? series.timeMs : series.timeMs.subarray(from);
    const inputValue = series.value.subarray(from);
    // Copying columns into the arena and checking them there costs less than checking them where they are. A loaded
    // series is in the arena already.
    const isHere = known === 'all' && inputValue.buffer === currentArena().buffer;
    const timeMs = isHere ? inputTimeMs : this.#out.timeMs;
    const value = isHere ? inputValue : this.#out.value;
    if (!isHere) copyInto(timeMs, inputTimeMs, count);
    if (known === 'nothing' && !areValidTimes(timeMs, count, this.#slots[GREATEST_MS]!)) return false;
    if (!isHere) copyInto(value, inputValue, count);
    const areInputTimes = isHere || !clearZeroSign(timeMs, count);
    this.counts.samplesIn += count;
    this.#slots[GREATEST_MS] = timeMs[count - 1]!;
    const isInRun = timeMs[0]! >= this.#fromMs && timeMs[count - 1]! < this.#untilMs;
    if (isInRun && (known === 'all' || isAllFinite(value, 0, count))) {
      this.#giveWhole(timeMs, value, count, areInputTimes ? inputTimeMs : undefined);
    } else this.#pushInRun(timeMs, value, count);
    return true;
  }

  /** No sample before this time will come. */
  advance(timeMs: number): void {
    this.#slots[PROMISED_MS] = Math.max(this.#slots[PROMISED_MS]!, timeMs);
    this.#release(this.#watermarkMs());
    this.#flush();
  }

  close(): void {
    this.#release(Number.POSITIVE_INFINITY);
    this.#flush();
  }

  /** Samples that have come too late since the last call. */
  takeLate(): { timeMs: Float64Array; value: Float64Array } | undefined {
    if (this.#lateTimes.length === 0) return undefined;
    const taken = { timeMs: Float64Array.from(this.#lateTimes), value: Float64Array.from(this.#lateValues) };
    this.#lateTimes = [];
    this.#lateValues = [];
    return taken;
  }

  /** Writes the source's watermark to `marks[at]`, because V8 would box a returned number. */
  writeWatermark(marks: Float64Array, at: number): void {
    marks[at] = this.#watermarkMs();
  }

  /** Writes the greatest time of a sample that is held back and is certain to be delivered; −Infinity without one. */
  writeComing(marks: Float64Array, at: number): void {
    const { length } = this.#pendingTimes;
    marks[at] = length === 0 ? Number.NEGATIVE_INFINITY : this.#pendingTimes.at(length - 1);
  }

  /** Forgets everything, as if nothing had come yet. */
  reset(): void {
    this.#slots.fill(Number.NEGATIVE_INFINITY);
    this.#pendingTimes.clear();
    this.#pendingValues.clear();
    this.#out.count = 0;
    Object.assign(this.#whole, this.#out); // lets go of the input's columns
    this.takeLate();
  }

  #watermarkMs(): number {
    return Math.max(this.#slots[GREATEST_MS]! - this.#allowedLatenessMs, this.#slots[PROMISED_MS]!);
  }

  // Takes columns and an index, because V8 would box numbers passed to it.
  #pushOne(columns: Columns, index: number): void {
    const slots = this.#slots;
    const timeMs = columns.timeMs[index]! + 0; // -0 becomes 0
    const value = columns.value[index]!;
    if (value - value !== 0) this.counts.missing++;
    else if (timeMs < this.#fromMs || timeMs >= this.#untilMs) {
      this.counts.outOfRun++;
      // The sample is left out, but it shows how far time has come.
      if (timeMs > slots[GREATEST_MS]!) slots[GREATEST_MS] = timeMs;
      this.#release(this.#watermarkMs());
    } else if (timeMs > slots[GREATEST_MS]! && timeMs >= slots[PROMISED_MS]!) {
      slots[GREATEST_MS] = timeMs;
      this.#pushNext(timeMs, value);
    } else if (timeMs < this.#watermarkMs()) {
      this.counts.late++;
      this.#lateTimes.push(timeMs);
      this.#lateValues.push(value);
    } else if (this.#insertPending(timeMs, value)) this.counts.duplicate++;
  }

  // Takes a sample that is later than all others, and holds it back until nothing can replace it any more.
  #pushNext(timeMs: number, value: number): void {
    const times = this.#pendingTimes;
    const values = this.#pendingValues;
    if (this.#allowedLatenessMs === 0 && times.length === 1) {
      // The usual case: this sample takes the place of the only one held back.
      this.#give(times.at(0), values.at(0));
      times.set(0, timeMs);
      values.set(0, value);
    } else {
      this.#release(this.#watermarkMs());
      times.push(timeMs);
      values.push(value);
    }
  }

  // The usual case: takes samples that are in order, with nothing missing, a chunk at a time. Takes nothing and returns
  // false otherwise.
  #pushRun({ timeMs, value }: Columns, from: number, to: number): boolean {
    const slots = this.#slots;
    const out = this.#out;
    const last = to - 1;
    const lastMs = timeMs[last]!;
    if (timeMs[from]! < Math.max(this.#fromMs, slots[PROMISED_MS]!) || lastMs >= this.#untilMs) return false;
    // There may be a time of -0, which `#pushOne` turns into 0.
    if (timeMs[from]! <= 0 && lastMs >= 0) return false;
    if (value[last]! - value[last]! !== 0) return false;
    // Empties the scratch columns, where the samples are then checked. Without allowed lateness at most one sample is
    // held back; these follow it, and the last of them is held back in its place.
    this.#flush();
    const isLateAllowed = this.#allowedLatenessMs > 0;
    const held = isLateAllowed ? 0 : this.#pendingTimes.length;
    const end = held + last - from;
    copyTo(out.timeMs, held, timeMs, from, last);
    copyTo(out.value, held, value, from, last);
    if (!isRising(out.timeMs, held, end, slots[GREATEST_MS]!) || !(lastMs > out.timeMs[end - 1]!)) return false;
    if (!isAllFinite(out.value, held, end)) return false;
    slots[GREATEST_MS] = lastMs;
    if (isLateAllowed) {
      this.#pendingTimes.append(timeMs, from, to);
      this.#pendingValues.append(value, from, to);
      this.#release(this.#watermarkMs());
      return true;
    }
    this.#release(this.#watermarkMs());
    out.count = end;
    this.#flush();
    this.#pendingTimes.push(lastMs);
    this.#pendingValues.push(value[last]!);
    return true;
  }

  #giveWhole(timeMs: Float64Array, value: Float64Array, count: number, inputTimeMs: Float64Array | undefined): void {
    this.counts.samplesOut += count;
    const whole = this.#whole;
    whole.timeMs = timeMs;
    whole.inputTimeMs = inputTimeMs;
    whole.value = value;
    // A step with two inputs may hold this chunk until the other input's comes: this source gives none before that.
    whole.isReadOnly = true;
    whole.count = count;
    deliver(this.outlets, whole);
  }

  #pushInRun(timeMs: Float64Array, value: Float64Array, count: number): void {
    for (let i = 0; i < count; i++) {
      const x = value[i]!;
      if (x - x !== 0) this.counts.missing++;
      else if (timeMs[i]! < this.#fromMs || timeMs[i]! >= this.#untilMs) this.counts.outOfRun++;
      else this.#give(timeMs[i]!, x);
    }
    this.#flush();
  }

  // Passes on the samples held back that lie before a time.
  #release(limitMs: number): void {
    const times = this.#pendingTimes;
    const values = this.#pendingValues;
    let count = 0;
    for (; count < times.length && times.at(count) < limitMs; count++) this.#give(times.at(count), values.at(count));
    times.shift(count);
    values.shift(count);
  }

  #give(timeMs: number, value: number): void {
    const out = this.#out;
    out.timeMs[out.count] = timeMs;
    out.value[out.count] = value;
    if (++out.count === out.timeMs.length) this.#flush();
  }

  #flush(): void {
    const out = this.#out;
    this.counts.samplesOut += out.count;
    deliver(this.outlets, out);
    out.count = 0;
  }

  // Inserts a sample among those held back, usually near their end. Returns true if it replaced one.
  #insertPending(timeMs: number, value: number): boolean {
    const index = this.#pendingTimes.firstAtOrAfter(timeMs);
    if (index < this.#pendingTimes.length && this.#pendingTimes.at(index) === timeMs) {
      this.#pendingValues.set(index, value);
      return true;
    }
    this.#pendingTimes.insert(index, timeMs);
    this.#pendingValues.insert(index, value);
    return false;
  }
}

// Creating a view pays only for many values.
function copyTo(target: Float64Array, at: number, source: Float64Array, from: number, to: number): void {
  if (to - from >= 32) target.set(source.subarray(from, to), at);
  else for (let i = from; i < to; i++) target[at + i - from] = source[i]!;
}
