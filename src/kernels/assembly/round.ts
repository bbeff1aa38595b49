const LIMIT: f64 = 1e14;

// Up to this product no division is needed.
const SHORT_LIMIT: f64 = 67_108_864;
// One half, minus the errors of |x|·10^d and of the double nearest to the tie (at most 2^-27 each).
const NEAR_TIE: f64 = 0.5 - 0.00000003;

// The multiple of 10^-d nearest to each of two values, k or k + 1, where `product` = |x|·10^d and k is its floor. Only
// close to a tie does it need the division that decides; elsewhere the product is accurate enough.
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

// The quotient with the sign of x, but +0 for zero.
// @ts-ignore: decorator
@inline
function signedQuotient(multiple: v128, power: v128, x: v128): v128 {
  const sign = v128.and(x, i64x2.splat(<i64>0x8000000000000000));
  return v128.or(f64x2.div(multiple, power), v128.and(sign, f64x2.ne(multiple, f64x2.splat(0))));
}

// Rounds groups of four values up to the first in which a product with the power of ten is too large, and returns how
// many values that were. `head` + `rest` is 10^-d, with 26 bits in `head`; `head` is 0 if only the division is exact.
export function roundHalfAway(value: usize, count: i32, power: f64, head: f64, rest: f64, out: usize): i32 {
  const toOut = out - value;
  let i = 0;
  for (; i + 3 < count; i += 4) {
    if (head != 0) i = roundShort(value, i, count, power, head, rest, toOut);
    if (i + 3 >= count) break;
    if (!roundLong(value + (<usize>i << 3), power, toOut)) break;
  }
  return i;
}

// Whole multiples and ties (k + ½) of 10^-d as doubles. Up to 27 bits times `head` are exact, so the sum of both
// products is rounded once. Its error before that (2^-79 of it) is smaller than the distance of any quotient that is
// not a double from the middle of two doubles (2^-54·5^-d), so it is rounded right.
// @ts-ignore: decorator
@inline
function worth(multiple: v128, head: v128, rest: v128): v128 {
  return f64x2.add(f64x2.mul(multiple, head), f64x2.mul(multiple, rest));
}

// Rounds without a division, and returns the index of the first four values among which one is too large for that.
function roundShort(value: usize, from: i32, count: i32, power: f64, head: f64, rest: f64, toOut: usize): i32 {
  const p = f64x2.splat(power);
  const h = f64x2.splat(head);
  const r = f64x2.splat(rest);
  const last = value + (<usize>count << 3);
  const at = roundPlain(value + (<usize>from << 3), last, p, h, r, toOut);
  return <i32>((roundTies(at, last, p, h, r, toOut) - value) >> 3);
}

// Adding this to a small number rounds it to a whole number, ties to even; subtracting it again leaves that number, and
// +0 for zero.
const WHOLE: f64 = 6_755_399_441_055_744;

// Rounds eight values at a time, up to eight among which one is too large or close to a tie. Returns their address.
function roundPlain(from: usize, last: usize, power: v128, head: v128, rest: v128, toOut: usize): usize {
  const limit = f64x2.splat(SHORT_LIMIT);
  const tie = f64x2.splat(NEAR_TIE);
  const whole = f64x2.splat(WHOLE);
  let at = from;
  for (; at + 56 < last; at += 64) {
    const xProduct = f64x2.mul(v128.load(at), power);
    const yProduct = f64x2.mul(v128.load(at, 16), power);
    const zProduct = f64x2.mul(v128.load(at, 32), power);
    const wProduct = f64x2.mul(v128.load(at, 48), power);
    const x = f64x2.sub(f64x2.add(xProduct, whole), whole);
    const y = f64x2.sub(f64x2.add(yProduct, whole), whole);
    const z = f64x2.sub(f64x2.add(zProduct, whole), whole);
    const w = f64x2.sub(f64x2.add(wProduct, whole), whole);
    const fromNearest = f64x2.pmax(
      f64x2.pmax(f64x2.abs(f64x2.sub(xProduct, x)), f64x2.abs(f64x2.sub(yProduct, y))),
      f64x2.pmax(f64x2.abs(f64x2.sub(zProduct, z)), f64x2.abs(f64x2.sub(wProduct, w))),
    );
    const size = f64x2.pmax(
      f64x2.pmax(f64x2.abs(xProduct), f64x2.abs(yProduct)),
      f64x2.pmax(f64x2.abs(zProduct), f64x2.abs(wProduct)),
    );
    if (v128.any_true(v128.or(f64x2.ge(fromNearest, tie), f64x2.ge(size, limit)))) break;
    v128.store(at + toOut, worth(x, head, rest));
    v128.store(at + toOut, worth(y, head, rest), 16);
    v128.store(at + toOut, worth(z, head, rest), 32);
    v128.store(at + toOut, worth(w, head, rest), 48);
  }
  return at;
}

// Two values rounded, of which each may be a tie. `product` is the absolute value of x·10^d.
// @ts-ignore: decorator
@inline
function roundedAtTie(x: v128, product: v128, head: v128, rest: v128): v128 {
  const k = f64x2.floor(product);
  const isUp = f64x2.ge(f64x2.abs(x), worth(f64x2.add(k, f64x2.splat(0.5)), head, rest));
  const sign = v128.and(x, i64x2.splat(<i64>0x8000000000000000));
  const multiple = v128.or(f64x2.add(k, v128.and(isUp, f64x2.splat(1))), sign);
  return f64x2.add(worth(multiple, head, rest), f64x2.splat(0));
}

// The same, but ties do not stop it: where there is one there are more, and a branch would be mispredicted at each.
function roundTies(from: usize, last: usize, power: v128, head: v128, rest: v128, toOut: usize): usize {
  const limit = f64x2.splat(SHORT_LIMIT);
  let at = from;
  for (; at + 24 < last; at += 32) {
    const x = v128.load(at);
    const y = v128.load(at, 16);
    const xProduct = f64x2.abs(f64x2.mul(x, power));
    const yProduct = f64x2.abs(f64x2.mul(y, power));
    if (v128.any_true(f64x2.ge(f64x2.pmax(xProduct, yProduct), limit))) break;
    v128.store(at + toOut, roundedAtTie(x, xProduct, head, rest));
    v128.store(at + toOut, roundedAtTie(y, yProduct, head, rest), 16);
  }
  return at;
}

// Rounds four values by division. Returns 0, with nothing done, if one is too large for that.
function roundLong(at: usize, power: f64, toOut: usize): i32 {
  const p = f64x2.splat(power);
  const limit = f64x2.splat(LIMIT);
  const x = v128.load(at);
  const y = v128.load(at, 16);
  const xSize = f64x2.abs(x);
  const ySize = f64x2.abs(y);
  const xProduct = f64x2.mul(xSize, p);
  const yProduct = f64x2.mul(ySize, p);
  if (!i64x2.all_true(v128.and(f64x2.lt(xProduct, limit), f64x2.lt(yProduct, limit)))) return 0;
  v128.store(at + toOut, signedQuotient(nearestMultiple(xSize, xProduct, p), p, x));
  v128.store(at + toOut, signedQuotient(nearestMultiple(ySize, yProduct, p), p, y), 16);
  return 1;
}
