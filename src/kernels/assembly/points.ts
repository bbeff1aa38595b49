// The first sample that the last call of stepPoints has not used up.
export let pointsEnd: i32 = 0;

// Writes the points of a grid with the value held at each, as in ../points.ts, and returns how many it wrote.
export function stepPoints(
  time: usize,
  value: usize,
  outTime: usize,
  outValue: usize,
  from: i32,
  count: i32,
  lastValue: f64,
  firstPoint: f64,
  step: f64,
  room: i32,
): i32 {
  const spanMs = f64.load(time + (<usize>count << 3) - 8) - f64.load(time + (<usize>from << 3));
  const isSparse = 4 * spanMs < step * <f64>(count - from);
  nextPoint = firstPoint;
  written = 0;
  let last = from;
  let stride = 0;
  let i = from;
  for (; i < count; i++) {
    if (isSparse) {
      // Look for the next sample that matters at the same distance as the last one.
      i = firstNotBefore(time, i, count, nextPoint, last + stride - 4);
      if (i >= count) break;
      stride = i - last;
      last = i;
    }
    const at = <usize>i << 3;
    const t = f64.load(time + at);
    if (nextPoint < t) {
      writeHeld(t, i == 0 ? lastValue : f64.load(value + at - 8), outTime, outValue, step, room);
      if (nextPoint < t) break;
      if (!isSparse) {
        i += onePointEach(time, value, outTime, outValue, i + 1, count, step, room);
        i += fewPointsEach(time, value, outTime, outValue, i + 1, count, step, room);
      }
    }
    if (nextPoint == f64.load(time + (<usize>i << 3))) {
      if (written == room) break;
      f64.store(outTime + (<usize>written << 3), nextPoint);
      f64.store(outValue + (<usize>written << 3), f64.load(value + (<usize>i << 3)));
      written++;
      nextPoint += step;
    }
  }
  pointsEnd = i;
  return written;
}

let nextPoint: f64 = 0;
let written: i32 = 0;

// Writes the points before a time, as far as there is room.
// @ts-ignore: decorator
@inline
function writeHeld(t: f64, held: f64, outTime: usize, outValue: usize, step: f64, room: i32): void {
  let point = nextPoint;
  let out = outTime + (<usize>written << 3);
  const outEnd = outTime + (<usize>room << 3);
  const toOutValue = outValue - outTime;
  for (; point < t && out < outEnd; out += 8) {
    f64.store(out, point);
    f64.store(out + toOutValue, held);
    point += step;
  }
  nextPoint = point;
  written = <i32>((out - outTime) >> 3);
}

// The first of the rising times `from..count` that is not before the point, if it is among the eight from `guess` on,
// where it is found without a branch. Else −1.
// @ts-ignore: decorator
@inline
export function firstAmongEight(time: usize, from: i32, count: i32, point: f64, guess: i32): i32 {
  const likely = guess > from ? guess : from;
  if (likely + 7 < count && f64.load(time + (<usize>likely << 3), 56) >= point) {
    if (likely == from || f64.load(time + (<usize>likely << 3) - 8) < point) {
      return likely + countBefore(time + (<usize>likely << 3), point);
    }
  }
  return -1;
}

// The same wherever it is: usually among the eight from `guess` on; else every eighth time is compared.
// @ts-ignore: decorator
@inline
function firstNotBefore(time: usize, from: i32, count: i32, point: f64, guess: i32): i32 {
  let i = firstAmongEight(time, from, count, point, guess);
  if (i >= 0) return i;
  i = from;
  while (i + 7 < count && f64.load(time + (<usize>i << 3), 56) < point) i += 8;
  while (i < count && f64.load(time + (<usize>i << 3)) < point) i++;
  return i;
}

// How many of eight times are before the point.
// @ts-ignore: decorator
@inline
function countBefore(at: usize, point: f64): i32 {
  const p = f64x2.splat(point);
  const first = i64x2.add(f64x2.lt(v128.load(at), p), f64x2.lt(v128.load(at, 16), p));
  const second = i64x2.add(f64x2.lt(v128.load(at, 32), p), f64x2.lt(v128.load(at, 48), p));
  const sum = i64x2.add(first, second);
  return -<i32>(i64x2.extract_lane(sum, 0) + i64x2.extract_lane(sum, 1));
}

// For samples as evenly spaced as the points: takes four at a time while each has exactly one point between it and the
// sample before. Returns how many it took.
function onePointEach(
  time: usize,
  value: usize,
  outTime: usize,
  outValue: usize,
  from: i32,
  count: i32,
  step: f64,
  room: i32,
): i32 {
  const length = count - from < room - written ? count - from : room - written;
  let at = time + (<usize>from << 3);
  if (length < 4 || f64.load(at) <= nextPoint) return 0;
  const toHeld = value - time - 8;
  const toOutTime = outTime + (<usize>written << 3) - at;
  const toOutValue = outValue + (<usize>written << 3) - at;
  const steps = f64x2.splat(step);
  const two = f64x2.splat(2 * step);
  let point = f64x2(nextPoint, nextPoint + step);
  let done = 0;
  for (; done + 3 < length; done += 4) {
    const next = f64x2.add(point, two);
    const t = v128.load(at);
    const u = v128.load(at, 16);
    const isAfter = v128.and(f64x2.gt(t, point), f64x2.gt(u, next));
    const isBefore = v128.and(f64x2.lt(t, f64x2.add(point, steps)), f64x2.lt(u, f64x2.add(next, steps)));
    if (!i64x2.all_true(v128.and(isAfter, isBefore))) break;
    v128.store(at + toOutTime, point);
    v128.store(at + toOutTime, next, 16);
    v128.store(at + toOutValue, v128.load(at + toHeld));
    v128.store(at + toOutValue, v128.load(at + toHeld, 16), 16);
    point = f64x2.add(next, two);
    at += 32;
  }
  written += done;
  nextPoint += <f64>done * step;
  return done;
}

// For samples about as frequent as the points, but uneven: each has none, one or two points before it. It always writes
// two and moves on by as many as count, because a branch would be mispredicted. Stops at a sample with more points, and
// after many samples without one. Returns how many samples it took.
function fewPointsEach(
  time: usize,
  value: usize,
  outTime: usize,
  outValue: usize,
  from: i32,
  count: i32,
  step: f64,
  room: i32,
): i32 {
  const steps = f64x2.splat(step);
  let point = f64x2.splat(nextPoint);
  let next = f64x2.add(point, steps);
  let out = outTime + (<usize>written << 3);
  const outEnd = outTime + (<usize>room << 3);
  const toOutValue = outValue - outTime;
  let at = time + (<usize>from << 3);
  const last = time + (<usize>count << 3);
  const toHeld = value - time - 8;
  let quiet = 0;
  for (; at < last && out + 8 < outEnd && quiet < 16; at += 8) {
    const t = v128.load64_splat(at);
    if (v128.any_true(f64x2.lt(f64x2.add(next, steps), t))) break;
    const isOne = f64x2.lt(point, t);
    const isTwo = f64x2.lt(next, t);
    const held = v128.load64_zero(at + toHeld);
    v128.store64_lane(out, point, 0);
    v128.store64_lane(out, next, 0, 8);
    v128.store64_lane(out + toOutValue, held, 0);
    v128.store64_lane(out + toOutValue, held, 0, 8);
    const passed = f64x2.add(v128.and(isOne, steps), v128.and(isTwo, steps));
    point = f64x2.add(point, passed);
    next = f64x2.add(next, passed);
    const ones = i64x2.bitmask(isOne) & 1;
    out += <usize>((ones + (i64x2.bitmask(isTwo) & 1)) << 3);
    quiet = (quiet + 1) & (ones - 1);
  }
  nextPoint = f64x2.extract_lane(point, 0);
  written = <i32>((out - outTime) >> 3);
  return <i32>((at - time) >> 3) - from;
}
