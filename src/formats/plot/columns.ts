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

/** Its points in time order, each once. */
export function pointsOf(column: Column): [timeMs: number, value: number][] {
  const { firstMs, minMs, maxMs, lastMs } = column;
  const points: [number, number][] = [[firstMs, column.first]];
  const inner: [number, number][] = [
    [minMs, column.min],
    [maxMs, column.max],
  ];
  if (maxMs < minMs) inner.reverse();
  for (const point of inner) if (point[0] > (points.at(-1)?.[0] ?? 0) && point[0] < lastMs) points.push(point);
  if (lastMs > firstMs) points.push([lastMs, column.last]);
  return points;
}
