/** Error-free transformations: what a rounded result has lost, as a double of its own. */

const SPLITTER = 2 ** 27 + 1;

/** The loss of a + b against their sum as a double (Knuth's TwoSum). */
export function sumLoss(a: number, b: number, sum: number): number {
  const part = sum - a;
  return a - (sum - part) + (b - part);
}

/** The loss of a × b against their product as a double (Dekker, 1971), where nothing overflows or is subnormal. */
export function productLoss(a: number, b: number, product: number): number {
  const scaledA = SPLITTER * a;
  const highA = scaledA - (scaledA - a);
  const lowA = a - highA;
  const scaledB = SPLITTER * b;
  const highB = scaledB - (scaledB - b);
  const lowB = b - highB;
  return lowA * lowB - (product - highA * highB - lowA * highB - highA * lowB);
}
