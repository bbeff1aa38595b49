import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as arithmetic from '../../src/kernels/arithmetic.js';
import { isAllFinite, isRising } from '../../src/kernels/check.js';
import * as compare from '../../src/kernels/compare.js';
import { expectEqual } from '../equality.js';
import { fractionOf, minus } from '../oracle/numbers.js';
import { anyDouble, anyFinite, columnOf, expectSameBits, scratchColumn } from './columns.js';

/** What each kernel gives for one pair of values. */
const one = (isTrue: boolean): number => (isTrue ? 1 : 0);

/**
 * Whether two values differ by at most a tolerance. The exact difference counts: a rounded one may reach the tolerance.
 */
function isNear(a: number, b: number, tolerance: number): boolean {
  const size = Math.abs(a - b);
  if (size !== tolerance) return size < tolerance;
  const [low, high] = [Math.min(a, b), Math.max(a, b)].map(fractionOf);
  return minus(minus(high!, low!), fractionOf(tolerance)).numerator <= 0n;
}

const meanings = {
  add: (a: number, b: number) => a + b,
  sub: (a: number, b: number) => a - b,
  mul: (a: number, b: number) => a * b,
  div: (a: number, b: number) => a / b,
  eq: (a: number, b: number) => one(a === b),
  ne: (a: number, b: number) => one(a !== b),
  lt: (a: number, b: number) => one(a < b),
  lte: (a: number, b: number) => one(a <= b),
  gt: (a: number, b: number) => one(a > b),
  gte: (a: number, b: number) => one(a >= b),
  and: (a: number, b: number) => one(a !== 0 && b !== 0),
  or: (a: number, b: number) => one(a !== 0 || b !== 0),
} as const;

/** A comparison, as a kernel with the given result where it holds. */
const giving =
  (kernel: compare.VectorComparison, yes: 0 | 1): arithmetic.VectorKernel =>
  (left, right, count, out) =>
    kernel(left, right, count, out, yes);
const givingScalar =
  (kernel: compare.ScalarComparison, yes: 0 | 1): arithmetic.ScalarKernel =>
  (value, count, scalar, out) =>
    kernel(value, count, scalar, out, yes);

const vectors = {
  ...arithmetic,
  and: compare.and,
  or: compare.or,
  eq: giving(compare.eq, 1),
  ne: giving(compare.eq, 0),
  lt: giving(compare.lt, 1),
  lte: giving(compare.gt, 0),
  gt: giving(compare.gt, 1),
  gte: giving(compare.lt, 0),
};
const scalars = {
  add: arithmetic.addScalar,
  sub: arithmetic.subScalar,
  mul: arithmetic.mulScalar,
  div: arithmetic.divScalar,
  eq: givingScalar(compare.eqScalar, 1),
  ne: givingScalar(compare.eqScalar, 0),
  lt: givingScalar(compare.ltScalar, 1),
  lte: givingScalar(compare.gtScalar, 0),
  gt: givingScalar(compare.gtScalar, 1),
  gte: givingScalar(compare.ltScalar, 0),
} as const;

/** The values twice: in WebAssembly memory, where chunks lie, and in an array of their own. */
function places(values: readonly number[], column: number): Float64Array[] {
  const scratch = scratchColumn(column);
  scratch.set(values);
  return [scratch, Float64Array.from(values)];
}

/** Where results may go: to another column of the same memory, or over the input. */
function outsFor(column: Float64Array): Float64Array[] {
  const isOutside = column.byteOffset === 0;
  return [isOutside ? new Float64Array(column.length) : scratchColumn(2), column];
}

const runs = { numRuns: 400 };

describe('a kernel over two columns gives each pair its result, in WebAssembly memory and outside', () => {
  test.each(Object.entries(meanings))('%s', (name, meaning) => {
    const kernel = vectors[name as keyof typeof meanings]; // `as`: the keys of `meanings`
    fc.assert(
      fc.property(columnOf(anyFinite), columnOf(anyFinite), (a, b) => {
        const count = Math.min(a.length, b.length);
        const expected = Array.from({ length: count }, (_, i) => meaning(a[i]!, b[i]!));
        const rights = places(b, 1);
        for (const left of places(a, 0)) {
          for (const right of rights) {
            for (const out of outsFor(left)) {
              left.set(a);
              const after = out.slice(count, count + 8);
              expectEqual(kernel(left, right, count, out), expected.every(Number.isFinite));
              expectSameBits(out.subarray(0, count), expected);
              expectSameBits(out.subarray(count, count + 8), after);
              if (out !== left) expectSameBits(left.subarray(0, a.length), a);
            }
          }
        }
      }),
      runs,
    );
  });
});

describe('a kernel over a column and a scalar gives each value its result, in WebAssembly memory and outside', () => {
  test.each(Object.entries(scalars))('%s', (name, kernel) => {
    const meaning = meanings[name as keyof typeof scalars]; // `as`: the keys of `meanings`
    fc.assert(
      fc.property(columnOf(anyFinite), anyFinite, (a, scalar) => {
        const expected = a.map((x) => meaning(x, scalar));
        for (const column of places(a, 0)) {
          for (const out of outsFor(column)) {
            column.set(a);
            expectEqual(kernel(column, a.length, scalar, out), expected.every(Number.isFinite));
            expectSameBits(out.subarray(0, a.length), expected);
            if (out !== column) expectSameBits(column.subarray(0, a.length), a);
          }
        }
      }),
      runs,
    );
  });
});

test('Not, Abs, clamp and near agree in WebAssembly memory and outside', () => {
  fc.assert(
    fc.property(columnOf(anyFinite), anyFinite, fc.double({ min: 0, max: 1e9, noNaN: true }), (a, x, width) => {
      const forms = [
        [(column: Float64Array, out: Float64Array) => compare.not(column, a.length, out), (y: number) => one(y === 0)],
        [
          (column: Float64Array, out: Float64Array) => arithmetic.abs(column, a.length, out),
          (y: number) => Math.abs(y),
        ],
        [
          (column: Float64Array, out: Float64Array) => arithmetic.clamp(column, a.length, x, x + width, out),
          (y: number) => (y < x ? x : y > x + width ? x + width : y),
        ],
        [
          (column: Float64Array, out: Float64Array) => compare.nearScalar(column, a.length, x, width, out, 1),
          (y: number) => one(isNear(y, x, width)),
        ],
      ] as const;
      for (const [kernel, meaning] of forms) {
        for (const column of places(a, 0)) {
          for (const out of outsFor(column)) {
            kernel(column, out);
            expectSameBits(out.subarray(0, a.length), a.map(meaning));
          }
        }
      }
    }),
    runs,
  );
});

test('near compares two columns within a tolerance', () => {
  fc.assert(
    fc.property(columnOf(anyFinite), fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (a, tolerance) => {
      const b = [...a].reverse();
      const expected = a.map((x, i) => one(isNear(x, b[i]!, tolerance)));
      const [inMemory, outside] = places(b, 1);
      for (const [column, right] of [
        [places(a, 0)[0]!, inMemory!],
        [Float64Array.from(a), outside!],
      ] as const) {
        compare.near(column, right, a.length, tolerance, column, 1);
        expectSameBits(column.subarray(0, a.length), expected);
      }
    }),
    runs,
  );
});

test('isAllFinite finds any value that is not finite', () => {
  fc.assert(
    fc.property(columnOf(anyDouble), fc.nat(5), (a, skipped) => {
      const from = Math.min(skipped, a.length);
      for (const column of places(a, 0)) {
        expectEqual(isAllFinite(column, from, a.length), a.slice(from).every(Number.isFinite));
      }
    }),
    { numRuns: 2000 },
  );
});

test('isRising finds any time that is not later than the one before', () => {
  const gaps = columnOf(fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5, 3, 0, -1));
  fc.assert(
    fc.property(gaps, fc.constantFrom(-1, 0, 1, Number.NEGATIVE_INFINITY), (steps, beforeMs) => {
      let t = 0;
      const times = steps.map((gap) => (t += gap));
      const isSo = times.every((time, i) => time > (i === 0 ? beforeMs : times[i - 1]!));
      for (const column of places(times, 0)) expect(isRising(column, 0, times.length, beforeMs)).toBe(isSo);
    }),
    { numRuns: 2000 },
  );
});
