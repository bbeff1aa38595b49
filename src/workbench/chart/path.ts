import { isFlat } from '../../plot/value-ticks.js';
import type { Line } from '../engine/protocol.js';

/** The scales that map times and values into a drawing. */
export interface Frame {
  readonly x: (timeMs: number) => number;
  readonly y: (value: number) => number;
}

/** The least and the greatest value, with padding; 0 to 1 if there are none. */
export function valueExtent(values: Iterable<Float64Array>): readonly [min: number, max: number] {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    for (const v of value) {
      if (v < min) min = v;
      if (v > max) max = v;
    }
  }
  if (min > max) return [0, 1];
  if (isFlat({ min, max })) return [min - (Math.abs(min) || 1) / 10, max + (Math.abs(max) || 1) / 10];
  return [min - (max - min) * 0.05, max + (max - min) * 0.05];
}

export function frameOf(
  box: { readonly left: number; readonly top: number; readonly width: number; readonly height: number },
  [fromMs, untilMs]: readonly [number, number],
  [min, max]: readonly [number, number],
): Frame {
  return {
    x: (timeMs) => box.left + ((timeMs - fromMs) / (untilMs - fromMs)) * box.width,
    y: (value) => box.top + box.height - ((value - min) / (max - min)) * box.height,
  };
}

/** The line as the data of an SVG path, broken at gaps; a sample between two gaps is a dot. */
export function pathOf({ timeMs, value }: Line, { x, y }: Frame, isStepped: boolean): string {
  const parts: string[] = [];
  let length = 0;
  for (let i = 0; i < timeMs.length; i++) {
    const v = value[i]!;
    if (Number.isNaN(v)) {
      if (length === 1) parts.push('h0');
      length = 0;
      continue;
    }
    const [px, py] = [pixel(x(timeMs[i]!)), pixel(y(v))];
    parts.push(length === 0 ? `M${px} ${py}` : isStepped ? `H${px}V${py}` : `L${px} ${py}`);
    length++;
  }
  if (length === 1) parts.push('h0');
  return parts.join('');
}

function pixel(length: number): number {
  return Math.round(length * 10) / 10;
}
