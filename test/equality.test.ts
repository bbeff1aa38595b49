import { deepStrictEqual as assertEqual } from 'node:assert';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { areSurelyEqual, expectEqual } from './equality.js';

const column = fc.array(fc.double()).map((values) => Float64Array.from(values));
const leaf = fc.oneof(fc.integer({ min: -1, max: 1 }), fc.constantFrom(-0, Number.NaN, 'a', null, undefined), column);
const value = fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.array(fc.array(leaf, { maxLength: 2 })));

test('what is surely equal is equal by the strict rules of Node', () => {
  const property = fc.property(value, value, (a, b) => {
    if (areSurelyEqual(a, b)) expect(() => assertEqual(a, b)).not.toThrow();
  });
  fc.assert(property, { numRuns: 2000 });
});

test('samples and bytes are surely equal to their copies', () => {
  const pairs = fc.array(fc.tuple(fc.double(), fc.double()));
  fc.assert(fc.property(pairs, (given) => areSurelyEqual(given, structuredClone(given))));
  fc.assert(fc.property(column, (given) => areSurelyEqual(given, given.slice())));
});

test.each([
  [-0, 0],
  [[1], [1, 2]],
  [[-0], [0]],
  [Float64Array.of(-0), Float64Array.of(0)],
  [Uint8Array.of(1), Int8Array.of(1)],
  [Uint8Array.of(1), Uint8Array.of(2)],
  [[[1]], [['1']]],
  // Fields beside the elements.
  [/a/.exec('a'), ['a']],
  // Left to `toEqual`: objects, and what is no value or a hole.
  [{ a: 1 }, { a: 1 }],
  [[undefined], [undefined]],
  [new Array(1), new Array(1)],
])('%o and %o are not surely equal', (a, b) => {
  expect(areSurelyEqual(a, b)).toBe(false);
});

test.each([
  [
    [1, 2],
    [1, 3],
  ],
  [Uint8Array.of(1), Uint8Array.of(2)],
  [{ value: Float64Array.of(-0) }, { value: Float64Array.of(0) }],
  [
    [[0, 1]],
    [
      [0, 1],
      [2, 3],
    ],
  ],
])('toEqual and expectEqual tell %o from %o', (a, b) => {
  expect(a).not.toEqual(b);
  expect(() => expect(a).toEqual(b)).toThrow('to deeply equal');
  expect(() => expectEqual(a, b)).toThrow('to deeply equal');
});
