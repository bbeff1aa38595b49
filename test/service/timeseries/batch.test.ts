import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortInput } from '../../../src/engine/batch/sort-input.js';
import {
  addColumns,
  createSampleBatch,
  seriesIndexOf,
  takeChanges,
} from '../../../src/service/timeseries/write/batch.js';

describe('a batch', () => {
  it('of many samples of one series, sorted in slices, equals one sorted at once', async () => {
    const counts = fc.constantFrom(50_001, 110_000, 160_000);
    const spreads = fc.constantFrom(1, 1000, 1e9);
    await fc.assert(
      fc.asyncProperty(fc.nat(), counts, spreads, async (seed, count, spread) => {
        const drawn = Uint32Array.from({ length: count }, (_, i) => Math.imul(i ^ seed, 0x9e3779b1) >>> 7);
        const timeMs = Float64Array.from(drawn, (number) => number % spread);
        const value = Float64Array.from(drawn, (number, i) => (number % 101 === 0 ? Number.NaN : i));
        const batch = createSampleBatch();
        addColumns(batch, seriesIndexOf(batch, 'a', 'Raw'), timeMs, value);
        const taken = await takeChanges(batch);
        const [from, until] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
        const whole = sortInput({ timeseriesId: 'a', metric: 'Raw', timeMs, value }, from, until);
        const { series, missing, duplicateMs } = whole;
        expect(taken).toEqual({
          changes: [series],
          counts: { samples: series.timeMs.length, missing, duplicate: duplicateMs.length },
        });
      }),
      { numRuns: 9 },
    );
  });
});
