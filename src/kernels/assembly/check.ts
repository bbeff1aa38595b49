// 1 when each of the times is above the one before it, the first above `before`.
export function isRising(time: usize, count: i32, before: f64): i32 {
  if (count == 0) return 1;
  if (!(f64.load(time) > before)) return 0;
  let good = i64x2.splat(-1);
  let i = 1;
  for (; i + 7 < count; i += 8) {
    const at = time + (<usize>i << 3);
    const a = f64x2.gt(v128.load(at), v128.load(at - 8));
    const b = f64x2.gt(v128.load(at, 16), v128.load(at, 8));
    const c = f64x2.gt(v128.load(at, 32), v128.load(at, 24));
    const d = f64x2.gt(v128.load(at, 48), v128.load(at, 40));
    good = v128.and(good, v128.and(v128.and(a, b), v128.and(c, d)));
  }
  for (; i < count; i++) {
    const at = time + (<usize>i << 3);
    if (!(f64.load(at) > f64.load(at - 8))) return 0;
  }
  return i64x2.all_true(good);
}

// A number minus itself has no bit set; infinity minus infinity and NaN minus NaN have.
export function isAllFinite(value: usize, count: i32): i32 {
  let bad = i64x2.splat(0);
  let more = i64x2.splat(0);
  let at = value;
  const last = value + (<usize>count << 3);
  for (; at + 56 < last; at += 64) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    bad = v128.or(bad, v128.or(f64x2.sub(a, a), f64x2.sub(b, b)));
    more = v128.or(more, v128.or(f64x2.sub(c, c), f64x2.sub(d, d)));
  }
  for (; at < last; at += 8) {
    const x = v128.load64_zero(at);
    bad = v128.or(bad, f64x2.sub(x, x));
  }
  return v128.any_true(v128.or(bad, more)) ? 0 : 1;
}
