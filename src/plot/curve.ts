import { type ScaleLinear, scaleLinear } from 'd3-scale';
import type { ChartLine, Extent } from './panels.js';

/** A rectangle of the drawing, with the scales that map times and values into it. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly time: Extent;
  readonly x: ScaleLinear<number, number>;
  readonly y: (value: number) => number;
}

export function frameOf(
  { left, top, width, height }: Pick<Frame, 'left' | 'top' | 'width' | 'height'>,
  time: Extent,
  value: Extent,
): Frame {
  const x = scaleLinear([time.min, time.max], [left, left + width]);
  // Where the range of the values is no double, a part of it is.
  const part = Number.isFinite(value.max - value.min) ? 1 : 1 / 4;
  const y = scaleLinear([value.min * part, value.max * part], [top + height, top]);
  return { left, top, width, height, time, x, y: (one) => y(one * part) };
}

/** A run of points without a gap, in units of the drawing. */
export type Curve = readonly (readonly [x: number, y: number])[];

/**
 * Splits a line into runs without gaps, with at most four points per column: the first, the least, the greatest and
 * the last of each column look the same as all of them.
 */
export function curvesOf(line: ChartLine, frame: Frame, columnWidth: number): Curve[] {
  const curves: [number, number][][] = [];
  let curve: [number, number][] = [];
  let column: [number, number][] = [];
  let columnIndex = Number.NaN;
  for (const [index, timeMs] of line.timeMs.entries()) {
    const point: [number, number] = [frame.x(timeMs), frame.y(line.value[index] ?? 0)];
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
