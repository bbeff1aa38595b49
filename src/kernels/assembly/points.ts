// The first sample that the last call was not done with.
export let pointsEnd: i32 = 0;

// Points of a grid with the value held at each, as in ../points.ts; gives how many it wrote. Where points lie further
// apart than samples, the next sample that matters is first looked for as far on as the last one was.
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
  isMet: i32,
  room: i32,
): i32 {
  let point = firstPoint;
  let written = 0;
  let i = from;
  let last = from;
  let stride = 0;
  for (; i < count; i++) {
    i = firstNotBefore(time, i, count, point, last + stride - 4);
    if (i >= count) break;
    stride = i - last;
    last = i;
    const at = <usize>i << 3;
    const t = f64.load(time + at);
    if (point < t) {
      const held = i == 0 ? lastValue : f64.load(value + at - 8);
      while (point < t && written < room) {
        f64.store(outTime + (<usize>written << 3), point);
        f64.store(outValue + (<usize>written << 3), held);
        written++;
        point += step;
      }
      if (point < t) break;
      const alike = onePointEach(time, value, outTime, outValue, i + 1, count, point, step, written, room);
      if (alike > 0) {
        i += alike;
        written += alike;
        point += <f64>alike * step;
        continue;
      }
    }
    if (isMet && point == t) {
      if (written == room) break;
      f64.store(outTime + (<usize>written << 3), point);
      f64.store(outValue + (<usize>written << 3), f64.load(value + at));
      written++;
      point += step;
    }
  }
  pointsEnd = i;
  return written;
}

// The first of the times `from..count`, which rise, that is not before the point. It is most likely among the eight
// from `guess` on, and then counting those before it takes no branch; else every eighth time is looked at.
// @ts-ignore: decorator
@inline
function firstNotBefore(time: usize, from: i32, count: i32, point: f64, guess: i32): i32 {
  const likely = guess > from ? guess : from;
  if (likely + 7 < count && f64.load(time + (<usize>likely << 3), 56) >= point) {
    if (likely == from || f64.load(time + (<usize>likely << 3) - 8) < point) {
      return likely + countBefore(time + (<usize>likely << 3), point);
    }
  }
  let i = from;
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

// Samples that come as evenly as the points: while each of four has one point before it, later than the sample before,
// they go together. Gives how many did.
// @ts-ignore: decorator
@inline
function onePointEach(
  time: usize,
  value: usize,
  outTime: usize,
  outValue: usize,
  from: i32,
  count: i32,
  firstPoint: f64,
  step: f64,
  written: i32,
  room: i32,
): i32 {
  const length = count - from < room - written ? count - from : room - written;
  let at = time + (<usize>from << 3);
  if (length < 4 || f64.load(at) <= firstPoint) return 0;
  const toHeld = value - time - 8;
  const toOutTime = outTime + (<usize>written << 3) - at;
  const toOutValue = outValue + (<usize>written << 3) - at;
  const steps = f64x2.splat(step);
  const two = f64x2.splat(2 * step);
  let point = f64x2(firstPoint, firstPoint + step);
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
  return done;
}
