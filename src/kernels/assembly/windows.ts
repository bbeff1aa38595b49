import { firstAmongEight } from './points';

// Windows that follow each other in a chunk, as in ../windows.ts; returns how many there are now.
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

// The first of the times `from..count`, which rise, that is not before the point, searched in steps that double.
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

// @ts-ignore: decorator
@inline
function pair(low: usize, high: usize): v128 {
  return v128.load64_lane(high, v128.load64_zero(low), 1);
}

// The compensated sums of windows. Two go side by side in the two lanes, each in its own time order: one of the first
// half of the windows and one of the second, so that memory is read as two even streams.
export function sumWindows(value: usize, borders: usize, windowCount: i32, sums: usize): void {
  const half = (windowCount + 1) >> 1;
  for (let w = 0; w < half; w++) {
    const edge = borders + (<usize>w << 2);
    let low = value + (<usize>load<u32>(edge) << 3);
    const lowLast = value + (<usize>load<u32>(edge, 4) << 3);
    let high = low;
    let highLast = low;
    const isPair = w + half < windowCount;
    if (isPair) {
      const other = edge + (<usize>half << 2);
      high = value + (<usize>load<u32>(other) << 3);
      highLast = value + (<usize>load<u32>(other, 4) << 3);
    }
    let sum = f64x2.splat(0);
    let lost = f64x2.splat(0);
    const lowShared = lowLast - low < highLast - high ? lowLast : low + (highLast - high);
    while (low < lowShared) {
      const x = pair(low, high);
      const next = f64x2.add(sum, x);
      const part = f64x2.sub(next, sum);
      lost = f64x2.add(lost, f64x2.add(f64x2.sub(sum, f64x2.sub(next, part)), f64x2.sub(x, part)));
      sum = next;
      low += 8;
      high += 8;
    }
    const out = sums + (<usize>w << 3);
    f64.store(out, rest(low, lowLast, f64x2.extract_lane(sum, 0), f64x2.extract_lane(lost, 0)));
    if (isPair) {
      const second = rest(high, highLast, f64x2.extract_lane(sum, 1), f64x2.extract_lane(lost, 1));
      f64.store(out + (<usize>half << 3), second);
    }
  }
}

function rest(from: usize, to: usize, sumBefore: f64, lostBefore: f64): f64 {
  let sum = sumBefore;
  let lost = lostBefore;
  for (let at = from; at < to; at += 8) {
    const x = f64.load(at);
    const next = sum + x;
    const part = next - sum;
    lost += sum - (next - part) + (x - part);
    sum = next;
  }
  return sum + lost;
}

export function sumsToMeans(sums: usize, borders: usize, windowCount: i32): void {
  for (let w = 0; w < windowCount; w++) {
    const edge = borders + (<usize>w << 2);
    const at = sums + (<usize>w << 3);
    f64.store(at, f64.load(at) / <f64>(load<u32>(edge, 4) - load<u32>(edge)));
  }
}
