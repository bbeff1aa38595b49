import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DoubleList } from '../../src/core/list.js';
import {
  addValue,
  differentCount,
  mostFrequent,
  ORDERED_SLOTS,
  type Ordered,
  removeValue,
  valueAt,
} from '../../src/operations/extensions/aggregates/ordered-values.js';

const value = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 0.5),
  fc.integer({ min: -30, max: 30 }),
  fc.double({ noNaN: true }),
);
const turns = fc.array(fc.tuple(value, fc.boolean(), fc.nat()), { maxLength: 200, size: 'max' });

test('adding and removing values agrees with a sorted list', () => {
  const property = fc.property(turns, (drawn) => {
    const ordered: Ordered = [new Float64Array(ORDERED_SLOTS + 1), 1, new DoubleList()];
    const list: number[] = [];
    for (const [x, isAdded, which] of drawn) {
      if (isAdded || list.length === 0) {
        addValue(ordered, x);
        list.push(x);
      } else removeValue(ordered, list.splice(which % list.length, 1)[0]!);
      const sorted = Float64Array.from(list).sort();
      expect(Array.from(sorted, (_, rank) => valueAt(ordered, rank))).toEqual([...sorted]);
      expect(differentCount(ordered)).toBe(new Set(list).size);
      if (list.length === 0) continue;
      const countOf = (one: number): number => list.filter((other) => other === one).length;
      expect(mostFrequent(ordered)).toBe(sorted.reduce((best, one) => (countOf(one) > countOf(best) ? one : best)));
    }
  });
  fc.assert(property, { numRuns: 200 });
});

test('a hundred thousand ascending values do not turn the tree into a list', () => {
  const nodes = new DoubleList();
  const ordered: Ordered = [new Float64Array(ORDERED_SLOTS), 0, nodes];
  // Recursion goes one call per level: a tree that is a list would overflow the stack.
  for (let i = 0; i < 100_000; i++) addValue(ordered, i);
  expect(valueAt(ordered, 54_321)).toBe(54_321);
  for (let i = 0; i < 100_000; i++) removeValue(ordered, i);
  expect(nodes.length).toBe(0);
});
