const LIMIT: f64 = 1e14;

// Rounds until a value whose product with the power of ten is too large, and gives the index it stopped at.
// Only close to a tie does it take the division that decides: further off, the product is accurate enough.
export function roundHalfAway(value: usize, count: i32, power: f64): i32 {
  const p = f64x2.splat(power);
  const half = f64x2.splat(0.5);
  const one = f64x2.splat(1);
  const zero = f64x2.splat(0);
  const limit = f64x2.splat(LIMIT);
  const slack = f64x2.splat(5e-16);
  const sign = i64x2.splat(<i64>0x8000000000000000);
  for (let i = 0; i < count; i += 2) {
    const at = value + (<usize>i << 3);
    const isPair = i + 1 < count;
    const x = isPair ? v128.load(at) : v128.load64_zero(at);
    const size = f64x2.abs(x);
    const product = f64x2.mul(size, p);
    if (i64x2.all_true(f64x2.lt(product, limit)) == 0) return i;
    const k = f64x2.floor(product);
    const rest = f64x2.sub(product, k);
    let isUp = f64x2.gt(rest, half);
    if (v128.any_true(f64x2.le(f64x2.abs(f64x2.sub(rest, half)), f64x2.mul(product, slack)))) {
      isUp = f64x2.ge(size, f64x2.div(f64x2.add(k, half), p));
    }
    const multiple = f64x2.add(k, v128.and(isUp, one));
    const rounded = f64x2.div(multiple, p);
    const result = v128.or(rounded, v128.and(v128.and(x, sign), f64x2.ne(rounded, zero)));
    if (isPair) v128.store(at, result);
    else v128.store64_lane(at, result, 0);
  }
  return count;
}
