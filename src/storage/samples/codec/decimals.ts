// Measured values are mostly decimals of a few digits: whole numbers over a power of ten. A whole number up to 2^51
// over a power of ten up to 10^18, both exact doubles, divides to the double nearest to that decimal, which is what
// reading its digits gives. So the division gives the value back bit for bit; that it does is checked for each.

const WHOLE_MAX = 2 ** 51;
const EXPONENT_MAX = 18;

/** Powers of ten, all exact. */
export const POWERS: readonly number[] = Array.from({ length: EXPONENT_MAX + 1 }, (_, exponent) =>
  Number(`1e${exponent}`),
);

/**
 * Writes the whole numbers of the column into `whole`, so that `whole[i] / 10 ** exponent` is `column[i]`.
 *
 * @returns the exponent, or -1 where some value is no such decimal (-0 is none).
 */
export function findWhole(column: Float64Array, whole: Float64Array): number {
  let exponent = 0;
  for (;;) {
    const misfit = fillWhole(column, POWERS[exponent]!, whole);
    if (misfit === column.length) return exponent;
    // Begun anew with more digits: the numbers before the misfit have become longer too.
    exponent = exponentOf(column[misfit]!, exponent + 1);
    if (exponent < 0) return -1;
  }
}

/** @returns the index of the first value that the power does not fit, or the length. */
function fillWhole(column: Float64Array, power: number, whole: Float64Array): number {
  for (let i = 0; i < column.length; i++) {
    const value = column[i]!;
    const number = Math.round(value * power);
    if (number / power !== value || number > WHOLE_MAX || number < -WHOLE_MAX) return i;
    if (number === 0 && Object.is(value, -0)) return i;
    whole[i] = number;
  }
  return column.length;
}

/** Of a column, values that are no decimals of the digits that the others have. */
export interface Misfits {
  readonly exponent: number;
  /** Their places, rising. */
  readonly places: readonly number[];
}

/**
 * The same for a column in which few values do not fit: `whole` gives the value before them in their place. It takes
 * the digits that nearly all of some values of the column get along with.
 *
 * @returns undefined where many do not fit.
 */
export function findMostWhole(column: Float64Array, whole: Float64Array): Misfits | undefined {
  const exponent = usualExponent(column);
  if (exponent < 0) return undefined;
  const power = POWERS[exponent]!;
  const places: number[] = [];
  const placesMax = column.length / MISFIT_ONE_IN;
  for (let i = 0; i < column.length; i++) {
    const value = column[i]!;
    const number = Math.round(value * power);
    if (number / power === value && Math.abs(number) <= WHOLE_MAX && !Object.is(value, -0)) {
      whole[i] = number;
      continue;
    }
    whole[i] = i > 0 ? whole[i - 1]! : 0;
    if (places.push(i) > placesMax) return undefined;
  }
  return { exponent, places };
}

const MISFIT_ONE_IN = 16;
const VALUES_TRIED = 128;

/** The exponent that all but a few of the values get along with, or -1. */
function usualExponent(column: Float64Array): number {
  const step = Math.max(1, Math.floor(column.length / VALUES_TRIED));
  const exponents: number[] = [];
  for (let i = 0; i < column.length; i += step) {
    const exponent = exponentOf(column[i]!, 0);
    exponents.push(exponent < 0 ? Infinity : exponent);
  }
  exponents.sort((a, b) => a - b);
  const usual = exponents[Math.ceil(exponents.length * (1 - 1 / MISFIT_ONE_IN)) - 1] ?? Infinity;
  return usual === Infinity ? -1 : usual;
}

function exponentOf(value: number, from: number): number {
  if (Object.is(value, -0)) return -1;
  for (let exponent = from; exponent <= EXPONENT_MAX; exponent++) {
    const power = POWERS[exponent]!;
    const number = Math.round(value * power);
    if (Math.abs(number) > WHOLE_MAX) return -1;
    if (number / power === value) return exponent;
  }
  return -1;
}
