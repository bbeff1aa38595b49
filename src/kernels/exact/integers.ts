/**
 * Doubles, their products and their sums as whole multiples (units) of 2^-2148, which all of them are: arithmetic
 * without rounding, for what a few doubles cannot hold, and the one rounding at its end.
 */

const UNIT_EXPONENT = -2148;
/** The exponent of the last bit of the smallest double. */
const LEAST_EXPONENT = -1074;
const FRACTION = (1n << 52n) - 1n;

const double = new Float64Array(1);
const bits = new BigUint64Array(double.buffer);

/** A finite double as a whole number of units. */
export function toInteger(x: number): bigint {
  double[0] = x;
  const word = bits[0]!;
  const exponent = (word >> 52n) & 0x7ffn;
  const fraction = word & FRACTION;
  const size = (exponent === 0n ? fraction : (fraction | (FRACTION + 1n)) << (exponent - 1n)) << 1074n;
  return word >> 63n === 0n ? size : -size;
}

/** The product of two finite doubles. */
export function productInteger(x: number, y: number): bigint {
  // Both factors are whole numbers of 2^-1074, so nothing is cut off.
  return (toInteger(x) * toInteger(y)) >> 2148n;
}

/** The double nearest to a number of units divided by a whole number above 0, ties to even. */
export function roundQuotient(units: bigint, divisor: bigint): number {
  if (units < 0n) return -roundQuotient(-units, divisor);
  if (units === 0n) return 0;
  const shift = 56 + bitLength(divisor) - bitLength(units);
  const scaled = shift >= 0 ? units << BigInt(shift) : units;
  const scaledDivisor = shift >= 0 ? divisor : divisor << BigInt(-shift);
  const quotient = scaled / scaledDivisor;
  return roundBits(quotient, quotient * scaledDivisor !== scaled, UNIT_EXPONENT - shift);
}

/** The double nearest to the square root of a number of units divided by a whole number above 0. */
export function roundRoot(units: bigint, divisor: bigint): number {
  if (units <= 0n) return 0;
  const half = Math.max(0, Math.ceil((114 + bitLength(divisor) - bitLength(units)) / 2));
  const scaled = units << BigInt(2 * half);
  const quotient = scaled / divisor;
  const root = squareRoot(quotient);
  const isCut = root * root !== quotient || quotient * divisor !== scaled;
  return roundBits(root, isCut, UNIT_EXPONENT / 2 - half);
}

// The double nearest to `whole`·2^exponent. `whole` has at least 55 bits; with `isCut` the number is a little more.
function roundBits(whole: bigint, isCut: boolean, exponent: number): number {
  const surplus = Math.max(bitLength(whole) - 53, LEAST_EXPONENT - exponent);
  if (surplus <= 0) return scale(Number(whole), exponent);
  const cut = BigInt(surplus);
  const kept = whole >> cut;
  const rest = whole - (kept << cut);
  const half = 1n << (cut - 1n);
  const isUp = rest > half || (rest === half && (isCut || (kept & 1n) === 1n));
  return scale(Number(isUp ? kept + 1n : kept), exponent + surplus);
}

// Exact, in two steps, as the power itself may be too large or small for a double. A result may be infinite.
function scale(x: number, exponent: number): number {
  const part = Math.trunc(exponent / 2);
  return x * 2 ** part * 2 ** (exponent - part);
}

export function bitLength(whole: bigint): number {
  const digits = whole.toString(16);
  return 4 * digits.length - Math.clz32(Number.parseInt(digits[0]!, 16)) + 28;
}

function squareRoot(whole: bigint): bigint {
  let root = 1n << BigInt((bitLength(whole) + 1) >> 1);
  for (;;) {
    const next = (root + whole / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

const DIGIT_BITS = 48;
const DIGIT = (1n << 48n) - 1n;

/** Units as doubles: the sign, the index of the lowest digit (48 bits) that is not 0, and the digits from there on. */
export function writeDigits(units: bigint): number[] {
  if (units === 0n) return [];
  const out = [units < 0n ? -1 : 1, 0];
  for (let rest = units < 0n ? -units : units, index = 0; rest !== 0n; rest >>= 48n, index++) {
    const digit = rest & DIGIT;
    if (digit === 0n && out.length === 2) continue;
    if (out.length === 2) out[1] = index;
    out.push(Number(digit));
  }
  return out;
}

export function readDigits(digits: ArrayLike<number>): bigint {
  let size = 0n;
  for (let i = digits.length - 1; i >= 2; i--) size = (size << 48n) | BigInt(digits[i]!);
  return (size << BigInt(DIGIT_BITS * digits[1]!)) * BigInt(digits[0]!);
}
