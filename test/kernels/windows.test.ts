import fc from 'fast-check';
import { expect, test } from 'vitest';
import { currentArena } from '../../src/kernels/arena.js';
import { findWindows, sumWindows } from '../../src/kernels/windows.js';
import { averageOf, sumOf } from '../oracle/numbers.js';
import { anyFinite, columnOf, expectSameBits, risingOf, scratchColumn, tame } from './columns.js';

const { borders } = currentArena();

function inMemory(index: number, values: ArrayLike<number>): Float64Array {
  const column = scratchColumn(index);
  column.set(values);
  return column;
}

test('consecutive windows are found as by hand, in WebAssembly memory and outside', () => {
  const length = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 200 }));
  const gaps = fc.array(fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 400), { maxLength: 20 });
  fc.assert(
    fc.property(risingOf(300), length, gaps, fc.nat(20), (even, lengthMs, jumps, skipped) => {
      const times = even.map((t, i) => t + jumps.slice(0, i / 9).reduce<number>((sum, gap) => sum + gap, 0));
      const first = Math.min(skipped, times.length - 1);
      if (first < 0) return;
      const startOf = (t: number): number => Math.floor(t / lengthMs) * lengthMs;
      const startMs = startOf(times[first]!);
      const starts: number[] = [];
      const ends = [first];
      for (;;) {
        const start = startMs + starts.length * lengthMs;
        const end = times.findIndex((t, i) => i >= ends.at(-1)! && t >= start + lengthMs);
        if (end < 0) break;
        starts.push(start);
        ends.push(end);
        if (startOf(times[end]!) !== start + lengthMs) break;
      }
      for (const [timeMs, startsMs] of [
        [inMemory(0, times), scratchColumn(1)],
        [times, new Float64Array(times.length)],
      ] as const) {
        borders[0] = first;
        expect(findWindows(timeMs, times.length, startMs, lengthMs, borders, 0, startsMs)).toBe(starts.length);
        expect(Array.from(borders.subarray(0, ends.length))).toEqual(ends);
        expect(Array.from(startsMs.subarray(0, starts.length))).toEqual(starts);
      }
    }),
    { numRuns: 3000 },
  );
});

test('sums and means of many windows at once equal those of each window alone', () => {
  const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 70 })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(columnOf(fc.oneof(tame, anyFinite)), lengths, (values, each) => {
      const ends = [0];
      for (const length of each) if (ends.at(-1)! + length <= values.length) ends.push(ends.at(-1)! + length);
      const count = ends.length - 1;
      const windows = ends.slice(1).map((end, w) => values.slice(ends[w], end));
      for (const isMean of [false, true]) {
        const expected = windows.map((own) => (isMean ? averageOf(own) : sumOf(own)));
        for (const [value, results] of [
          [inMemory(0, values), scratchColumn(1)],
          [Float64Array.from(values), new Float64Array(count)],
        ] as const) {
          borders.set(ends);
          sumWindows(value, borders, count, isMean, results);
          expectSameBits(results.subarray(0, count), expected);
        }
      }
    }),
    { numRuns: 400 },
  );
});
