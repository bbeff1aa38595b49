import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exp, log, logBase, pow } from '../../src/kernels/exact/elementary.js';
import { exactExp, exactLog, exactPow } from '../oracle/exact.js';

const anyDouble = fc.double({ noNaN: true, noDefaultInfinity: true });
const nearOne = fc.double({ min: 1 - 2 ** -20, max: 1 + 2 ** -20, noNaN: true });
const positive = fc.oneof(
  anyDouble.map(Math.abs).filter((x) => x > 0),
  fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
  nearOne,
  fc.integer({ min: 1, max: 10_000 }),
);

describe('a result is the double nearest to the exact value', () => {
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

  test('pow, also where the result is exact or halfway between two doubles', () => {
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
    // Odd powers of 54 digits lie halfway between two doubles.
    const halfway = fc.integer({ min: 3, max: 17 }).chain((y) => {
      const least = Math.ceil(2 ** (53 / y));
      return fc.tuple(fc.integer({ min: least, max: Math.floor(2 ** (54 / y)) }), fc.constant(y));
    });
    fc.assert(
      fc.property(halfway, ([n, y]) => {
        expect(pow(n, y)).toBe(Number(BigInt(n) ** BigInt(y)));
      }),
      { numRuns: 3000 },
    );
  });

  test('pow, where the result is large or small (Python: float(Decimal(x) ** Decimal(y)), with 120 digits)', () => {
    const powers = [
      [282.208, 14.322, 1.2504139618009067e35],
      [894.538, -12.996, 4.375443411460881e-39],
      [2.683, -94.087, 4.702911111269295e-41],
      [336.6, 15.931, 1.8174183660559236e40],
      [318.517, 57.149, 1.1259676327995532e143],
      [235.129, -69.743, 4.1494631845433233e-166],
      [106.19, 126.499, 1.9840469624549873e256],
      [984.847, -81.728, 2.2801187523271632e-245],
    ] as const;
    for (const [x, y, expected] of powers) expect(pow(x, y), `${x} to the power ${y}`).toBe(expected);
  });
});
