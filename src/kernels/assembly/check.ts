// 1 when each of the times is above the one before it, the first above `before`.
export function isRising(time: usize, count: i32, before: f64): i32 {
  if (count == 0) return 1;
  if (!(f64.load(time) > before)) return 0;
  let good = i64x2.splat(-1);
  let i = 1;
  for (; i + 3 < count; i += 4) {
    const at = time + (<usize>i << 3);
    const a = f64x2.gt(v128.load(at), v128.load(at - 8));
    const b = f64x2.gt(v128.load(at, 16), v128.load(at, 8));
    good = v128.and(good, v128.and(a, b));
  }
  for (; i < count; i++) {
    const at = time + (<usize>i << 3);
    if (!(f64.load(at) > f64.load(at - 8))) return 0;
  }
  return i64x2.all_true(good);
}

export function isAllFinite(value: usize, count: i32): i32 {
  const exponent = i64x2.splat(0x7ff0000000000000);
  let bad = i64x2.splat(0);
  let i = 0;
  for (; i + 3 < count; i += 4) {
    const at = value + (<usize>i << 3);
    const a = i64x2.eq(v128.and(v128.load(at), exponent), exponent);
    const b = i64x2.eq(v128.and(v128.load(at, 16), exponent), exponent);
    bad = v128.or(bad, v128.or(a, b));
  }
  for (; i < count; i++) {
    const x = f64.load(value + (<usize>i << 3));
    if (x - x != 0) return 0;
  }
  return v128.any_true(bad) ? 0 : 1;
}
