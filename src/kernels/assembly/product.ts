/** 2^27 + 1: splits a double into two halves of its digits. */
const SPLIT: f64 = 134217729;

/** The rounding error of `product`, which is x·y (Dekker, 1971). exact/sums.ts has the same in JavaScript. */
export function productError(x: f64, y: f64, product: f64): f64 {
  const xScaled = SPLIT * x;
  const xHigh = xScaled - (xScaled - x);
  const xLow = x - xHigh;
  const yScaled = SPLIT * y;
  const yHigh = yScaled - (yScaled - y);
  const yLow = y - yHigh;
  return xLow * yLow - (product - xHigh * yHigh - xLow * yHigh - xHigh * yLow);
}

/** The rounding error of `sum`, which is a + b (Knuth's TwoSum). exact/sums.ts has the same in JavaScript. */
export function lossOf(a: f64, b: f64, sum: f64): f64 {
  const part = sum - a;
  return a - (sum - part) + (b - part);
}
