// The arithmetic of semantics.md in exact fractions, rounded once to the nearest double.

/** numerator ÷ denominator, with denominator > 0. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const whole = (n: number | bigint): Fraction => ({ numerator: BigInt(n), denominator: 1n });

/** A finite double as an exact fraction. */
export function fractionOf(x: number): Fraction {
  if (Number.isInteger(x)) return whole(x);
  let exponent = 0;
  let scaled = x;
  while (!Number.isInteger(scaled)) {
    scaled *= 2; // exact: a double with a fraction is far from the largest
    exponent += 1;
  }
  return { numerator: BigInt(scaled), denominator: 1n << BigInt(exponent) };
}

export const plus = (a: Fraction, b: Fraction): Fraction =>
  a.denominator === b.denominator
    ? { numerator: a.numerator + b.numerator, denominator: a.denominator }
    : {
        numerator: a.numerator * b.denominator + b.numerator * a.denominator,
        denominator: a.denominator * b.denominator,
      };
export const minus = (a: Fraction, b: Fraction): Fraction => plus(a, { ...b, numerator: -b.numerator });
export const times = (a: Fraction, b: Fraction): Fraction => ({
  numerator: a.numerator * b.numerator,
  denominator: a.denominator * b.denominator,
});
export const dividedBy = (a: Fraction, b: Fraction): Fraction => {
  const sign = b.numerator < 0n ? -1n : 1n;
  return { numerator: sign * a.numerator * b.denominator, denominator: sign * a.denominator * b.numerator };
};

/** The sum of fractions whose denominators are powers of two, as for doubles and their products. */
export function total(terms: readonly Fraction[]): Fraction {
  const denominator = terms.reduce((most, term) => (term.denominator > most ? term.denominator : most), 1n);
  const parts = terms.map((term) => term.numerator * (denominator / term.denominator));
  return { numerator: parts.reduce((sum, part) => sum + part, 0n), denominator };
}

const double = new DataView(new ArrayBuffer(8));

/** The double at a place in the order of doubles from 0 up: 0 is 0, 1 the smallest above 0, and so on. */
function doubleAt(place: bigint): number {
  double.setBigUint64(0, place);
  return double.getFloat64(0);
}

/** 2^1024: where the doubles end. */
const FIRST_TOO_LARGE = 0x7ffn << 52n;

function boundOf(place: bigint): Fraction {
  return place === FIRST_TOO_LARGE ? whole(1n << 1024n) : fractionOf(doubleAt(place));
}

/** The sign of x − y: below 0, 0, or above 0. */
function compared(a: Fraction, b: Fraction): bigint {
  return a.numerator * b.denominator - b.numerator * a.denominator;
}

/** The place of a double from 0 up. */
function placeOf(x: number): bigint {
  double.setFloat64(0, x);
  return double.getBigUint64(0);
}

/**
 * Places around the number, the first at most and the second above it. A guess only says where to look first: steps of
 * twice the length each lead away from it until the number lies between.
 */
function bracketOf(isAtLeast: (bound: Fraction) => boolean, guess: number): [low: bigint, high: bigint] {
  const last = FIRST_TOO_LARGE - 1n;
  const start = guess >= 0 && guess < Number.POSITIVE_INFINITY ? placeOf(guess) : last;
  let [low, high] = [start, start];
  let step = 1n;
  if (isAtLeast(boundOf(start))) {
    do {
      low = high;
      high = high + step < FIRST_TOO_LARGE ? high + step : FIRST_TOO_LARGE;
      step *= 2n;
    } while (high < FIRST_TOO_LARGE && isAtLeast(boundOf(high)));
  } else {
    do {
      high = low;
      low = low > step ? low - step : 0n;
      step *= 2n;
    } while (low > 0n && !isAtLeast(boundOf(low)));
  }
  return [low, high];
}

/** The nearest double by bisection; `isAtLeast` tells whether the number is at least a bound. */
function search(
  isAtLeast: (bound: Fraction) => boolean,
  middle: (a: Fraction, b: Fraction) => bigint,
  guess: number,
): number {
  let [low, high] = bracketOf(isAtLeast, guess);
  while (high - low > 1n) {
    const place = (low + high) / 2n;
    if (isAtLeast(boundOf(place))) low = place;
    else high = place;
  }
  const side = middle(boundOf(low), boundOf(high)); // whether the number is below, on or above the middle
  const isUp = side > 0n || (side === 0n && low % 2n === 1n);
  return isUp && high === FIRST_TOO_LARGE ? Number.POSITIVE_INFINITY : doubleAt(isUp ? high : low);
}

const EXACT_MAX = 1n << 53n;

const half = { numerator: 1n, denominator: 2n };

/** The nearest double, ties to even; a negative number that rounds to 0 gives -0. */
export function nearest(x: Fraction): number {
  if (x.numerator < 0n) return -nearest({ ...x, numerator: -x.numerator });
  // The quotient of two doubles is the nearest one (IEEE 754), and these parts are doubles.
  if (x.numerator <= EXACT_MAX && x.denominator <= EXACT_MAX) return guessOf(x);
  return search(
    (bound) => compared(x, bound) >= 0n,
    (a, b) => compared(x, times(plus(a, b), half)),
    guessOf(x),
  );
}

/** About the quotient: its error is a few units in the last place, or NaN if a part is no finite double. */
function guessOf({ numerator, denominator }: Fraction): number {
  return Number(numerator) / Number(denominator);
}

/** The double nearest to the square root. */
export function nearestRoot(x: Fraction): number {
  const square = (a: Fraction): Fraction => times(a, a);
  return search(
    (bound) => compared(x, square(bound)) >= 0n,
    (a, b) => compared(x, square(times(plus(a, b), half))),
    Math.sqrt(guessOf(x)),
  );
}

export function sumOf(values: readonly number[]): number {
  return nearest(total(values.map(fractionOf)));
}

export function averageOf(values: readonly number[]): number {
  return nearest(dividedBy(total(values.map(fractionOf)), whole(values.length)));
}

/** The point at fraction f between a and b; exact at both ends. */
export function lerp(a: number, b: number, f: number): number {
  return f < 0.5 ? a + (b - a) * f : b - (b - a) * (1 - f);
}

/** Linear interpolation between order statistics. -0 sorts before 0. */
export function percentileOf(values: readonly number[], percentile: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = times(fractionOf(percentile), { numerator: BigInt(sorted.length - 1), denominator: 100n });
  const k = rank.numerator / rank.denominator;
  const f = minus(rank, whole(k));
  const below = sorted[Number(k)] ?? Number.NaN;
  if (f.numerator === 0n) return below;
  const above = sorted[Number(k) + 1] ?? Number.NaN;
  if (below === above) return below;
  const [a, b] = [fractionOf(below), fractionOf(above)];
  return nearest(plus(a, times(minus(b, a), f)));
}

/** Sample variance: (Σx² − (Σx)²/n) / (n − 1). */
export function varianceOf(values: readonly number[]): Fraction {
  const numbers = values.map(fractionOf);
  const sum = total(numbers);
  const squares = total(numbers.map((x) => times(x, x)));
  const spread = minus(squares, dividedBy(times(sum, sum), whole(values.length)));
  return dividedBy(spread, whole(values.length - 1));
}

/** §3 Round: to the nearest by the digits of the shortest decimal form, in integers. Zero is +0. */
export function roundTo(x: number, digits: number, mode: 'halfaway' | 'halfeven'): number {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(x));
  if (match === null) throw new Error(`not a finite number: ${x}`);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const coefficient = BigInt(whole + fraction); // |x| is coefficient · 10^power
  const power = Number(exponent) - fraction.length;
  const digitsTooMany = -power - digits;
  if (coefficient === 0n || digitsTooMany <= 0) return x + 0;

  const unit = 10n ** BigInt(digitsTooMany);
  const rest = coefficient % unit;
  let quotient = coefficient / unit;
  const half = rest * 2n === unit;
  if (rest * 2n > unit || (half && (mode === 'halfaway' || quotient % 2n === 1n))) quotient += 1n;
  return quotient === 0n ? 0 : Number(`${sign}${quotient}e${-digits}`);
}
