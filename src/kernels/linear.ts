import { roundQuotient, toInteger } from './exact/integers.js';
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
    const isCertain = isHeld && isPlain && result === quotient + (rest - slack);
    const y = keepsZero && x === 0 ? x : isCertain ? result : exactly(x, by); // -0 stays -0, as with Mul
    out[i] = y;
    bad += y - y;
  }
  return bad === 0;
}

function exactly(x: number, { factor, offset, divisor }: Linear): number {
  return roundQuotient(toInteger(x) * factor + offset * toInteger(1), divisor);
}
