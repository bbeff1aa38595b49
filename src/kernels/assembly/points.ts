// The first sample that the last call was not done with.
export let pointsEnd: i32 = 0;

// Points of a grid with the value held at each, as in ../points.ts; gives how many it wrote. Between points that lie
// further apart than samples it looks at every eighth time alone: times rise.
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
  for (; i < count; i++) {
    while (i + 7 < count && f64.load(time + (<usize>i << 3), 56) < point) i += 8;
    if (i >= count) break;
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
