/**
 * Even grids on exact nanoseconds: point number k of a grid is the double nearest to k lengths, as the time of a sample
 * is the double nearest to its text. So a grid of PT0.0333S meets the samples that were written at its points.
 */
export interface Grid {
  /** Point number `index` of the grid moved back by `offsetMs`, a whole number. */
  pointMs(index: number, offsetMs: number): number;
  /** The number of the last point at or before an instant. */
  indexOf(timeMs: number, offsetMs: number): number;
}

const NS = 1_000_000;
/** From here on a sum of whole milliseconds and the nearest double of a fraction is rounded as the exact sum is. */
const WHOLE_MS_MIN = 2 ** 20;

/** The length in nanoseconds; undefined if it is not a whole number of them. */
export function nanosecondsOf(lengthMs: number): bigint | undefined {
  const whole = Math.floor(lengthMs);
  const rest = Math.round((lengthMs - whole) * NS);
  return nearest(whole, rest) === lengthMs ? BigInt(whole) * BigInt(NS) + BigInt(rest) : undefined;
}

export function gridOf(lengthMs: number): Grid {
  const whole = Math.floor(lengthMs);
  const rest = Math.round((lengthMs - whole) * NS);
  function pointMs(index: number, offsetMs: number): number {
    if (rest === 0) return index * whole - offsetMs;
    // index · rest nanoseconds in two parts, as a double cannot hold the product.
    const millions = Math.floor(index / NS);
    const ns = (index - millions * NS) * rest;
    const carried = Math.floor(ns / NS);
    return nearest(index * whole + millions * rest + carried - offsetMs, ns - carried * NS);
  }
  // The quotient is rounded, so compare with the points themselves.
  function indexOf(timeMs: number, offsetMs: number): number {
    let index = Math.floor((timeMs + offsetMs) / lengthMs);
    while (pointMs(index, offsetMs) > timeMs) index--;
    while (pointMs(index + 1, offsetMs) <= timeMs) index++;
    return index;
  }
  return { pointMs, indexOf };
}

// The double nearest to whole milliseconds and 0 to 999,999 nanoseconds.
function nearest(ms: number, ns: number): number {
  return Math.abs(ms) < WHOLE_MS_MIN ? (ms * NS + ns) / NS : ms + ns / NS;
}
