import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linear } from '../../src/kernels/linear.js';
import { conversion, quantityOf, unitNames, unitsOf } from '../../src/operations/extensions/values/units.js';
import { nearestQuotient, unitsOf as wholeOf } from '../oracle/exact.js';

describe('a conversion of units', () => {
  const pairs = unitNames.flatMap((from) => unitsOf(quantityOf(from)!).map((to) => [from, to] as const));
  const convert = (x: number, from: string, to: string): number => {
    const out = new Float64Array(1);
    linear(Float64Array.of(x), 1, conversion(from, to), out);
    return out[0]!;
  };

  test('rounds once, whatever the value; a zero that stays zero keeps its sign', () => {
    // Decimals are sometimes very near the middle between two doubles.
    const decimal = fc
      .tuple(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: 0, max: 4 }))
      .map(([n, d]) => n / 10 ** d);
    const value = fc.oneof(decimal, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
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
    fc.assert(law, { numRuns: 1000 });
  });

  test('there and back is exactly the identity', () => {
    for (const [from, to] of pairs) {
      const [there, back] = [conversion(from, to), conversion(to, from)];
      expect(there.factor * back.factor).toBe(there.divisor * back.divisor);
      expect(there.offset * back.factor + back.offset * there.divisor).toBe(0n);
    }
  });

  test('gives the values that everybody knows', () => {
    expect(convert(212, 'degF', 'degC')).toBe(100);
    expect(convert(20, 'degC', 'degF')).toBe(68);
    expect(convert(1, 'kWh', 'MJ')).toBe(3.6);
    expect(convert(1, 'atm', 'mbar')).toBe(1013.25);
    expect(convert(1, 'mi', 'km')).toBe(1.609344);
    expect(convert(1, 'lb', 'g')).toBe(453.59237);
  });
});
