import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addInto, sumDeviationsInto, sumInto } from '../../src/kernels/sum.js';
import { sumOf } from '../oracle/numbers.js';
import { anyFinite, bitsOf, tame } from './columns.js';

/** A double as a whole number of 2^-1074. */
function exact(x: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const exponent = (bits >> 52n) & 0x7ffn;
  const fraction = bits & ((1n << 52n) - 1n);
  const size = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return bits >> 63n === 1n ? -size : size;
}

const abs = (x: bigint): bigint => (x < 0n ? -x : x);

test('a compensated sum is within one unit in the last place and n² ε² of the exact sum', () => {
  fc.assert(
    fc.property(fc.array(tame, { maxLength: 60, size: 'max' }), (values) => {
      const slots = new Float64Array(2);
      sumInto(slots, 0, Float64Array.from(values), 0, values.length);
      const sum = slots[0]! + slots[1]!;
      const expected = values.map(exact).reduce((a, b) => a + b, 0n);
      const sizes = values.map((x) => abs(exact(x))).reduce((a, b) => a + b, 0n);
      // Ogita, Rump, Oishi, "Accurate sum and dot product", 2005: |error| ≤ ε |s| + γ² Σ|x|.
      const n = BigInt(values.length);
      const tolerance = (abs(expected) >> 53n) + ((n * n * sizes) >> 104n) + 1n;
      expect(abs(exact(sum) - expected) <= tolerance).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

test('the sum of whole numbers and of quarters is exact', () => {
  const quarter = fc.integer({ min: -(2 ** 50), max: 2 ** 50 }).map((x) => x / 4);
  fc.assert(
    fc.property(fc.array(quarter, { maxLength: 60 }), (values) => {
      const slots = new Float64Array(2);
      sumInto(slots, 0, Float64Array.from(values), 0, values.length);
      const expected = values.map((x) => BigInt(x * 4)).reduce((a, b) => a + b, 0n);
      expect(slots[0]! + slots[1]!).toBe(Number(expected) / 4);
    }),
    { numRuns: 2000 },
  );
});

test('a sum has the same bits in one go, cut anywhere, one by one, and by the formula of the oracle', () => {
  fc.assert(
    fc.property(fc.array(anyFinite, { maxLength: 80, size: 'max' }), fc.nat(80), (values, place) => {
      const column = Float64Array.from(values);
      const cut = Math.min(place, values.length);
      const [whole, parts, single] = [new Float64Array(2), new Float64Array(2), new Float64Array(2)];
      sumInto(whole, 0, column, 0, values.length);
      sumInto(parts, 0, column, 0, cut);
      sumInto(parts, 0, column, cut, values.length);
      for (const x of values) addInto(single, 0, x);
      expect(bitsOf(parts)).toBe(bitsOf(whole));
      expect(bitsOf(single)).toBe(bitsOf(whole));
      const sum = whole[0]! + whole[1]!;
      // Once a sum has overflowed, the formulas lose it in ways of their own; none of them is finite.
      expect(Number.isFinite(sum) ? sum : Number.NaN).toBe(finiteOrNaN(sumOf(values)));
    }),
    { numRuns: 5000 },
  );
});

const finiteOrNaN = (x: number): number => (Number.isFinite(x) ? x : Number.NaN);

test('sums of deviations are those of the deviations and of their squares', () => {
  fc.assert(
    fc.property(fc.array(tame, { maxLength: 40 }), tame, (values, origin) => {
      const slots = new Float64Array(4);
      sumDeviationsInto(slots, 0, origin, Float64Array.from(values), 0, values.length);
      const deviations = values.map((x) => x - origin);
      const expected = new Float64Array(4);
      for (const d of deviations) {
        addInto(expected, 0, d);
        addInto(expected, 2, d * d);
      }
      expect(bitsOf(slots)).toBe(bitsOf(expected));
    }),
    { numRuns: 1000 },
  );
});
