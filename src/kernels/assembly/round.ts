const LIMIT: f64 = 1e14;

// The multiple of 10^-d nearest to each of two values, k + 1 or k, where `product` = |x|·10^d and k its floor.
// Only close to a tie does it take the division that decides: further off, the product is accurate enough.
// @ts-ignore: decorator
@inline
function nearestMultiple(size: v128, product: v128, power: v128): v128 {
  const half = f64x2.splat(0.5);
  const k = f64x2.floor(product);
  const fromTie = f64x2.sub(f64x2.sub(product, k), half);
  let isUp = f64x2.ge(fromTie, f64x2.splat(0));
  if (v128.any_true(f64x2.le(f64x2.abs(fromTie), f64x2.mul(product, f64x2.splat(5e-16))))) {
    isUp = f64x2.ge(size, f64x2.div(f64x2.add(k, half), power));
  }
  return f64x2.add(k, v128.and(isUp, f64x2.splat(1)));
}

// The quotient with the sign of x, but +0 for nothing.
// @ts-ignore: decorator
@inline
function signedQuotient(multiple: v128, power: v128, x: v128): v128 {
  const sign = v128.and(x, i64x2.splat(<i64>0x8000000000000000));
  return v128.or(f64x2.div(multiple, power), v128.and(sign, f64x2.ne(multiple, f64x2.splat(0))));
}

// Rounds until a value whose product with the power of ten is too large, and gives the index it stopped at.
export function roundHalfAway(value: usize, count: i32, power: f64): i32 {
  const p = f64x2.splat(power);
  const limit = f64x2.splat(LIMIT);
  let i = 0;
  for (; i + 3 < count; i += 4) {
    const at = value + (<usize>i << 3);
    const x = v128.load(at);
    const y = v128.load(at, 16);
    const xSize = f64x2.abs(x);
    const ySize = f64x2.abs(y);
    const xProduct = f64x2.mul(xSize, p);
    const yProduct = f64x2.mul(ySize, p);
    if (!i64x2.all_true(v128.and(f64x2.lt(xProduct, limit), f64x2.lt(yProduct, limit)))) break;
    v128.store(at, signedQuotient(nearestMultiple(xSize, xProduct, p), p, x));
    v128.store(at, signedQuotient(nearestMultiple(ySize, yProduct, p), p, y), 16);
  }
  for (; i < count; i++) {
    const at = value + (<usize>i << 3);
    const x = v128.load64_zero(at);
    const size = f64x2.abs(x);
    const product = f64x2.mul(size, p);
    if (!(f64x2.extract_lane(product, 0) < LIMIT)) return i;
    v128.store64_lane(at, signedQuotient(nearestMultiple(size, product, p), p, x), 0);
  }
  return count;
}
