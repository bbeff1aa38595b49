import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linear } from '../../src/kernels/linear.js';
import { conversion, quantityOf, unitNames, unitsOf } from '../../src/operations/extensions/values/units.js';
import { nearestQuotient, unitsOf as wholeOf } from '../oracle/exact.js';

const pairs = unitNames.flatMap((from) => unitsOf(quantityOf(from)!).map((to) => [from, to] as const));
// Decimals lie right by the middle between two doubles now and then.
const decimal = fc.tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: 0, max: 4 })).map(([n, d]) => n / 10 ** d);
const value = fc.oneof(decimal, fc.double({ noNaN: true, noDefaultInfinity: true }));

test('a unit becomes another one with a single rounding', () => {
  const law = fc.property(fc.constantFrom(...pairs), fc.array(value, { maxLength: 200 }), ([from, to], values) => {
    const by = conversion(from, to);
    const out = new Float64Array(values.length);
    linear(Float64Array.from(values), values.length, by, out);
    const expected = values.map((x) => {
      const exact = wholeOf(x) * by.factor + by.offset * wholeOf(1);
      if (exact === 0n) return x === 0 && by.offset === 0n ? x : 0;
      return nearestQuotient(exact, by.divisor * wholeOf(1));
    });
    expect([...out]).toEqual(expected);
  });
  fc.assert(law, { numRuns: 300 });
});
