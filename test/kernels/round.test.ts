import fc from 'fast-check';
import { describe, test } from 'vitest';
import { roundDecimal, roundHalfAway, roundHalfEven, roundOne } from '../../src/kernels/round.js';
import { expectEqual } from '../equality.js';
import { roundTo } from '../oracle/numbers.js';
import { anyFinite, columnOf, expectSameBits, scratchColumn } from './columns.js';

const digits = fc.integer({ min: -15, max: 15 }).map((x) => x + 0);

/** Decimals that are ties at some digit, and their neighbours. */
const nearTie = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n }),
    fc.integer({ min: -4, max: 16 }),
    fc.integer({ min: -2, max: 2 }),
  )
  .map(([k, at, ulps]) => {
    const x = Number(`${k}5e${-at}`);
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, x);
    view.setBigUint64(0, view.getBigUint64(0) + BigInt(ulps));
    const moved = view.getFloat64(0);
    return Number.isFinite(moved) ? moved : x;
  });

const value = fc.oneof(anyFinite, nearTie);

describe.each(['halfaway', 'halfeven'] as const)('rounding %s of', (mode) => {
  test('one value by division equals rounding its shortest decimal by digits', () => {
    fc.assert(
      fc.property(value, digits, (x, at) => {
        const expected = roundTo(x, at, mode);
        expectEqual([roundDecimal(x, at, mode), roundOne(x, at, mode)], [expected, expected]);
      }),
      { numRuns: 30_000 },
    );
  });

  test('a column rounds each value, in WebAssembly memory and outside', () => {
    const kernel = mode === 'halfaway' ? roundHalfAway : roundHalfEven;
    fc.assert(
      fc.property(columnOf(value), digits, (values, at) => {
        const expected = values.map((x) => roundDecimal(x, at, mode));
        const scratch = scratchColumn(0);
        scratch.set(values);
        const own = Float64Array.from(values);
        for (const [column, out] of [
          [scratch, scratchColumn(1)],
          [own, own.slice()],
          [scratch, scratch],
          [own, own],
        ] as const) {
          kernel(column, values.length, at, out);
          expectSameBits(out.subarray(0, values.length), expected);
        }
      }),
      { numRuns: 1500 },
    );
  });
});

test('multiples of 1/8 up to 2000 round half away as in the oracle', () => {
  const values = Float64Array.from({ length: 16_001 }, (_, i) => (i - 8000) / 8);
  for (const at of [-2, -1, 0, 1, 2, 3]) {
    const rounded = values.slice();
    roundHalfAway(rounded, rounded.length, at, rounded);
    expectSameBits(
      rounded,
      values.map((x) => roundTo(x, at, 'halfaway')),
    );
  }
});

test('short decimals and ties, which take the path without a division, round to the same bits', () => {
  const short = fc
    .tuple(
      fc.integer({ min: -(2 ** 28), max: 2 ** 28 }),
      fc.integer({ min: 0, max: 8 }),
      fc.integer({ min: -1, max: 1 }),
    )
    .map(([k, at, nudge]) => Number(`${k}e-${at}`) * (1 + nudge * 2 ** -53));
  const kinds = fc.oneof(
    short,
    short.map((x) => x / 3),
    fc.constantFrom(-0, 0, -0.001, 5e-324, -5e-324),
  );
  fc.assert(
    fc.property(fc.array(kinds, { minLength: 16, maxLength: 64, size: 'max' }), fc.nat(9), (values, at) => {
      const scratch = scratchColumn(0);
      scratch.set(values);
      roundHalfAway(scratch, values.length, at, scratch);
      const expected = values.map((x) => roundDecimal(x, at, 'halfaway'));
      expectSameBits(scratch.subarray(0, values.length), expected);
    }),
    { numRuns: 4000 },
  );
});
