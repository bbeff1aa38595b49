const LIMIT: f64 = 1e14;

// Below this many multiples the cheap way is exact where it is sure of itself.
const SHORT_LIMIT: f64 = 67_108_864;
// Half of a multiple, less what |x|·10^d and the double nearest to the tie may be off (2^-27 each).
const NEAR_TIE: f64 = 0.5 - 0.00000003;

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
// `head` + `rest` is 10^-d, 27 bits of it in `head`, which is 0 where only the division is exact.
export function roundHalfAway(value: usize, count: i32, power: f64, head: f64, rest: f64): i32 {
  let i = 0;
  for (; i + 3 < count; i += 4) {
    if (head != 0) i = roundShort(value, i, count, power, head, rest);
    if (i + 3 >= count) break;
    if (!roundLong(value + (<usize>i << 3), power)) break;
  }
  const p = f64x2.splat(power);
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

// Four at a time, until four among which one is too large or close to a tie; gives the index of the first of them.
// With a multiple of up to 26 bits its product with `head` is exact, so the sum of both products is rounded once, from
// a number that lies nearer to the quotient (2^-79) than any quotient lies to the middle of two doubles (2^-54·10^-d).
function roundShort(value: usize, from: i32, count: i32, power: f64, head: f64, rest: f64): i32 {
  const p = f64x2.splat(power);
  const h = f64x2.splat(head);
  const r = f64x2.splat(rest);
  const limit = f64x2.splat(SHORT_LIMIT);
  const tie = f64x2.splat(NEAR_TIE);
  const zero = f64x2.splat(0);
  let at = value + (<usize>from << 3);
  const last = value + (<usize>count << 3);
  for (; at + 24 < last; at += 32) {
    const xProduct = f64x2.mul(v128.load(at), p);
    const yProduct = f64x2.mul(v128.load(at, 16), p);
    const x = f64x2.nearest(xProduct);
    const y = f64x2.nearest(yProduct);
    const fromNearest = f64x2.pmax(f64x2.abs(f64x2.sub(xProduct, x)), f64x2.abs(f64x2.sub(yProduct, y)));
    const size = f64x2.pmax(f64x2.abs(xProduct), f64x2.abs(yProduct));
    if (v128.any_true(v128.or(f64x2.ge(fromNearest, tie), f64x2.ge(size, limit)))) break;
    // −0 plus 0 is +0: nothing has no sign.
    v128.store(at, f64x2.add(f64x2.add(f64x2.mul(x, h), f64x2.mul(x, r)), zero));
    v128.store(at, f64x2.add(f64x2.add(f64x2.mul(y, h), f64x2.mul(y, r)), zero), 16);
  }
  return <i32>((at - value) >> 3);
}

// Four values by division; 0, with nothing done, when one is too large for that.
function roundLong(at: usize, power: f64): i32 {
  const p = f64x2.splat(power);
  const limit = f64x2.splat(LIMIT);
  const x = v128.load(at);
  const y = v128.load(at, 16);
  const xSize = f64x2.abs(x);
  const ySize = f64x2.abs(y);
  const xProduct = f64x2.mul(xSize, p);
  const yProduct = f64x2.mul(ySize, p);
  if (!i64x2.all_true(v128.and(f64x2.lt(xProduct, limit), f64x2.lt(yProduct, limit)))) return 0;
  v128.store(at, signedQuotient(nearestMultiple(xSize, xProduct, p), p, x));
  v128.store(at, signedQuotient(nearestMultiple(ySize, yProduct, p), p, y), 16);
  return 1;
}
