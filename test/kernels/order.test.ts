import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byRank } from '../../src/kernels/order.js';

const anyDouble = fc.double({ noNaN: true });
const few = fc.constantFrom(-1, -0, 0, 1, 2.5);
const columns = fc.oneof(
  fc.array(anyDouble, { minLength: 1, maxLength: 50 }),
  fc.array(few, { minLength: 1, maxLength: 3000, size: 'max' }),
  fc.array(anyDouble, { minLength: 600, maxLength: 3000, size: 'max' }),
);

test('select gives the value at a rank of the sorted column, and the next one', () => {
  const law = fc.property(columns, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (values, share) => {
    const rank = Math.floor(share * values.length);
    const sorted = Float64Array.from(values).sort();
    const moved = Float64Array.from(values);
    const valueAt = byRank(moved);
    expect(valueAt(rank)).toBe(sorted[rank]);
    if (rank + 1 < values.length) expect(valueAt(rank + 1)).toBe(sorted[rank + 1]);
    expect(valueAt(0)).toBe(sorted[0]);
    expect(moved.sort()).toEqual(sorted);
  });
  fc.assert(law, { numRuns: 400 });
});

test('a rank is right in sorted, reversed, constant, V-shaped and alternating columns of 100,000 values', () => {
  const count = 100_000;
  const shapes: ((i: number) => number)[] = [
    (i) => i,
    (i) => count - i,
    () => 7,
    (i) => Math.abs(i - count / 2),
    (i) => i % 2,
  ];
  for (const shape of shapes) {
    const column = Float64Array.from({ length: count }, (_, i) => shape(i));
    const sorted = column.slice().sort();
    for (const rank of [0, 1, 777, count / 2, count - 1]) expect(byRank(column.slice())(rank)).toBe(sorted[rank]);
  }
});
