import { firstAmongEight } from './points';
import { lossOf, productError } from './product';

// Finds windows that follow each other in a chunk, as in ../windows.ts. Returns how many there are now.
export function findWindows(
  time: usize,
  count: i32,
  startMs: f64,
  lengthMs: f64,
  borders: usize,
  windowCount: i32,
  starts: usize,
): i32 {
  let from = <i32>load<u32>(borders + (<usize>windowCount << 2));
  let start = startMs;
  let found = windowCount;
  let length = 0;
  let isNext = true;
  while (isNext) {
    const end = start + lengthMs;
    let to = firstAmongEight(time, from, count, end, from + length - 4);
    if (to < 0) to = firstNotBeforeFar(time, from, count, end);
    if (to >= count) break;
    f64.store(starts + (<usize>found << 3), start);
    found++;
    store<u32>(borders + (<usize>found << 2), to);
    length = to - from;
    from = to;
    start = end;
    isNext = f64.load(time + (<usize>to << 3)) < end + lengthMs;
  }
  return found;
}

// The first of the rising times `from..count` that is not before the point, by galloping search.
function firstNotBeforeFar(time: usize, from: i32, count: i32, point: f64): i32 {
  let low = from;
  let reach = 1;
  while (low < count && f64.load(time + (<usize>low << 3)) < point) {
    low += reach;
    reach <<= 1;
  }
  let high = low < count ? low : count;
  low = from;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (f64.load(time + (<usize>middle << 3)) < point) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The exact sums of windows, or their means. The lanes take samples in turn. The result is NaN if a sum needs more than
// two doubles or a mean lies too close to the middle between two.
export function sumWindows(value: usize, borders: usize, windowCount: i32, isMean: i32, results: usize): void {
  const zero = f64x2.splat(0);
  for (let w = 0; w < windowCount; w++) {
    const edge = borders + (<usize>w << 2);
    const first = value + (<usize>load<u32>(edge) << 3);
    const last = value + (<usize>load<u32>(edge, 4) << 3);
    let sum = zero;
    let lost = zero;
    let spilt = zero;
    for (let at = first; at < last; at += 16) {
      const x = at + 8 < last ? v128.load(at) : v128.load64_zero(at);
      const next = f64x2.add(sum, x);
      const part = f64x2.sub(next, sum);
      const loss = f64x2.add(f64x2.sub(sum, f64x2.sub(next, part)), f64x2.sub(x, part));
      sum = next;
      // A sum of two is exact if taking each of them away leaves the other.
      const lostNext = f64x2.add(lost, loss);
      const lostPart = f64x2.sub(lostNext, lost);
      spilt = v128.or(spilt, v128.or(v128.xor(lostPart, loss), v128.xor(f64x2.sub(lostNext, lostPart), lost)));
      lost = lostNext;
    }
    // Zero of either sign has no bits set but the sign.
    const isPlain = !v128.any_true(f64x2.abs(spilt));
    const divisor = isMean ? <f64>((last - first) >> 3) : 1;
    f64.store(results + (<usize>w << 3), isPlain ? quotientOfLanes(sum, lost, divisor) : f64.NaN);
  }
}

/** All digits of a double but its last 27. */
const UPPER: i64 = -134217728;
/** 2^26. */
const LENGTH_END: f64 = 67108864;

// The held values of each window, integrated and divided, as in ../windows.ts. The lanes take samples in turn: first
// the one before the window, last the one after it, whose length is 0; what is read after that has none either. A value
// is split into two halves of its digits (26 and 27): the product of a half and a length below 2^26 is a double, which
// gives the rounding error of the whole product.
export function holdWindows(
  time: usize,
  value: usize,
  borders: usize,
  windowCount: i32,
  starts: usize,
  lengthMs: f64,
  maxHoldMs: f64,
  divisorMs: f64,
  results: usize,
): void {
  const zero = f64x2.splat(0);
  const upper = i64x2.splat(UPPER);
  const maxHold = f64x2.splat(maxHoldMs);
  for (let w = 0; w < windowCount; w++) {
    const edge = borders + (<usize>w << 2);
    const first = (<usize>load<u32>(edge) << 3) - 8;
    const last = <usize>load<u32>(edge, 4) << 3;
    const startMs = f64.load(starts + (<usize>w << 3));
    const start = f64x2.splat(startMs);
    const end = f64x2.splat(startMs + lengthMs);
    let known = zero;
    let longest = zero;
    let sum = zero;
    let lost = zero;
    let spilt = zero;
    for (let at = first; at < last; at += 16) {
      const t = v128.load(time + at);
      const x = v128.load(value + at);
      const until = f64x2.pmin(f64x2.pmin(end, v128.load(time + at, 8)), f64x2.add(t, maxHold));
      const length = f64x2.pmax(zero, f64x2.sub(until, f64x2.pmax(start, t)));
      known = f64x2.add(known, length);
      longest = f64x2.pmax(longest, length);
      const product = f64x2.mul(x, length);
      const high = v128.and(x, upper);
      const upperPart = f64x2.sub(f64x2.mul(high, length), product);
      const error = f64x2.add(upperPart, f64x2.mul(f64x2.sub(x, high), length));
      const next = f64x2.add(sum, product);
      const part = f64x2.sub(next, sum);
      const loss = f64x2.add(f64x2.sub(sum, f64x2.sub(next, part)), f64x2.sub(product, part));
      sum = next;
      // A sum of two is exact if taking each of them away leaves the other.
      const lostOnce = f64x2.add(lost, loss);
      const partOnce = f64x2.sub(lostOnce, lost);
      const lostTwice = f64x2.add(lostOnce, error);
      const partTwice = f64x2.sub(lostTwice, lostOnce);
      const spiltOnce = v128.or(v128.xor(partOnce, loss), v128.xor(f64x2.sub(lostOnce, partOnce), lost));
      const spiltTwice = v128.or(v128.xor(partTwice, error), v128.xor(f64x2.sub(lostTwice, partTwice), lostOnce));
      spilt = v128.or(spilt, v128.or(v128.or(spiltOnce, spiltTwice), v128.xor(t, f64x2.nearest(t))));
      lost = lostTwice;
    }
    // Zero of either sign has no bits set but the sign.
    const isLong = v128.any_true(f64x2.ge(longest, f64x2.splat(LENGTH_END)));
    const isPlain = !isLong && !v128.any_true(f64x2.abs(spilt));
    const knownMs = f64x2.extract_lane(known, 0) + f64x2.extract_lane(known, 1);
    const divisor = divisorMs > 0 ? divisorMs : knownMs;
    f64.store(results + (<usize>w << 3), isPlain && knownMs > 0 ? quotientOfLanes(sum, lost, divisor) : f64.NaN);
  }
}

function quotientOfLanes(sum: v128, lost: v128, divisor: f64): f64 {
  const sum0 = f64x2.extract_lane(sum, 0);
  const sum1 = f64x2.extract_lane(sum, 1);
  const lost0 = f64x2.extract_lane(lost, 0);
  const lost1 = f64x2.extract_lane(lost, 1);
  const both = sum0 + sum1;
  const loss = lossOf(sum0, sum1, both);
  const lostBoth = lost0 + lost1;
  const lostAll = lostBoth + loss;
  if (lossOf(lost0, lost1, lostBoth) != 0 || lossOf(lostBoth, loss, lostAll) != 0) return f64.NaN;
  return quotient(both, lostAll, divisor);
}

// (sum + lost) ÷ divisor, as `quotientOf` of ../exact/results.ts.
function quotient(sum: f64, lost: f64, divisor: f64): f64 {
  const high = sum + lost;
  const low = lossOf(sum, lost, high);
  if (divisor == 1) return high;
  const size = Math.abs(high);
  if (!(size > SMALL && size < LARGE)) return high == 0 ? 0 : f64.NaN;
  const quotient = high / divisor;
  const whole = <i32>divisor;
  if ((whole & (whole - 1)) == 0) return quotient;
  const product = quotient * divisor;
  const left = high - product - productError(quotient, divisor, product);
  const rest = left + low;
  const correction = rest / divisor;
  const doubt = Math.abs(correction) * 8.881784197001252e-16;
  const result = quotient + (correction - doubt);
  if (result == quotient + (correction + doubt)) return result;
  const again = correction * divisor;
  const part = rest - left;
  const isWhole = left - (rest - part) + (low - part) == 0;
  const isExact = isWhole && again == rest && productError(correction, divisor, again) == 0;
  return isExact && Math.abs(again) > SMALL ? quotient + correction : f64.NaN;
}

const SMALL: f64 = 1.1830521861667747e-271;
const LARGE: f64 = 8.452712498170644e270;
