// Measured values are mostly decimals of a few digits: whole numbers over a power of ten. A whole number up to 2^51
// and a power up to 10^18 are exact doubles, and their quotient is the double nearest to the decimal, which is what
// parsing its digits gives. So the division restores the value bit for bit; each value is checked.

const WHOLE_MAX = 2 ** 51;

/** Powers of ten, all exact. */
export const POWERS: readonly number[] = Array.from({ length: 19 }, (_, exponent) => Number(`1e${exponent}`));

/** A column as whole numbers over a power of ten. */
export interface Decimals {
  readonly exponent: number;
  /** The ascending indexes of values that are not such decimals. */
  readonly misfits: readonly number[];
}

/** The share of values that may be misfits, as one in so many: each takes about ten bytes. */
const MISFIT_ONE_IN = 16;

/**
 * Writes whole numbers into `whole` so that `whole[i] / 10 ** exponent` is `column[i]`; a misfit gets the number
 * before it. Uses the fewest digits that leave few misfits.
 *
 * @returns undefined if there are many with any number of digits.
 */
export function findDecimals(column: Float64Array, whole: Float64Array): Decimals | undefined {
  const misfitsMax = column.length / MISFIT_ONE_IN;
  for (let exponent = 0; exponent < POWERS.length; ) {
    const misfits = fillWhole(column, POWERS[exponent]!, whole, misfitsMax);
    if (misfits.length <= misfitsMax) return { exponent, misfits };
    const from = exponent + 1;
    exponent = misfits.reduce((least, place) => Math.min(least, exponentOf(column[place]!, from)), Infinity);
  }
  return undefined;
}

/** Returns the misfits; stops early beyond `misfitsMax`. */
function fillWhole(column: Float64Array, power: number, whole: Float64Array, misfitsMax: number): number[] {
  const misfits: number[] = [];
  for (let i = 0; i < column.length; i++) {
    const value = column[i]!;
    const number = Math.round(value * power);
    if (isWholeOf(value, power, number)) {
      whole[i] = number;
      continue;
    }
    whole[i] = i > 0 ? whole[i - 1]! : 0;
    if (misfits.push(i) > misfitsMax) break;
  }
  return misfits;
}

export function isWholeOf(value: number, power: number, number: number): boolean {
  return number / power === value && Math.abs(number) <= WHOLE_MAX && !Object.is(value, -0);
}

/** The power of ten to divide a whole number by, or to multiply it with if the exponent is negative. */
export function powerOf(exponent: number): number {
  return POWERS[Math.abs(exponent)]!;
}

/** The least exponent, starting at `from`, that makes the value whole, or Infinity. */
export function exponentOf(value: number, from: number): number {
  for (let exponent = from; exponent < POWERS.length; exponent++) {
    const number = Math.round(value * POWERS[exponent]!);
    if (isWholeOf(value, POWERS[exponent]!, number)) return exponent;
    if (Math.abs(number) > WHOLE_MAX) break;
  }
  return Infinity;
}
