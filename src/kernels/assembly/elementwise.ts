// One loop for all operations on each value: `kind` is a constant at each call, so each export is its own loop.

const ADD = 0;
const SUB = 1;
const MUL = 2;
const DIV = 3;
const EQ = 4;
const NE = 5;
const LTE = 6;
const LT = 7;
const GT = 8;
const GTE = 9;
const NEAR = 10;
const AND = 11;
const OR = 12;

// @ts-ignore: decorator
@inline
function vector(kind: i32, a: v128, b: v128, tolerance: v128): v128 {
  const one = f64x2.splat(1);
  const zero = f64x2.splat(0);
  switch (kind) {
    case ADD: return f64x2.add(a, b);
    case SUB: return f64x2.sub(a, b);
    case MUL: return f64x2.mul(a, b);
    case DIV: return f64x2.div(a, b);
    case EQ: return v128.and(f64x2.eq(a, b), one);
    case NE: return v128.and(f64x2.ne(a, b), one);
    case LTE: return v128.and(f64x2.le(a, b), one);
    case LT: return v128.and(f64x2.lt(a, b), one);
    case GT: return v128.and(f64x2.gt(a, b), one);
    case GTE: return v128.and(f64x2.ge(a, b), one);
    case NEAR: return v128.and(f64x2.le(f64x2.abs(f64x2.sub(a, b)), tolerance), one);
    case AND: return v128.and(v128.and(f64x2.ne(a, zero), f64x2.ne(b, zero)), one);
    default: return v128.and(v128.or(f64x2.ne(a, zero), f64x2.ne(b, zero)), one);
  }
}

// Nothing but infinity and NaN leaves a difference from itself that has a bit set.
// @ts-ignore: decorator
@inline
function notFinite(x: v128): v128 {
  return f64x2.sub(x, x);
}

// @ts-ignore: decorator
@inline
function loop(
  kind: i32,
  left: usize,
  right: usize,
  count: i32,
  scalar: f64,
  tolerance: f64,
  isScalar: bool,
  isChecked: bool,
): i32 {
  const b = f64x2.splat(scalar);
  const t = f64x2.splat(tolerance);
  let bad = i64x2.splat(0);
  let at = left;
  // Where there is no right, nothing is loaded from there.
  const toRight = right - left;
  const end = left + (<usize>(count & ~7) << 3);
  while (at < end) {
    const x = vector(kind, v128.load(at), isScalar ? b : v128.load(at + toRight), t);
    const y = vector(kind, v128.load(at, 16), isScalar ? b : v128.load(at + toRight, 16), t);
    const z = vector(kind, v128.load(at, 32), isScalar ? b : v128.load(at + toRight, 32), t);
    const w = vector(kind, v128.load(at, 48), isScalar ? b : v128.load(at + toRight, 48), t);
    v128.store(at, x);
    v128.store(at, y, 16);
    v128.store(at, z, 32);
    v128.store(at, w, 48);
    if (isChecked) {
      bad = v128.or(bad, v128.or(v128.or(notFinite(x), notFinite(y)), v128.or(notFinite(z), notFinite(w))));
    }
    at += 64;
  }
  const last = left + (<usize>count << 3);
  while (at < last) {
    const x = vector(kind, v128.load64_zero(at), isScalar ? b : v128.load64_zero(at + toRight), t);
    v128.store64_lane(at, x, 0);
    if (isChecked) bad = v128.or(bad, v128.and(notFinite(x), i64x2(-1, 0)));
    at += 8;
  }
  return v128.any_true(bad) ? 0 : 1;
}

// @ts-ignore: decorator
@inline
function byScalar(kind: i32, value: usize, count: i32, scalar: f64, isChecked: bool): i32 {
  return loop(kind, value, 0, count, scalar, 0, true, isChecked);
}

// @ts-ignore: decorator
@inline
function byVector(kind: i32, left: usize, right: usize, count: i32, isChecked: bool): i32 {
  return loop(kind, left, right, count, 0, 0, false, isChecked);
}

export function addScalar(value: usize, count: i32, scalar: f64): i32 {
  return byScalar(ADD, value, count, scalar, true);
}

export function add(left: usize, right: usize, count: i32): i32 {
  return byVector(ADD, left, right, count, true);
}

export function subScalar(value: usize, count: i32, scalar: f64): i32 {
  return byScalar(SUB, value, count, scalar, true);
}

export function sub(left: usize, right: usize, count: i32): i32 {
  return byVector(SUB, left, right, count, true);
}

export function mulScalar(value: usize, count: i32, scalar: f64): i32 {
  return byScalar(MUL, value, count, scalar, true);
}

export function mul(left: usize, right: usize, count: i32): i32 {
  return byVector(MUL, left, right, count, true);
}

export function divScalar(value: usize, count: i32, scalar: f64): i32 {
  return byScalar(DIV, value, count, scalar, true);
}

export function div(left: usize, right: usize, count: i32): i32 {
  return byVector(DIV, left, right, count, true);
}

export function eqScalar(value: usize, count: i32, scalar: f64): i32 {
  return byScalar(EQ, value, count, scalar, false);
}

export function eq(left: usize, right: usize, count: i32): i32 {
  return byVector(EQ, left, right, count, false);
}

export function neScalar(value: usize, count: i32, scalar: f64): i32 {
  return byScalar(NE, value, count, scalar, false);
}

export function ne(left: usize, right: usize, count: i32): i32 {
  return byVector(NE, left, right, count, false);
}

export function lteScalar(value: usize, count: i32, scalar: f64): i32 {
  return byScalar(LTE, value, count, scalar, false);
}

export function lte(left: usize, right: usize, count: i32): i32 {
  return byVector(LTE, left, right, count, false);
}

export function ltScalar(value: usize, count: i32, scalar: f64): i32 {
  return byScalar(LT, value, count, scalar, false);
}

export function lt(left: usize, right: usize, count: i32): i32 {
  return byVector(LT, left, right, count, false);
}

export function gtScalar(value: usize, count: i32, scalar: f64): i32 {
  return byScalar(GT, value, count, scalar, false);
}

export function gt(left: usize, right: usize, count: i32): i32 {
  return byVector(GT, left, right, count, false);
}

export function gteScalar(value: usize, count: i32, scalar: f64): i32 {
  return byScalar(GTE, value, count, scalar, false);
}

export function gte(left: usize, right: usize, count: i32): i32 {
  return byVector(GTE, left, right, count, false);
}

export function and(left: usize, right: usize, count: i32): i32 {
  return byVector(AND, left, right, count, false);
}

export function or(left: usize, right: usize, count: i32): i32 {
  return byVector(OR, left, right, count, false);
}

export function nearScalar(value: usize, count: i32, scalar: f64, tolerance: f64): i32 {
  return loop(NEAR, value, 0, count, scalar, tolerance, true, false);
}

export function near(left: usize, right: usize, count: i32, tolerance: f64): i32 {
  return loop(NEAR, left, right, count, 0, tolerance, false, false);
}

export function abs(value: usize, count: i32): void {
  const last = value + (<usize>count << 3);
  let at = value;
  for (; at + 8 < last; at += 16) v128.store(at, f64x2.abs(v128.load(at)));
  if (at < last) f64.store(at, Math.abs(f64.load(at)));
}

// x < lower ? lower : x > upper ? upper : x, which are SSE's own minimum and maximum, operands in this order.
export function clamp(value: usize, count: i32, lower: f64, upper: f64): void {
  const low = f64x2.splat(lower);
  const high = f64x2.splat(upper);
  const last = value + (<usize>count << 3);
  let at = value;
  for (; at + 24 < last; at += 32) {
    const x = f64x2.pmin(f64x2.pmax(v128.load(at), low), high);
    const y = f64x2.pmin(f64x2.pmax(v128.load(at, 16), low), high);
    v128.store(at, x);
    v128.store(at, y, 16);
  }
  for (; at + 8 < last; at += 16) v128.store(at, f64x2.pmin(f64x2.pmax(v128.load(at), low), high));
  if (at < last) v128.store64_lane(at, f64x2.pmin(f64x2.pmax(v128.load64_zero(at), low), high), 0);
}
