// Like those of elementwise.ts, these kernels take samples in groups of 32.

// @ts-ignore: decorator
@inline
function liesIn(x: v128, lower: v128, upper: v128): v128 {
  return v128.and(f64x2.ge(x, lower), f64x2.le(x, upper));
}

// Copies the samples to keep and returns their count: those whose value lies in [lower, upper] if `isInside` is 1, the
// others if it is 0. It writes every sample and moves on by 0 or 1, because which ones stay is as good as random and a
// branch would be mispredicted. The output may overlap what it has read.
export function keepRange(
  time: usize,
  value: usize,
  count: i32,
  lower: f64,
  upper: f64,
  isInside: i32,
  outTime: usize,
  outValue: usize,
): i32 {
  const low = f64x2.splat(lower);
  const high = f64x2.splat(upper);
  const flip = isInside ? 0 : 3;
  // The distance of the times from the values.
  const toTime = time - value;
  const toOutTime = outTime - outValue;
  const last = value + (<usize>(count >> 5) << 8);
  let out = outValue;
  for (let at = value; at < last; at += 32) {
    const x = v128.load(at);
    const y = v128.load(at, 16);
    const t = v128.load(at + toTime);
    const u = v128.load(at + toTime, 16);
    const first = i64x2.bitmask(liesIn(x, low, high)) ^ flip;
    const second = i64x2.bitmask(liesIn(y, low, high)) ^ flip;
    v128.store64_lane(out, x, 0);
    v128.store64_lane(out + toOutTime, t, 0);
    out += <usize>((first & 1) << 3);
    v128.store64_lane(out, x, 1);
    v128.store64_lane(out + toOutTime, t, 1);
    out += <usize>((first & 2) << 2);
    v128.store64_lane(out, y, 0);
    v128.store64_lane(out + toOutTime, u, 0);
    out += <usize>((second & 1) << 3);
    v128.store64_lane(out, y, 1);
    v128.store64_lane(out + toOutTime, u, 1);
    out += <usize>((second & 2) << 2);
  }
  return <i32>((out - outValue) >> 3);
}

// How many values lie in [lower, upper]. As in elementwise.ts, memory is read as four streams.
export function countRange(value: usize, count: i32, lower: f64, upper: f64): i32 {
  const low = f64x2.splat(lower);
  const high = f64x2.splat(upper);
  let inside = i64x2.splat(0);
  const quarter = <usize>(count >> 5) << 6;
  for (let at = value; at < value + quarter; at += 16) {
    for (let from = at; from < at + (quarter << 2); from += quarter) {
      inside = i64x2.sub(inside, liesIn(v128.load(from), low, high));
    }
  }
  return <i32>(i64x2.extract_lane(inside, 0) + i64x2.extract_lane(inside, 1));
}
