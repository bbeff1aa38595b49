import { isAllFinite } from './check.js';
import { roundQuotient, toInteger } from './exact/integers.js';
import { quotientOf } from './exact/results.js';
import { lossOf, productError } from './exact/sums.js';

/** A function (value × factor + offset) ÷ divisor in whole numbers; the divisor is positive. */
export interface Linear {
  readonly factor: bigint;
  readonly offset: bigint;
  readonly divisor: bigint;
}

/** Products of numbers between these neither overflow nor underflow. */
const LEAST = 2 ** -500;
const GREATEST = 2 ** 500;

/**
 * Writes the doubles nearest to the exact results, from a numerator in two doubles (Dekker, 1971) or, if these cannot
 * hold it, in whole numbers. Returns whether all results are finite.
 */
export function linear(value: Float64Array, count: number, by: Linear, out: Float64Array): boolean {
  const factor = Number(by.factor);
  const offset = Number(by.offset);
  const divisor = Number(by.divisor);
  // If doubles cannot hold the coefficients, everything is computed in whole numbers.
  const isHeld = BigInt(factor) === by.factor && BigInt(offset) === by.offset && BigInt(divisor) === by.divisor;
  for (let i = 0; i < count; i++) {
    const x = value[i]!;
    const product = x * factor;
    const sum = product + offset;
    const sumLoss = lossOf(product, offset, sum);
    const productLoss = productError(x, factor, product);
    const low = sumLoss + productLoss;
    const numerator = sum + low;
    const size = Math.abs(x);
    const isTwo = isHeld && size > LEAST && size < GREATEST && lossOf(sumLoss, productLoss, low) === 0;
    const y = isTwo ? quotientOf(numerator, lossOf(sum, low, numerator), divisor) : Number.NaN;
    out[i] = !Number.isNaN(y) ? y : x === 0 && offset === 0 ? x : exactly(x, by); // -0 stays -0, as with Mul
  }
  return isAllFinite(out, 0, count);
}

function exactly(x: number, { factor, offset, divisor }: Linear): number {
  return roundQuotient(toInteger(x) * factor + offset * toInteger(1), divisor);
}
