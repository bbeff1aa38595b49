import fc from 'fast-check';
import { expect, test } from 'vitest';
import { currentArena } from '../../src/kernels/arena.js';
import { findWindows, holdWindows, sumWindows } from '../../src/kernels/windows.js';
import { averageOf, sumOf } from '../oracle/numbers.js';
import { heldResult, holdsOf } from '../oracle/window-result.js';
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

test('integrals of held values over many windows at once are those of each window alone, or NaN', () => {
  const whole = fc.integer({ min: -999, max: 999 });
  const gap = fc.oneof(
    { weight: 40, arbitrary: fc.integer({ min: 1, max: 40 }) },
    { weight: 1, arbitrary: fc.constantFrom(0.25, 500, 2 ** 26, 2 ** 26 - 1) },
  );
  const steps = (value: fc.Arbitrary<number>) =>
    fc.array(fc.tuple(gap, value), { minLength: 20, maxLength: 200, size: 'max' });
  const divisor = fc.constantFrom<[number?, string?]>([], [1, 'PT0.001S'], [1000, 'PT1S'], [3_600_000, 'PT1H']);
  const property = fc.property(
    fc.oneof(steps(whole), steps(fc.oneof(tame, anyFinite))),
    fc.constantFrom(0, -700, 2 ** 40, 1.7e12),
    fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(2 ** 27)),
    divisor,
    fc.constantFrom(undefined, 7, 30),
    (drawn, originMs, lengthMs, [divisorMs, unit], maxHoldMs) => {
      let t = originMs;
      const samples = drawn.map(([gapMs, value]) => {
        t += gapMs;
        return { timeMs: t, value };
      });
      const timeMs = inMemory(
        0,
        samples.map((sample) => sample.timeMs),
      );
      const value = inMemory(
        1,
        samples.map((sample) => sample.value),
      );
      const startOf = (ms: number): number => Math.floor(ms / lengthMs) * lengthMs;
      const first = samples.findIndex((sample) => sample.timeMs >= startOf(samples[0]!.timeMs) + lengthMs);
      if (first < 0) return;
      const [startsMs, results] = [scratchColumn(2), scratchColumn(3)];
      borders[0] = first;
      const startMs = startOf(samples[first]!.timeMs);
      const windowCount = findWindows(timeMs, samples.length, startMs, lengthMs, borders, 0, startsMs);
      const found = { borders, windowCount, startsMs, lengthMs };
      holdWindows({ timeMs, value }, found, maxHoldMs ?? everMs, divisorMs ?? 0, results);
      const maxhold = maxHoldMs === undefined ? {} : { maxhold: `PT0.0${String(maxHoldMs).padStart(2, '0')}S` };
      const parameters = {
        interval: '',
        function: unit ? 'Integral' : 'TimeWeightedAverage',
        ...maxhold,
        ...(unit && { unit }),
      };
      // Few samples are not worth the call of a kernel.
      const isCalled = borders[windowCount]! >= 16;
      for (let w = 0; w < windowCount; w++) {
        const own = samples.slice(borders[w]! - 1, borders[w + 1]! + 1);
        const expected = heldResult(
          holdsOf(own, parameters, everMs),
          startsMs[w]!,
          startsMs[w]! + lengthMs,
          parameters,
        );
        const isPlain = own.every((sample, i) => {
          const isShort = i === 0 || sample.timeMs - own[i - 1]!.timeMs < 2 ** 26;
          return isShort && Number.isInteger(sample.timeMs) && Math.abs(sample.value) < 1000 && sample.value % 1 === 0;
        });
        if (Number.isNaN(results[w]!)) expect(isCalled && isPlain && expected !== 'empty').toBe(false);
        else expect(Object.is(results[w], expected)).toBe(true);
      }
    },
  );
  fc.assert(property, { numRuns: 1000 });
});

const everMs = Number.POSITIVE_INFINITY;
