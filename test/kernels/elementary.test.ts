import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exp, log, logBase, pow } from '../../src/kernels/elementary.js';
import { linear } from '../../src/kernels/linear.js';
import { conversion, quantityOf, unitNames } from '../../src/operations/extensions/values/units.js';
import { exactExp, exactLog, exactPow, nearestQuotient, unitsOf } from '../oracle/exact.js';

const anyDouble = fc.double({ noNaN: true, noDefaultInfinity: true });
const nearOne = fc.double({ min: 1 - 2 ** -20, max: 1 + 2 ** -20, noNaN: true });
const positive = fc.oneof(
  anyDouble.map(Math.abs).filter((x) => x > 0),
  fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
  nearOne,
  fc.integer({ min: 1, max: 10_000 }),
);

describe('a result is the double nearest to the exact one', () => {
  test('exp', () => {
    const argument = fc.oneof(
      fc.double({ min: -746, max: 710, noNaN: true }),
      fc.double({ min: -1, max: 1, noNaN: true }),
    );
    fc.assert(
      fc.property(argument, (x) => {
        expect(exp(x)).toBe(exactExp(x));
      }),
      { numRuns: 1500 },
    );
  });

  test('log, natural and to a base', () => {
    fc.assert(
      fc.property(positive, (x) => {
        expect(log(x)).toBe(exactLog(x));
      }),
      { numRuns: 1500 },
    );
    const base = fc.oneof(fc.constantFrom(2, 10, 0.5), positive).filter((b) => b !== 1);
    fc.assert(
      fc.property(positive, base, (x, b) => {
        expect(logBase(x, b)).toBe(exactLog(x, b));
      }),
      { numRuns: 1000 },
    );
  });

  test('pow, where it is exact or in the middle of two doubles too', () => {
    const power = fc.oneof(fc.double({ min: -50, max: 50, noNaN: true }), fc.constantFrom(2, 3, 0.5, 1.5, -1, 1 / 3));
    fc.assert(
      fc.property(positive, power, (x, y) => {
        expect(pow(x, y)).toBe(exactPow(x, y));
      }),
      { numRuns: 1500 },
    );
    const root = fc.integer({ min: 1, max: 208_063 });
    fc.assert(
      fc.property(root, (n) => {
        expect(pow(n * n, 1.5)).toBe(Number(BigInt(n) ** 3n));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a conversion of units', () => {
  const pairs = unitNames.flatMap((from) =>
    unitNames.filter((to) => quantityOf(to) === quantityOf(from)).map((to) => [from, to] as const),
  );
  const convert = (x: number, from: string, to: string): number => {
    const out = new Float64Array(1);
    linear(Float64Array.of(x), 1, conversion(from, to), out);
    return out[0]!;
  };

  test('is rounded once, whatever the value', () => {
    const value = fc.oneof(anyDouble, fc.double({ min: -1000, max: 1000, noNaN: true }), fc.integer());
    const property = fc.property(fc.constantFrom(...pairs), value, ([from, to], x) => {
      const { factor, offset, divisor } = conversion(from, to);
      const exact = nearestQuotient(unitsOf(x) * factor + (offset << 1074n), divisor << 1074n);
      expect(convert(x, from, to) + 0).toBe(exact + 0);
    });
    fc.assert(property, { numRuns: 3000 });
  });

  test('there and back is the exact identity', () => {
    for (const [from, to] of pairs) {
      const [there, back] = [conversion(from, to), conversion(to, from)];
      expect(there.factor * back.factor).toBe(there.divisor * back.divisor);
      expect(there.offset * back.factor + back.offset * there.divisor).toBe(0n);
    }
  });

  test('values that everybody knows', () => {
    expect(convert(212, 'degF', 'degC')).toBe(100);
    expect(convert(20, 'degC', 'degF')).toBe(68);
    expect(convert(1, 'kWh', 'MJ')).toBe(3.6);
    expect(convert(1, 'atm', 'mbar')).toBe(1013.25);
    expect(convert(1, 'mi', 'km')).toBe(1.609344);
    expect(convert(1, 'lb', 'g')).toBe(453.59237);
  });
});
