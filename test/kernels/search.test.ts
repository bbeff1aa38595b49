import fc from 'fast-check';
import { test } from 'vitest';
import { copyFinite, firstNotRising, isSameTimes } from '../../src/kernels/check.js';
import { firstAfter, firstAtOrAfter, firstAtOrAfterGuess } from '../../src/kernels/search.js';
import { lerp } from '../../src/kernels/values.js';
import { expectEqual } from '../equality.js';
import { anyDouble, columnOf, risingOf } from './columns.js';

/** The first index in `from..count` that matches, else `count`. */
function scan(from: number, count: number, isFound: (index: number) => boolean): number {
  for (let i = from; i < count; i++) if (isFound(i)) return i;
  return count;
}

test('searches agree with a linear scan, from any start and with any guess', () => {
  const target = fc.oneof(fc.integer({ min: -15, max: 220 }), fc.constantFrom(1e9, -1e9));
  fc.assert(
    fc.property(
      risingOf(70),
      fc.nat(70),
      fc.nat(70),
      target,
      fc.boolean(),
      fc.nat(90),
      (column, a, b, t, isBetween, guess) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        const count = Math.min(high, column.length);
        const from = Math.min(low, count);
        const timeMs = isBetween ? t + 0.5 : t;
        const atOrAfter = scan(from, count, (i) => column[i]! >= timeMs);
        expectEqual(firstAtOrAfter(column, from, count, timeMs), atOrAfter);
        expectEqual(firstAtOrAfterGuess(column, from, count, timeMs, guess), atOrAfter);
        expectEqual(
          firstAfter(column, from, count, timeMs),
          scan(from, count, (i) => column[i]! > timeMs),
        );
      },
    ),
    { numRuns: 10_000 },
  );
});

test('firstNotRising finds the first time that is not later than the one before', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 12 }), fc.nat(12), (times, place) => {
      const from = Math.min(place, times.length);
      const expected = scan(from, times.length, (i) => !(times[i]! > (i === from ? 3 : times[i - 1]!)));
      expectEqual(firstNotRising(Float64Array.from(times), from, times.length, 3), expected);
    }),
    { numRuns: 2000 },
  );
});

test('copyFinite keeps the samples with finite values, in order', () => {
  fc.assert(
    fc.property(columnOf(anyDouble), (values) => {
      const timeMs = Float64Array.from(values, (_, i) => i);
      const [times, kept] = [new Float64Array(values.length + 1), new Float64Array(values.length + 1)];
      const count = copyFinite(timeMs, Float64Array.from(values), values.length, times, kept);
      const expected = values.map((x, i) => [i, x] as const).filter(([, x]) => Number.isFinite(x));
      expectEqual(
        [...times.subarray(0, count)].map((t, i) => [t, kept[i]!]),
        expected,
      );
    }),
    { numRuns: 500 },
  );
});

test('isSameTimes compares as many times as asked', () => {
  fc.assert(
    fc.property(risingOf(20), fc.nat(19), fc.nat(20), (column, place, length) => {
      const count = Math.min(length, column.length);
      const other = column.slice();
      if (place < other.length) other[place] = -99;
      expectEqual(isSameTimes(column, other, count), place >= count);
    }),
    { numRuns: 500 },
  );
});

test('lerp gives both ends exactly and never goes beyond them', () => {
  const end = fc.double({ noNaN: true, min: -1e300, max: 1e300 });
  fc.assert(
    fc.property(end, end, fc.double({ noNaN: true, min: 0, max: 1 }), (a, b, f) => {
      expectEqual(lerp(a, b, 0), a + 0 * (b - a));
      expectEqual(lerp(a, b, 1), b - (b - a) * 0);
      const x = lerp(a, b, f);
      expectEqual(x >= Math.min(a, b) && x <= Math.max(a, b), true);
    }),
    { numRuns: 5000 },
  );
});
