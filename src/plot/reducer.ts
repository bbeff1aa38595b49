import type { ChartLine } from './panels.js';

/** Several columns for each pixel of the widest chart. */
const COLUMNS_MAX = 4096;

/** A distance of more than this many usual steps is a gap. */
const GAP_STEPS = 3;

/**
 * Takes the samples of one series, however many, and keeps what a chart can show of them. Columns start as narrow as
 * possible and are merged in pairs when there are too many. So the time span need not be known beforehand, and memory
 * does not grow with the number of samples.
 */
export class Reducer {
  readonly #name: string;
  readonly #steps = new StepCounter();
  #columns = new Map<number, Column>();
  #widthMs = 2 ** -10;
  #lastIndex = Number.NaN;
  #lastColumn: Column | undefined;
  #sampleCount = 0;
  #isBinary = true;

  constructor(name: string) {
    this.#name = name;
  }

  add(timeMs: Float64Array, value: Float64Array): void {
    for (let i = 0; i < timeMs.length; i++) {
      const v = value[i]!;
      if (v - v !== 0) continue;
      const t = timeMs[i]!;
      this.#sampleCount++;
      this.#steps.add(t);
      if (v !== 0 && v !== 1) this.#isBinary = false;
      const index = Math.floor(t / this.#widthMs);
      if (index === this.#lastIndex && this.#lastColumn !== undefined) this.#lastColumn.add(t, v);
      else this.#addTo(index, t, v);
    }
  }

  line(): ChartLine {
    const counts = { sampleCount: this.#sampleCount, isBinary: this.#isBinary };
    return lineOf(this.#name, [...this.#columns.values()], GAP_STEPS * this.#steps.medianMs(), counts);
  }

  #addTo(index: number, t: number, v: number): void {
    const known = this.#columns.get(index);
    const column = known ?? new Column(t, v);
    if (known === undefined) this.#columns.set(index, column);
    else known.add(t, v);
    this.#lastIndex = index;
    this.#lastColumn = column;
    while (this.#columns.size > COLUMNS_MAX) this.#widen();
  }

  #widen(): void {
    this.#widthMs *= 2;
    const wide = new Map<number, Column>();
    for (const column of this.#columns.values()) {
      const index = Math.floor(column.firstMs / this.#widthMs);
      const known = wide.get(index);
      if (known === undefined) wide.set(index, column);
      else known.merge(column);
    }
    this.#columns = wide;
    this.#lastIndex = Number.NaN;
  }
}

function lineOf(
  name: string,
  columns: readonly Column[],
  gapMs: number,
  { sampleCount, isBinary }: Pick<ChartLine, 'sampleCount' | 'isBinary'>,
): ChartLine {
  const sorted = [...columns].sort((a, b) => a.firstMs - b.firstMs);
  const points: [timeMs: number, value: number][] = [];
  const gaps: number[] = [];
  let lastMs = Number.POSITIVE_INFINITY;
  for (const column of sorted) {
    // A gap inside a column is too narrow to be seen.
    if (column.firstMs - lastMs > gapMs) gaps.push(points.length);
    points.push(...column.points());
    lastMs = column.lastMs;
  }
  const isAfterGap = new Uint8Array(points.length);
  for (const at of gaps) isAfterGap[at] = 1;
  return {
    name,
    timeMs: Float64Array.from(points, ([timeMs]) => timeMs),
    value: Float64Array.from(points, ([, value]) => value),
    isAfterGap,
    sampleCount,
    min: sorted.reduce((least, { min }) => Math.min(least, min), Number.POSITIVE_INFINITY),
    max: sorted.reduce((greatest, { max }) => Math.max(greatest, max), Number.NEGATIVE_INFINITY),
    isBinary: isBinary && sampleCount > 0,
  };
}

/**
 * One column of a chart, of which at most four points are shown: the first, the least, the greatest and the last. A
 * line through them looks like the line through all samples.
 * Source: Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014.
 */
class Column {
  firstMs: number;
  lastMs: number;
  min: number;
  max: number;
  #first: number;
  #last: number;
  #minMs: number;
  #maxMs: number;

  constructor(timeMs: number, value: number) {
    this.firstMs = this.lastMs = this.#minMs = this.#maxMs = timeMs;
    this.#first = this.#last = this.min = this.max = value;
  }

  /** Adds a sample; samples may come in any order. */
  add(timeMs: number, value: number): void {
    if (timeMs < this.firstMs) {
      this.firstMs = timeMs;
      this.#first = value;
    }
    if (timeMs >= this.lastMs) {
      this.lastMs = timeMs;
      this.#last = value;
    }
    if (value < this.min) {
      this.#minMs = timeMs;
      this.min = value;
    }
    if (value > this.max) {
      this.#maxMs = timeMs;
      this.max = value;
    }
  }

  /** Adds the points of another column. */
  merge(other: Column): void {
    this.add(other.firstMs, other.#first);
    this.add(other.#minMs, other.min);
    this.add(other.#maxMs, other.max);
    this.add(other.lastMs, other.#last);
  }

  /** The points in time order, each once; samples with the same time and different values are all kept. */
  points(): [timeMs: number, value: number][] {
    const least: [number, number] = [this.#minMs, this.min];
    const greatest: [number, number] = [this.#maxMs, this.max];
    const inner = this.#maxMs < this.#minMs ? [greatest, least] : [least, greatest];
    const points: [number, number][] = [[this.firstMs, this.#first], ...inner, [this.lastMs, this.#last]];
    return points.filter(([timeMs, value], i) => i === points.findIndex(([t, x]) => t === timeMs && x === value));
  }
}

// Bins of equal ratio, from a nanosecond to ten thousand years.
const BINS_PER_OCTAVE = 16;
const LEAST_OCTAVE = -20;
const BIN_COUNT = (49 - LEAST_OCTAVE) * BINS_PER_OCTAVE;

/** Counts the distances between samples, to find their median. */
class StepCounter {
  readonly #counts = new Float64Array(BIN_COUNT);
  #total = 0;
  #previousMs = Number.NaN;
  #lastStepMs = Number.NaN;
  #lastBin = 0;

  add(timeMs: number): void {
    const stepMs = timeMs - this.#previousMs;
    this.#previousMs = timeMs;
    if (!(stepMs > 0)) return;
    if (stepMs !== this.#lastStepMs) {
      this.#lastStepMs = stepMs;
      const bin = Math.floor((Math.log2(stepMs) - LEAST_OCTAVE) * BINS_PER_OCTAVE);
      this.#lastBin = Math.min(BIN_COUNT - 1, Math.max(0, bin));
    }
    this.#counts[this.#lastBin]!++;
    this.#total++;
  }

  /** To within five per cent; infinite if there is none. */
  medianMs(): number {
    let seen = 0;
    for (let bin = 0; bin < BIN_COUNT; bin++) {
      seen += this.#counts[bin]!;
      if (seen * 2 >= this.#total && this.#total > 0) return 2 ** ((bin + 1) / BINS_PER_OCTAVE + LEAST_OCTAVE);
    }
    return Number.POSITIVE_INFINITY;
  }
}
