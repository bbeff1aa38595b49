/** Exact arithmetic in whole numbers, for the few values whose rounding doubles cannot decide. */

const double = new Float64Array(1);
const bits = new BigUint64Array(double.buffer);

/** A finite double as a whole number of 2⁻¹⁰⁷⁴, the least double. */
export function inLeastUnits(x: number): bigint {
  double[0] = x;
  const raw = bits[0]!;
  const exponent = (raw >> 52n) & 0x7ffn;
  const fraction = raw & 0xf_ffff_ffff_ffffn;
  const size = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return raw >> 63n === 0n ? size : -size;
}

/** The double nearest to a quotient with a positive denominator; ties go to even. */
export function nearestDouble(numerator: bigint, denominator: bigint): number {
  if (numerator < 0n) return -nearestDouble(-numerator, denominator);
  if (numerator === 0n) return 0;
  // 2 ** exponent is the distance between doubles there.
  let exponent = Math.max(bitLength(numerator) - bitLength(denominator) - 53, -1074);
  let digits = quotientOf(numerator, denominator, exponent);
  if (digits.floor >> 53n !== 0n) {
    exponent++;
    digits = quotientOf(numerator, denominator, exponent);
  }
  const { floor, rest, divisor } = digits;
  const isUp = 2n * rest > divisor || (2n * rest === divisor && (floor & 1n) === 1n);
  return Number(isUp ? floor + 1n : floor) * 2 ** exponent;
}

function quotientOf(numerator: bigint, denominator: bigint, exponent: number) {
  const shift = BigInt(Math.abs(exponent));
  const dividend = exponent < 0 ? numerator << shift : numerator;
  const divisor = exponent > 0 ? denominator << shift : denominator;
  const floor = dividend / divisor;
  return { floor, rest: dividend - floor * divisor, divisor };
}

/** How many binary digits a positive whole number has. */
export function bitLength(x: bigint): number {
  const text = x.toString(16);
  return 4 * text.length - Math.clz32(Number.parseInt(text.charAt(0), 16)) + 28;
}
