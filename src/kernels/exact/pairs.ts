import { roundQuotient, roundRoot } from './integers.js';
import type { ExactSum } from './results.js';
import { sumInteger } from './sums.js';

/** Correctly rounded covariance and correlation, from exact sums over `count` pairs of values, at least two. */

/** (Σxy − Σx·Σy ÷ count) ÷ (count − 1). */
export function covarianceOf(x: ExactSum, y: ExactSum, xy: ExactSum, count: number): number {
  return roundQuotient(spreadOf(sumInteger(...x), sumInteger(...y), xy, count), BigInt(count) * BigInt(count - 1));
}

/** The covariance divided by both standard deviations; undefined if one of these is 0. */
export function correlationOf(
  x: ExactSum,
  y: ExactSum,
  xy: ExactSum,
  xx: ExactSum,
  yy: ExactSum,
  count: number,
): number | undefined {
  const sumX = sumInteger(...x);
  const sumY = sumInteger(...y);
  const ofX = oddOf(spreadOf(sumX, sumX, xx, count));
  const ofY = oddOf(spreadOf(sumY, sumY, yy, count));
  if (ofX.whole === 0n || ofY.whole === 0n) return undefined;
  const both = oddOf(spreadOf(sumX, sumY, xy, count));
  if (both.whole === 0n) return 0;
  // The root of the squared correlation, which is a quotient of whole numbers (2^2148 units are 1).
  const shift = 2148n + 2n * both.shift - ofX.shift - ofY.shift;
  const square = both.whole * both.whole;
  const spread = ofX.whole * ofY.whole;
  const size = shift >= 0n ? roundRoot(square << shift, spread) : roundRoot(square, spread << -shift);
  return both.whole < 0n ? -size : size;
}

/** count·Σxy − Σx·Σy, in units. */
function spreadOf(x: bigint, y: bigint, xy: ExactSum, count: number): bigint {
  return BigInt(count) * sumInteger(...xy) - ((x * y) >> 2148n);
}

// Shifts out trailing zeros, which are most digits of a sum in units, so that less is left to multiply.
function oddOf(units: bigint): { readonly whole: bigint; readonly shift: bigint } {
  let whole = units;
  let shift = 0n;
  for (const step of [1024n, 128n]) {
    const ones = (1n << step) - 1n;
    while (whole !== 0n && (whole & ones) === 0n) {
      whole >>= step;
      shift += step;
    }
  }
  return { whole, shift };
}
