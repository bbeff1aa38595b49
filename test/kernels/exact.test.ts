import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DoubleList } from '../../src/core/list.js';
import {
  meanOf,
  percentileOf as percentileOfRanks,
  sumOf,
  varianceOf,
  weightedMeanOf,
} from '../../src/kernels/exact/results.js';
import { addSquares } from '../../src/kernels/exact/squares.js';
import { addAll, addProduct, addTo, clearSum, SUM_SLOTS } from '../../src/kernels/exact/sums.js';
import * as oracle from '../oracle/numbers.js';
import { anyFinite, tame } from './columns.js';

/** Doubles whose exponents are close together or far apart, with few digits or all of them. */
const digits = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -(2 ** 53), max: 2 ** 53 }));
const near = fc.tuple(fc.integer({ min: -1100, max: 900 }), fc.integer({ min: 0, max: 120 })).chain(([least, range]) =>
  fc.array(
    fc
      .tuple(digits, fc.nat(range))
      .map(([n, e]) => n * 2 ** Math.ceil((least + e) / 2) * 2 ** Math.floor((least + e) / 2)),
    { maxLength: 40, size: 'max' },
  ),
);
const offset = fc
  .tuple(
    fc.double({ noNaN: true, min: -1e12, max: 1e12 }),
    fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 40 }),
  )
  .map(([base, steps]) => steps.map((step) => base + step * 1e-4));
const columns: fc.Arbitrary<number[]> = fc
  .oneof(
    near,
    offset,
    fc.array(tame, { maxLength: 60, size: 'max' }),
    fc.array(anyFinite, { maxLength: 60, size: 'max' }),
    fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 20 }),
    fc.array(fc.constantFrom(21.3, 21.4, -0.1, 0, 1e-17, 1e16), { maxLength: 60, size: 'max' }),
  )
  .map((values) => values.filter(Number.isFinite));
const some = columns.filter((values) => values.length > 0);
const runs = { numRuns: 1500 };

class Sum {
  readonly slots = new Float64Array(SUM_SLOTS);
  readonly wide = new DoubleList();
  get parts(): [Float64Array, number, DoubleList] {
    return [this.slots, 0, this.wide];
  }
}

function added(values: readonly number[], cut = values.length): Sum {
  const sum = new Sum();
  addAll(sum.slots, 0, sum.wide, Float64Array.from(values), 0, cut);
  for (const x of values.slice(cut)) addTo(sum.slots, 0, sum.wide, x);
  return sum;
}

function squared(values: readonly number[]): Sum {
  const sum = new Sum();
  addSquares(sum.slots, 0, sum.wide, Float64Array.from(values), 0, values.length);
  return sum;
}

describe('the double nearest to the exact result is the result of', () => {
  test('sums and means, split anywhere and in any order', () => {
    fc.assert(
      fc.property(some, fc.nat(60), (values, place) => {
        const cut = Math.min(place, values.length);
        for (const sum of [added(values, cut), added([...values].reverse(), cut)]) {
          expect(sumOf(...sum.parts)).toBe(oracle.sumOf(values));
          expect(meanOf(...sum.parts, values.length)).toBe(oracle.averageOf(values));
        }
      }),
      runs,
    );
  });

  test('variances and standard deviations', () => {
    const two = columns.filter((values) => values.length > 1);
    fc.assert(
      fc.property(two, (values) => {
        const parts = [added(values).parts, squared(values).parts, values.length] as const;
        const exact = oracle.varianceOf(values);
        expect(varianceOf(...parts, false)).toBe(oracle.nearest(exact));
        expect(varianceOf(...parts, true)).toBe(oracle.nearestRoot(exact));
      }),
      runs,
    );
  });

  test('percentiles', () => {
    const percent = fc.oneof(
      fc.integer({ min: 0, max: 100 }),
      fc.double({ noNaN: true, min: 0, max: 100 }).map((x) => x + 0),
      fc.constantFrom(99.9, 5e-324, 1e-300, 99.99999999999999, 33.333333333333336),
    );
    fc.assert(
      fc.property(some, percent, (values, p) => {
        expect(percentileOf(Float64Array.from(values).sort(), p)).toBe(oracle.percentileOf(values, p));
      }),
      runs,
    );
  });

  test('weighted means', () => {
    const length = fc.oneof(fc.integer({ min: 1, max: 1e9 }), fc.double({ noNaN: true, min: 2 ** -30, max: 1e12 }));
    fc.assert(
      fc.property(some, fc.array(length, { minLength: 60, maxLength: 60 }), (values, lengths) => {
        const [products, known] = [new Sum(), new Sum()];
        for (const [i, x] of values.entries()) {
          addProduct(products.slots, 0, products.wide, x, lengths[i]!);
          addTo(known.slots, 0, known.wide, lengths[i]!);
        }
        const area = oracle.total(
          values.map((x, i) => oracle.times(oracle.fractionOf(x), oracle.fractionOf(lengths[i]!))),
        );
        const whole = oracle.total(values.map((_, i) => oracle.fractionOf(lengths[i]!)));
        expect(weightedMeanOf(products.parts, known.parts)).toBe(oracle.nearest(oracle.dividedBy(area, whole)));
      }),
      runs,
    );
  });
});

test('a value added and removed again leaves no trace', () => {
  fc.assert(
    fc.property(columns, columns, (values, others) => {
      const sum = added([...values, ...others, ...values.map((x) => -x)]);
      expect(sumOf(...sum.parts) + 0).toBe(oracle.sumOf(others) + 0);
      clearSum(...sum.parts);
      expect(sumOf(...sum.parts)).toBe(0);
    }),
    runs,
  );
});

function percentileOf(sorted: Float64Array, percent: number): number {
  return percentileOfRanks(sorted.length, percent, (rank) => sorted[rank]!);
}

test('cases that were wrong once', () => {
  const hundred = Float64Array.from({ length: 101 }, (_, i) => i);
  expect(percentileOf(hundred, 29)).toBe(29);
  expect(percentileOf(Float64Array.from([...Array(8).fill(0), 1e9, 1e9]), 7)).toBe(0);
  expect(percentileOf(Float64Array.from([-95.3, 100]), 50)).toBe(2.3500000000000014);
  const zeros = Float64Array.from({ length: 28 }, (_, i) =>
    i < 3 ? -0.1 : i < 7 ? 0 : i < 9 ? 1e-17 : i < 10 ? 0 : 21.3,
  ).sort();
  expect(percentileOf(zeros, 33.333333333333336)).toBe(1.363110424452112e-14);
  const values = [1e-200, 3e-200];
  expect(varianceOf(added(values).parts, squared(values).parts, 2, true)).toBe(1.414213562373095e-200);
});
