// One loop for all elementwise operations. `kind` is a constant in each call, so each export compiles to its own loop.
// It takes values in groups of 32; those after the last group are left to the JavaScript function.

const ADD = 0;
const SUB = 1;
const MUL = 2;
const DIV = 3;
const LT = 4;
const GT = 5;
const NEAR = 6;
const AND = 7;
const ABS = 8;
const CLAMP = 9;

// `flip`, all ones or all zeros, inverts the result of each comparison. It inverts both inputs and the result of AND,
// which makes it OR.
// @ts-ignore: decorator
@inline
function vector(kind: i32, a: v128, b: v128, tolerance: v128, flip: v128): v128 {
  const one = f64x2.splat(1);
  const zero = f64x2.splat(0);
  switch (kind) {
    case ADD: return f64x2.add(a, b);
    case SUB: return f64x2.sub(a, b);
    case MUL: return f64x2.mul(a, b);
    case DIV: return f64x2.div(a, b);
    case LT: return v128.and(v128.xor(f64x2.lt(a, b), flip), one);
    case GT: return v128.and(v128.xor(f64x2.gt(a, b), flip), one);
    case NEAR: return v128.and(v128.xor(isNear(a, b, tolerance), flip), one);
    case AND: {
      const isLeft = v128.xor(f64x2.ne(a, zero), flip);
      const isRight = v128.xor(f64x2.ne(b, zero), flip);
      return v128.and(v128.xor(v128.and(isLeft, isRight), flip), one);
    }
    case ABS: return f64x2.abs(a);
    // x < lower ? lower : x > upper ? upper : x, which is how SSE's minimum and maximum work in this operand order.
    default: return f64x2.pmin(f64x2.pmax(a, b), tolerance);
  }
}

// As in ../compare.ts: decided by the exact difference.
// @ts-ignore: decorator
@inline
function isNear(a: v128, b: v128, tolerance: v128): v128 {
  const difference = f64x2.sub(a, b);
  const size = f64x2.abs(difference);
  const part = f64x2.sub(difference, a);
  const cut = f64x2.sub(f64x2.sub(a, f64x2.sub(difference, part)), f64x2.add(b, part));
  const outward = v128.xor(cut, v128.xor(difference, size));
  const isMet = v128.and(f64x2.eq(size, tolerance), f64x2.le(outward, f64x2.splat(0)));
  return v128.or(f64x2.lt(size, tolerance), isMet);
}

// A number minus itself has no bit set unless it is infinite or NaN.
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
  yes: i32,
  out: usize,
  isScalar: bool,
  isChecked: bool,
): i32 {
  const b = f64x2.splat(scalar);
  const t = f64x2.splat(tolerance);
  const f = i64x2.splat(<i64>yes - 1);
  let bad = i64x2.splat(0);
  // With a scalar nothing is loaded from the right.
  const toRight = right - left;
  const toOut = out - left;
  // A cache line of each quarter in turn, because processors read four streams from memory faster than one.
  const quarter = <usize>(count >> 5) << 6;
  const whole = quarter << 2;
  for (let at = left; at < left + quarter; at += 64) {
    for (let line = at; line < at + whole; line += quarter) {
      const x = vector(kind, v128.load(line), isScalar ? b : v128.load(line + toRight), t, f);
      const y = vector(kind, v128.load(line, 16), isScalar ? b : v128.load(line + toRight, 16), t, f);
      const z = vector(kind, v128.load(line, 32), isScalar ? b : v128.load(line + toRight, 32), t, f);
      const w = vector(kind, v128.load(line, 48), isScalar ? b : v128.load(line + toRight, 48), t, f);
      v128.store(line + toOut, x);
      v128.store(line + toOut, y, 16);
      v128.store(line + toOut, z, 32);
      v128.store(line + toOut, w, 48);
      if (isChecked) {
        bad = v128.or(bad, v128.or(v128.or(notFinite(x), notFinite(y)), v128.or(notFinite(z), notFinite(w))));
      }
    }
  }
  return v128.any_true(bad) ? 0 : 1;
}

export function addScalar(value: usize, count: i32, scalar: f64, out: usize): i32 {
  return loop(ADD, value, 0, count, scalar, 0, 1, out, true, true);
}

export function add(left: usize, right: usize, count: i32, out: usize): i32 {
  return loop(ADD, left, right, count, 0, 0, 1, out, false, true);
}

export function sub(left: usize, right: usize, count: i32, out: usize): i32 {
  return loop(SUB, left, right, count, 0, 0, 1, out, false, true);
}

export function mulScalar(value: usize, count: i32, scalar: f64, out: usize): i32 {
  return loop(MUL, value, 0, count, scalar, 0, 1, out, true, true);
}

export function mul(left: usize, right: usize, count: i32, out: usize): i32 {
  return loop(MUL, left, right, count, 0, 0, 1, out, false, true);
}

export function divScalar(value: usize, count: i32, scalar: f64, out: usize): i32 {
  return loop(DIV, value, 0, count, scalar, 0, 1, out, true, true);
}

export function div(left: usize, right: usize, count: i32, out: usize): i32 {
  return loop(DIV, left, right, count, 0, 0, 1, out, false, true);
}

export function ltScalar(value: usize, count: i32, scalar: f64, out: usize, yes: i32): void {
  loop(LT, value, 0, count, scalar, 0, yes, out, true, false);
}

export function gtScalar(value: usize, count: i32, scalar: f64, out: usize, yes: i32): void {
  loop(GT, value, 0, count, scalar, 0, yes, out, true, false);
}

export function lt(left: usize, right: usize, count: i32, out: usize, yes: i32): void {
  loop(LT, left, right, count, 0, 0, yes, out, false, false);
}

export function nearScalar(value: usize, count: i32, scalar: f64, tolerance: f64, out: usize, yes: i32): void {
  loop(NEAR, value, 0, count, scalar, tolerance, yes, out, true, false);
}

export function near(left: usize, right: usize, count: i32, tolerance: f64, out: usize, yes: i32): void {
  loop(NEAR, left, right, count, 0, tolerance, yes, out, false, false);
}

export function and(left: usize, right: usize, count: i32, out: usize, yes: i32): void {
  loop(AND, left, right, count, 0, 0, yes, out, false, false);
}

export function abs(value: usize, count: i32, out: usize): void {
  loop(ABS, value, 0, count, 0, 0, 1, out, true, false);
}

export function clamp(value: usize, count: i32, lower: f64, upper: f64, out: usize): void {
  loop(CLAMP, value, 0, count, lower, upper, 1, out, true, false);
}
