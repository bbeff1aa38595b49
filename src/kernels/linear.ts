import { roundQuotient, toInteger } from './exact/integers.js';
import { quotientOf } from './exact/results.js';
import { lossOf, productError } from './exact/sums.js';

/** (value × factor + offset) ÷ divisor in whole numbers, the divisor positive. */
export interface Linear {
  readonly factor: bigint;
  readonly offset: bigint;
  readonly divisor: bigint;
}

/** Products of numbers in between neither overflow nor lose digits below. */
const LEAST = 2 ** -500;
const GREATEST = 2 ** 500;

/**
 * Writes the doubles nearest to the exact results: as sums of two doubles (Dekker, 1971), and where rounding those is
 * not certain (Ziv's test) in whole numbers. Tells whether all of them are finite.
 */
export function linear(value: Float64Array, count: number, by: Linear, out: Float64Array): boolean {
  const factor = Number(by.factor);
  const offset = Number(by.offset);
  const divisor = Number(by.divisor);
  // Doubles may not hold them: then everything is computed in whole numbers.
  const isHeld = BigInt(factor) === by.factor && BigInt(offset) === by.offset && BigInt(divisor) === by.divisor;
  const keepsZero = by.offset === 0n;
  let bad = 0;
  for (let i = 0; i < count; i++) {
    const x = value[i]!;
    const product = x * factor;
    const sum = product + offset;
    const sumLow = lossOf(product, offset, sum) + productError(x, factor, product);
    const numerator = sum + sumLow;
    const numeratorLow = sum - numerator + sumLow;
    const quotient = numerator / divisor;
    const back = quotient * divisor;
    const rest = (numerator - back - productError(quotient, divisor, back) + numeratorLow) / divisor;
    const slack = Math.abs(quotient) * 2 ** -98;
    const size = Math.abs(x);
    const isPlain = (size > LEAST && size < GREATEST && Math.abs(quotient) > LEAST) || x === 0;
    const result = quotient + (rest + slack);
    const isCertain = isPlain && result === quotient + (rest - slack);
    let y = result;
    if (keepsZero && x === 0)
      y = x; // -0 stays -0, as with Mul
    else if (!isHeld || !isCertain) y = isHeld && isPlain ? inDoubt(x, by) : exactly(x, by);
    out[i] = y;
    bad += y - y;
  }
  return bad === 0;
}

/** By the middle between two doubles: one decimal of twenty lies right there, from °C to °F. */
function inDoubt(x: number, by: Linear): number {
  const [factor, offset] = [Number(by.factor), Number(by.offset)];
  const product = x * factor;
  const sum = product + offset;
  const sumLoss = lossOf(product, offset, sum);
  const productLoss = productError(x, factor, product);
  const low = sumLoss + productLoss;
  const numerator = sum + low;
  const isExact = lossOf(sumLoss, productLoss, low) === 0;
  const y = isExact ? quotientOf(numerator, sum - numerator + low, Number(by.divisor)) : Number.NaN;
  return Number.isNaN(y) ? exactly(x, by) : y;
}

function exactly(x: number, { factor, offset, divisor }: Linear): number {
  return roundQuotient(toInteger(x) * factor + offset * toInteger(1), divisor);
}
