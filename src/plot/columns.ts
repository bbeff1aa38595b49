// Points that fall into one column of a chart are told by at most four: the first, the least, the greatest and
// the last. A line through them looks like the line through all.
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

export function columnOf(timeMs: number, value: number): Column {
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

/** Adds a sample; they may come in any order. */
export function addToColumn(column: Column, timeMs: number, value: number): void {
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

/** Adds all that is in another column. */
export function mergeColumn(column: Column, other: Column): void {
  addToColumn(column, other.firstMs, other.first);
  addToColumn(column, other.minMs, other.min);
  addToColumn(column, other.maxMs, other.max);
  addToColumn(column, other.lastMs, other.last);
}

/** Its points in time order, each once; samples of one time with values of their own are all kept. */
export function pointsOf(column: Column): [timeMs: number, value: number][] {
  const { firstMs, minMs, maxMs, lastMs } = column;
  const least: [number, number] = [minMs, column.min];
  const greatest: [number, number] = [maxMs, column.max];
  const inner = maxMs < minMs ? [greatest, least] : [least, greatest];
  const points: [number, number][] = [[firstMs, column.first], ...inner, [lastMs, column.last]];
  return points.filter(([timeMs, value], i) => i === points.findIndex(([t, x]) => t === timeMs && x === value));
}
