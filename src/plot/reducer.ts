import type { ChartLine } from './panels.js';

/** Takes the samples of one series, however many, and keeps what a chart can show of them. */
export interface Reducer {
  readonly add: (timeMs: Float64Array, value: Float64Array) => void;
  readonly line: () => ChartLine;
}

/** Several columns for each pixel of the widest chart. */
const COLUMNS_MAX = 4096;

/** A distance of more than this many usual steps is a gap. */
const GAP_STEPS = 3;

/**
 * Columns start as narrow as possible and are merged in pairs when there are too many. So the time span need not be
 * known beforehand, and memory does not grow with the number of samples.
 */
export function createReducer(name: string): Reducer {
  let columns = new Map<number, Column>();
  let widthMs = 2 ** -10;
  let sampleCount = 0;
  let lastIndex = Number.NaN;
  let lastColumn: Column | undefined;
  let isBinary = true;
  const steps = createStepCounter();

  function add(timeMs: Float64Array, value: Float64Array): void {
    for (let i = 0; i < timeMs.length; i++) {
      const v = value[i]!;
      if (v - v !== 0) continue;
      const t = timeMs[i]!;
      sampleCount++;
      steps.add(t);
      if (v !== 0 && v !== 1) isBinary = false;
      const index = Math.floor(t / widthMs);
      if (index === lastIndex && lastColumn !== undefined) addToColumn(lastColumn, t, v);
      else addTo(index, t, v);
    }
  }

  function addTo(index: number, t: number, v: number): void {
    const known = columns.get(index);
    if (known !== undefined) addToColumn(known, t, v);
    else columns.set(index, columnOf(t, v));
    lastIndex = index;
    lastColumn = known ?? columns.get(index);
    while (columns.size > COLUMNS_MAX) widen();
  }

  function widen(): void {
    widthMs *= 2;
    const wide = new Map<number, Column>();
    for (const column of columns.values()) {
      const index = Math.floor(column.firstMs / widthMs);
      const known = wide.get(index);
      if (known === undefined) wide.set(index, column);
      else mergeColumn(known, column);
    }
    columns = wide;
    lastIndex = Number.NaN;
  }

  const line = (): ChartLine => {
    return lineOf(name, [...columns.values()], GAP_STEPS * steps.medianMs(), { sampleCount, isBinary });
  };

  return { add, line };
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
    points.push(...pointsOf(column));
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

// At most four points represent a column of a chart: the first, the least, the greatest and the last. A line
// through them looks like the line through all of them.
// Source: Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014.

/** The samples of one column. */
export interface Column {
  firstMs: number;
  first: number;
  minMs: number;
  min: number;
  maxMs: number;
  max: number;
  lastMs: number;
  last: number;
}

function columnOf(timeMs: number, value: number): Column {
  return {
    firstMs: timeMs,
    first: value,
    minMs: timeMs,
    min: value,
    maxMs: timeMs,
    max: value,
    lastMs: timeMs,
    last: value,
  };
}

/** Adds a sample; samples may come in any order. */
function addToColumn(column: Column, timeMs: number, value: number): void {
  if (timeMs < column.firstMs) {
    column.firstMs = timeMs;
    column.first = value;
  }
  if (timeMs >= column.lastMs) {
    column.lastMs = timeMs;
    column.last = value;
  }
  if (value < column.min) {
    column.minMs = timeMs;
    column.min = value;
  }
  if (value > column.max) {
    column.maxMs = timeMs;
    column.max = value;
  }
}

/** Adds the points of another column. */
function mergeColumn(column: Column, other: Column): void {
  addToColumn(column, other.firstMs, other.first);
  addToColumn(column, other.minMs, other.min);
  addToColumn(column, other.maxMs, other.max);
  addToColumn(column, other.lastMs, other.last);
}

/** The points in time order, each once; samples with the same time and different values are all kept. */
function pointsOf(column: Column): [timeMs: number, value: number][] {
  const { firstMs, minMs, maxMs, lastMs } = column;
  const least: [number, number] = [minMs, column.min];
  const greatest: [number, number] = [maxMs, column.max];
  const inner = maxMs < minMs ? [greatest, least] : [least, greatest];
  const points: [number, number][] = [[firstMs, column.first], ...inner, [lastMs, column.last]];
  return points.filter(([timeMs, value], i) => i === points.findIndex(([t, x]) => t === timeMs && x === value));
}

// Bins of equal ratio, from a nanosecond to ten thousand years.
const BINS_PER_OCTAVE = 16;
const LEAST_OCTAVE = -20;
const BIN_COUNT = (49 - LEAST_OCTAVE) * BINS_PER_OCTAVE;

/** Counts the distances between samples, to find their median. */
function createStepCounter() {
  const counts = new Float64Array(BIN_COUNT);
  let total = 0;
  let previousMs = Number.NaN;
  let lastStepMs = Number.NaN;
  let lastBin = 0;

  function add(timeMs: number): void {
    const stepMs = timeMs - previousMs;
    previousMs = timeMs;
    if (!(stepMs > 0)) return;
    if (stepMs !== lastStepMs) {
      lastStepMs = stepMs;
      const bin = Math.floor((Math.log2(stepMs) - LEAST_OCTAVE) * BINS_PER_OCTAVE);
      lastBin = Math.min(BIN_COUNT - 1, Math.max(0, bin));
    }
    counts[lastBin] = (counts[lastBin] ?? 0) + 1;
    total++;
  }

  // To within five per cent; infinite if there is none.
  function medianMs(): number {
    let seen = 0;
    for (let bin = 0; bin < BIN_COUNT; bin++) {
      seen += counts[bin] ?? 0;
      if (seen * 2 >= total && total > 0) return 2 ** ((bin + 1) / BINS_PER_OCTAVE + LEAST_OCTAVE);
    }
    return Number.POSITIVE_INFINITY;
  }

  return { add, medianMs };
}
