import { addToColumn, type Column, columnOf, mergeColumn, pointsOf } from './columns.js';
import type { ChartLine } from './line.js';
import { createStepCounter } from './steps.js';

/** Takes the samples of one series, however many, and keeps what a chart can show of them. */
export interface Reducer {
  readonly add: (timeMs: Float64Array, value: Float64Array) => void;
  readonly line: () => ChartLine;
}

// So many columns are told apart: some for each pixel of the widest chart.
const COLUMNS_MAX = 4096;

/** A distance of more than so many usual steps is a gap. */
const GAP_STEPS = 3;

/**
 * Columns start as narrow as can be and are joined in pairs when there are too many, so the span need not be known
 * beforehand, and memory is the same for any number of samples.
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
