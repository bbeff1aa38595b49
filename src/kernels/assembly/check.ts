// 1 when each of the times is above the one before it, the first above `before`.
export function isRising(time: usize, count: i32, before: f64): i32 {
  if (count == 0) return 1;
  if (!(f64.load(time) > before)) return 0;
  let good = i64x2.splat(-1);
  let at = time + 8;
  const last = time + (<usize>count << 3);
  for (; at + 8 < last; at += 16) good = v128.and(good, f64x2.gt(v128.load(at), v128.load(at - 8)));
  if (at < last && !(f64.load(at) > f64.load(at - 8))) return 0;
  return i64x2.all_true(good);
}

// A number minus itself has no bit set; infinity minus infinity and NaN minus NaN have.
export function isAllFinite(value: usize, count: i32): i32 {
  let bad = i64x2.splat(0);
  const last = value + (<usize>count << 3);
  let at = value;
  for (; at + 8 < last; at += 16) {
    const x = v128.load(at);
    bad = v128.or(bad, f64x2.sub(x, x));
  }
  if (at < last) {
    const x = v128.load64_zero(at);
    bad = v128.or(bad, f64x2.sub(x, x));
  }
  return v128.any_true(bad) ? 0 : 1;
}
