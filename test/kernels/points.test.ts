import fc from 'fast-check';
import { test } from 'vitest';
import { type Points, stepPoints } from '../../src/kernels/points.js';
import { expectSameBits, risingOf, scratchColumn } from './columns.js';

type Sample = readonly [timeMs: number, value: number];

function pointsOf(timeMs: Float64Array, value: Float64Array, count: number, points: Points, job: Job): Sample[] {
  const found: Sample[] = [];
  for (let from = 0; from < count; ) {
    from = stepPoints(timeMs, value, from, count, -7, job.stepMs, points);
    for (let i = 0; i < points.count; i++) found.push([points.timeMs[i]!, points.value[i]!]);
  }
  return [...found, [points.nextMs, Number.NaN]];
}

interface Job {
  readonly firstMs: number;
  readonly stepMs: number;
}

/** The last sample at or before each grid point; points after the last sample have none. */
function expectedOf(times: Float64Array, { firstMs, stepMs }: Job): Sample[] {
  const found: Sample[] = [];
  const lastMs = times.at(-1) ?? Number.NEGATIVE_INFINITY;
  let pointMs = firstMs;
  for (; pointMs <= lastMs; pointMs += stepMs) {
    const before = times.filter((t) => t <= pointMs).length;
    found.push([pointMs, before === 0 ? -7 : before - 1]);
  }
  return [...found, [pointMs, Number.NaN]];
}

/** Mostly one sample between two points that are ten apart. */
const evenly = fc
  .array(fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 9 }) }, fc.integer({ min: 0, max: 25 })), {
    maxLength: 120,
    size: 'max',
  })
  .map((places) => Float64Array.from([...new Set(places.map((place, i) => 10 * i + place))].sort((a, b) => a - b)));

test('grid points take the last sample, in WebAssembly memory and outside, however small the output column', () => {
  const room = fc.integer({ min: 1, max: 40 });
  // Last: many samples to a point, about as many each time.
  const step = fc.oneof(fc.constant(10), fc.integer({ min: 1, max: 60 }), fc.integer({ min: 60, max: 300 }));
  fc.assert(
    fc.property(fc.oneof(risingOf(120), evenly), step, fc.nat(5), room, (times, stepMs, ahead, length) => {
      const job = { firstMs: 5 * ahead - 10, stepMs };
      const expected = expectedOf(times, job);
      const value = Float64Array.from(times, (_, i) => i);
      const scratch = [0, 1, 2, 3].map(scratchColumn);
      scratch[0]!.set(times);
      scratch[1]!.set(value);
      const roomIn = (timeMs: Float64Array, values: Float64Array): Points => ({
        timeMs: timeMs.subarray(0, length),
        value: values.subarray(0, length),
        count: 0,
        nextMs: job.firstMs,
      });
      const inMemory = roomIn(scratch[2]!, scratch[3]!);
      const partly = roomIn(scratch[2]!, new Float64Array(64));
      const outside = roomIn(new Float64Array(64), new Float64Array(64));
      const found = [
        pointsOf(scratch[0]!, scratch[1]!, times.length, inMemory, job),
        pointsOf(scratch[0]!, scratch[1]!, times.length, partly, job),
        pointsOf(times, value, times.length, outside, job),
      ];
      for (const one of found) {
        expectSameBits(
          one.map(([t]) => t),
          expected.map(([t]) => t),
        );
        expectSameBits(
          one.map(([, x]) => x),
          expected.map(([, x]) => x),
        );
      }
    }),
    { numRuns: 1500 },
  );
});
