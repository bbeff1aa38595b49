/** The smallest double above `x`, or `x` if it is not finite. Times need not be whole milliseconds. */
export function nextDouble(x: number): number {
  if (x === 0) return Number.MIN_VALUE;
  if (!Number.isFinite(x)) return x;
  double[0] = x;
  bits[0]! += x > 0 ? 1n : -1n;
  return double[0];
}

const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);
