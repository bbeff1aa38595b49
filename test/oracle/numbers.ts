// The floating-point formulas, fixed so that two implementations can agree to the last bit.

/** Neumaier's compensated sum, in the order given. */
export function sumOf(values: readonly number[]): number {
  let sum = 0;
  let compensation = 0;
  for (const value of values) {
    const next = sum + value;
    if (Math.abs(sum) >= Math.abs(value)) compensation += sum - next + value;
    else compensation += value - next + sum;
    sum = next;
  }
  return sum + compensation;
}

/** The point a fraction f of the way from a to b; exact at both ends. */
export function lerp(a: number, b: number, f: number): number {
  return f < 0.5 ? a + (b - a) * f : b - (b - a) * (1 - f);
}

/** Linear interpolation between order statistics. A zero of either sign sorts with -0 first. */
export function percentileOf(values: readonly number[], percentile: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = (percentile / 100) * (sorted.length - 1);
  const k = Math.floor(rank);
  const f = rank - k;
  const below = sorted[k] ?? Number.NaN;
  return f === 0 ? below : lerp(below, sorted[k + 1] ?? Number.NaN, f);
}

/** Variance with n-1, around the first value. Not finite when a sum on the way is not (§1.2). */
export function varianceOf(values: readonly number[]): number {
  const first = values[0] ?? Number.NaN;
  const n = values.length;
  const distances = values.map((x) => x - first);
  const s1 = sumOf(distances);
  const s2 = sumOf(distances.map((d) => d * d));
  const squares = s2 - (s1 * s1) / n;
  return Number.isFinite(squares) ? Math.max(0, squares / (n - 1)) : Number.NaN;
}

/** §3 Round: to the nearest, judged on the digits of the shortest decimal form, in whole numbers. Zero is +0. */
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
