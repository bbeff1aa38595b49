import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Reducer } from '../../src/plot/reducer.js';
import { linesOf, minutes, seriesOf } from './lines.js';

describe('reducer', () => {
  it('keeps a few samples as they are', () => {
    const samples = minutes(1000, (i) => Math.sin(i));
    const [line] = linesOf(seriesOf('x', samples));
    expect([...(line?.timeMs ?? [])]).toEqual(samples.map(([timeMs]) => timeMs));
    expect([...(line?.value ?? [])]).toEqual(samples.map(([, value]) => value));
    expect(line?.isAfterGap.includes(1)).toBe(false);
  });

  it('keeps first, last, minimum, maximum and the count of any samples in any order, in bounded memory', () => {
    const sample = fc.tuple(fc.integer({ min: -1e12, max: 1e12 }), fc.integer({ min: -1000, max: 1000 }));
    fc.assert(
      fc.property(
        fc.array(sample, { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 1, max: 1e6 }),
        (samples, scale) => {
          const reducer = new Reducer('x');
          for (const [timeMs, value] of samples) {
            // A burst around each sample, so that there are many more than are kept.
            const times = Float64Array.from({ length: 40 }, (_, i) => timeMs + i * scale);
            reducer.add(times, new Float64Array(40).fill(value));
          }
          const line = reducer.line();
          const all = samples.flatMap(([timeMs]) => [timeMs, timeMs + 39 * scale]);
          const values = samples.map(([, value]) => value);
          expect(line.sampleCount).toBe(samples.length * 40);
          expect(line.timeMs[0]).toBe(Math.min(...all));
          expect(line.timeMs.at(-1)).toBe(Math.max(...all));
          expect([line.min, line.max]).toEqual([Math.min(...values), Math.max(...values)]);
          expect(Math.min(...line.value)).toBe(line.min);
          expect(Math.max(...line.value)).toBe(line.max);
          expect(line.timeMs.length).toBeLessThanOrEqual(4 * 4096);
          expect(line.timeMs.every((timeMs, i) => i === 0 || timeMs >= (line.timeMs[i - 1] ?? 0))).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('a distance of more than three typical steps is a gap, however many samples there are', () => {
    for (const count of [50, 50_000]) {
      const before = minutes(count, () => 1);
      const after = minutes(count, () => 2, Date.UTC(2024, 2, 1) + (count * 2 + 10) * 60_000);
      const [line] = linesOf(seriesOf('x', [...before, ...after]));
      const gaps = [...(line?.isAfterGap ?? [])].flatMap((isAfter, index) =>
        isAfter === 1 ? [line?.value[index]] : [],
      );
      expect(gaps).toEqual([2]);
    }
  });

  it('three typical steps are not a gap', () => {
    const samples = minutes(20, (i) => i).filter((_, i) => i !== 10 && i !== 11);
    expect(linesOf(seriesOf('x', samples))[0]?.isAfterGap.includes(1)).toBe(false);
  });

  it('missing values are left out', () => {
    const [line] = linesOf(
      seriesOf(
        'x',
        minutes(3, (i) => (i === 1 ? Number.NaN : i)),
      ),
    );
    expect([...(line?.value ?? [])]).toEqual([0, 2]);
    expect(line?.sampleCount).toBe(2);
  });
});
