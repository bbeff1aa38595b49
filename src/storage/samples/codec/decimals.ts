// Measured values are mostly decimals of a few digits: whole numbers over a power of ten. A whole number up to 2^51
// over a power of ten up to 10^18, both exact doubles, divides to the double nearest to that decimal, which is what
// reading its digits gives. So the division gives the value back bit for bit; that it does is checked for each.

const WHOLE_MAX = 2 ** 51;

/** Powers of ten, all exact. */
export const POWERS: readonly number[] = Array.from({ length: 19 }, (_, exponent) => Number(`1e${exponent}`));

/** A column as whole numbers over a power of ten. */
export interface Decimals {
  readonly exponent: number;
  /** Places, rising, of the values that are no such decimals. */
  readonly misfits: readonly number[];
}

/** One in so many values may be a misfit: each takes some ten bytes. */
const MISFIT_ONE_IN = 16;

/**
 * Writes the whole numbers of the column into `whole`, so that `whole[i] / 10 ** exponent` is `column[i]`; in the place
 * of a misfit the number before it. Takes the fewest digits with which few values are misfits.
 *
 * @returns undefined where many are, whatever the digits.
 */
export function findDecimals(column: Float64Array, whole: Float64Array): Decimals | undefined {
  const misfitsMax = column.length / MISFIT_ONE_IN;
  for (let exponent = 0; exponent < POWERS.length; ) {
    const misfits = fillWhole(column, POWERS[exponent]!, whole, misfitsMax);
    if (misfits.length <= misfitsMax) return { exponent, misfits };
    exponent = Math.min(...misfits.map((place) => exponentOf(column[place]!, exponent + 1)));
  }
  return undefined;
}

/** Gives the misfits; ends early when there are more than `misfitsMax`. */
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

/** The power of ten that an exponent stands for: what a whole number is divided by, or multiplied with below 0. */
export function powerOf(exponent: number): number {
  return POWERS[Math.abs(exponent)]!;
}

/** The least exponent from `from` on that makes a value whole, or Infinity. */
export function exponentOf(value: number, from: number): number {
  for (let exponent = from; exponent < POWERS.length; exponent++) {
    const number = Math.round(value * POWERS[exponent]!);
    if (isWholeOf(value, POWERS[exponent]!, number)) return exponent;
    if (Math.abs(number) > WHOLE_MAX) break;
  }
  return Infinity;
}
