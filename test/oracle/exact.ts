// Exact arithmetic on integers: rationals and elementary functions, rounded once to the nearest double.

/** The double nearest to n ÷ d, with d > 0: many binary places, and one more bit for a remainder. */
export function nearestQuotient(n: bigint, d: bigint): number {
  const size = n < 0n ? -n : n;
  // 1200 places are enough for the smallest doubles, 200 for all above 2⁻¹⁰⁰.
  const places = size << 100n < d ? 1200n : 200n;
  const scaled = size << places;
  const digits = ((scaled / d) << 1n) | (scaled % d === 0n ? 0n : 1n);
  const nearest = Number(`${digits * (places === 200n ? FIVES_201 : FIVES_1201)}e-${places + 1n}`);
  return n < 0n ? -nearest : nearest;
}

const FIVES_201 = 5n ** 201n;
const FIVES_1201 = 5n ** 1201n;

/** A double as a multiple of 2⁻¹⁰⁷⁴. */
export function unitsOf(x: number): bigint {
  // Doubling is exact; this counts how often it takes to reach an integer.
  let whole = x;
  let exponent = 1074n;
  while (!Number.isInteger(whole)) {
    const isSmall = Math.abs(whole) < 2 ** -60;
    whole *= isSmall ? 2 ** 60 : 2;
    exponent -= isSmall ? 60n : 1n;
  }
  return exponent >= 0n ? BigInt(whole) << exponent : BigInt(whole) >> -exponent;
}

const PLACES = 420n;
const ONE = 1n << PLACES;
const fixed = (x: number): bigint => (unitsOf(x) << PLACES) >> 1074n;

/** e to a fixed-point power: halved until it is small, then the power series. */
function expFixed(x: bigint): bigint {
  let halvings = 0n;
  while (x >> halvings > ONE >> 8n || x >> halvings < -(ONE >> 8n)) halvings += 1n;
  const small = x >> halvings;
  let term = ONE;
  let sum = ONE;
  for (let n = 1n; n < 60n; n += 1n) {
    term = ((term * small) >> PLACES) / n;
    sum += term;
  }
  for (let i = 0n; i < halvings; i += 1n) sum = (sum * sum) >> PLACES;
  return sum;
}

const logs = new Map<number, bigint>();

/** The natural logarithm by Halley's iteration on e^y = m, with x = m × 2^k and m near 1. */
function logFixed(x: number): bigint {
  const known = logs.get(x) ?? newLog(x);
  logs.set(x, known);
  return known;
}

function newLog(x: number): bigint {
  const units = unitsOf(x);
  const length = units.toString(2).length;
  const m = length > Number(PLACES) ? units >> BigInt(length - 420) : units << BigInt(420 - length);
  return logOfHalfToOne(m) + BigInt(length - 1074) * ln2();
}

function logOfHalfToOne(m: bigint): bigint {
  let y = fixed(Math.log(Number(m >> (PLACES - 60n)) / 2 ** 60));
  // From 50 digits to 150 to 450.
  for (let i = 0; i < 2; i += 1) {
    const e = expFixed(y);
    y += (2n * (m - e) * ONE) / (m + e);
  }
  return y;
}

let ln2Fixed: bigint | undefined;
function ln2(): bigint {
  ln2Fixed ??= -logOfHalfToOne(ONE >> 1n);
  return ln2Fixed;
}

/**
 * A value within 2⁻²²⁰ of a number with few digits is that number: x^1.5 can be exact, or halfway between two doubles.
 */
function settled(mantissa: bigint, exponent: bigint): number {
  const spare = BigInt(mantissa.toString(2).length - 220);
  const rounded = ((mantissa >> (spare - 1n)) + 1n) >> 1n;
  const places = PLACES - exponent - spare;
  return places >= 0n ? nearestQuotient(rounded, 1n << places) : nearestQuotient(rounded << -places, 1n);
}

function expOf(x: bigint): number {
  const k = x / ln2();
  return settled(expFixed(x - k * ln2()), k);
}

export function exactExp(x: number): number {
  if (x > 710) return Number.POSITIVE_INFINITY;
  return x < -746 ? 0 : expOf(fixed(x));
}

export function exactLog(x: number, base?: number): number {
  if (!(x > 0)) return Number.NaN;
  if (x === 1) return 0;
  if (base === undefined) return nearestQuotient(logFixed(x), ONE);
  const divisor = logFixed(base);
  return divisor < 0n ? nearestQuotient(-logFixed(x), -divisor) : nearestQuotient(logFixed(x), divisor);
}

export function exactPow(x: number, y: number): number {
  if (y === 0 || x === 1) return 1;
  const isOdd = Number.isInteger(y) && Math.abs(y % 2) === 1;
  if (x === 0) return y > 0 ? (isOdd ? x : 0) : Number.POSITIVE_INFINITY;
  if (x < 0) return Number.isInteger(y) ? (isOdd ? -exactPow(-x, y) : exactPow(-x, y)) : Number.NaN;
  const logarithm = (logFixed(x) * unitsOf(y)) >> 1074n;
  if (logarithm > 710n * ONE) return Number.POSITIVE_INFINITY;
  return logarithm < -746n * ONE ? 0 : expOf(logarithm);
}
