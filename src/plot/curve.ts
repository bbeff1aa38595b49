import type { ChartLine, Extent } from './line.js';

/** A rectangle of the drawing and what lies at its edges. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly time: Extent;
  readonly value: Extent;
}

export function xOf({ left, width, time }: Frame, timeMs: number): number {
  return left + ((timeMs - time.min) / (time.max - time.min)) * width;
}

export function yOf({ top, height, value }: Frame, at: number): number {
  return top + (1 - (at - value.min) / (value.max - value.min)) * height;
}

/** A run of points without a gap, in units of the drawing. */
export type Curve = readonly (readonly [x: number, y: number])[];

/**
 * The line as curves without gaps, at most four points a column: with the first, the least, the greatest and the
 * last of each column nothing is lost that can be seen.
 */
export function curvesOf(line: ChartLine, frame: Frame, columnWidth: number): Curve[] {
  const curves: [number, number][][] = [];
  let curve: [number, number][] = [];
  let column: [number, number][] = [];
  let columnIndex = Number.NaN;
  for (const [index, timeMs] of line.timeMs.entries()) {
    const point: [number, number] = [xOf(frame, timeMs), yOf(frame, line.value[index] ?? 0)];
    const at = Math.floor(point[0] / columnWidth);
    if (at !== columnIndex || index === 0) {
      curve.push(...extremes(column));
      column = [];
      columnIndex = at;
      // Within a column a gap cannot be seen.
      if (line.isAfterGap[index] === 1) {
        curves.push(curve);
        curve = [];
      }
    }
    column.push(point);
  }
  curve.push(...extremes(column));
  curves.push(curve);
  return curves.filter(({ length }) => length > 0).map((points) => (line.isBinary ? asSteps(points) : points));
}

function extremes(points: readonly [number, number][]): readonly [number, number][] {
  if (points.length <= 4) return points;
  let least = 0;
  let greatest = 0;
  for (const [index, [, y]] of points.entries()) {
    if (y < (points[least]?.[1] ?? y)) least = index;
    if (y > (points[greatest]?.[1] ?? y)) greatest = index;
  }
  const kept = [...new Set([0, least, greatest, points.length - 1])].sort((a, b) => a - b);
  return kept.map((index) => points[index] ?? [0, 0]);
}

// Each value holds until the next.
function asSteps(points: Curve): Curve {
  return points.flatMap((point, index) => {
    const before = points[index - 1];
    return before === undefined || before[1] === point[1] ? [point] : [[point[0], before[1]] as const, point];
  });
}
