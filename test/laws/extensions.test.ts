import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectEqual } from '../equality.js';
import { valueArbitrary } from './samples.js';
import { chainOf, type Pair, pairsOf, resultOf, risingArbitrary } from './steps.js';

const anyFinite = valueArbitrary.filter(Number.isFinite);
const small = fc.integer({ min: -20, max: 20 }).map((x) => x / 4 + 0);
const tolerance = fc.constantFrom(0, 0.25, 1, 7.5);
const runs = { numRuns: 500 };

/** The value at a time on straight lines between samples. */
function onLines(kept: readonly Pair[], timeMs: number): number {
  const after = kept.findIndex(([t]) => t >= timeMs);
  const [t1, x1] = kept[after]!;
  if (t1 === timeMs) return x1;
  const [t0, x0] = kept[after - 1]!;
  return x0 + ((x1 - x0) * (timeMs - t0)) / (t1 - t0);
}

describe('compression keeps its bound', () => {
  test('SwingingDoor: lines through the samples kept pass all others within the tolerance', () => {
    const property = fc.property(risingArbitrary(), tolerance, (series, bound) => {
      const given = pairsOf(series);
      const kept = resultOf('SwingingDoor', { tolerance: bound }, [series]);
      for (const [t, x] of given) {
        const size = Math.max(...given.map(([, one]) => Math.abs(one)));
        expect(Math.abs(onLines(kept, t) - x)).toBeLessThanOrEqual(bound + 1e-12 * size);
      }
      expectEqual([kept[0], kept.at(-1)], [given[0], given.at(-1)]);
    });
    fc.assert(property, runs);
  });

  test('Deadband: no sample is further than the tolerance from the last one kept', () => {
    const property = fc.property(risingArbitrary(anyFinite), tolerance, (series, bound) => {
      const kept = resultOf('Deadband', { tolerance: bound }, [series]);
      for (const [t, x] of pairsOf(series)) {
        expect(Math.abs(kept.filter(([one]) => one <= t).at(-1)![1] - x)).toBeLessThanOrEqual(bound);
      }
    });
    fc.assert(property, runs);
  });

  test('Downsample: minmax keeps the minimum and maximum, and only samples of the input', () => {
    const method = fc.constantFrom('minmax', 'lttb');
    const property = fc.property(risingArbitrary(anyFinite), method, (series, way) => {
      const kept = resultOf('Downsample', { interval: 'Hourly', method: way }, [series]);
      const given = pairsOf(series);
      expectEqual(
        kept.filter(([t, x]) => !given.some(([s, y]) => s === t && Object.is(x, y))),
        [],
      );
      const extremes = (pairs: readonly Pair[]) => [
        Math.min(...pairs.map(([, x]) => x)) + 0,
        Math.max(...pairs.map(([, x]) => x)) + 0,
      ];
      if (way === 'minmax') expect(extremes(kept)).toEqual(extremes(given));
      else expect([kept[0], kept.at(-1)]).toEqual([given[0], given.at(-1)]);
    });
    fc.assert(property, runs);
  });
});

describe('an operation equals others combined', () => {
  test('Scale by slope and offset is Mul, then Add', () => {
    const property = fc.property(risingArbitrary(anyFinite), small, small, (series, slope, offset) => {
      const steps = [
        ['Mul', { scalar: slope }],
        ['Add', { scalar: offset }],
      ] as const;
      expectEqual(resultOf('Scale', { slope, offset }, [series]), chainOf(steps, series));
    });
    fc.assert(property, runs);
  });

  test('Clamp is BoundsLimitCleanse', () => {
    const property = fc.property(risingArbitrary(anyFinite), small, fc.nat(9), (series, lower, width) => {
      const cleanse = { function: 'BoundsLimitCleanse', lowerbound: lower, upperbound: lower + width };
      const clamped = resultOf('Clamp', { lower, upper: lower + width }, [series]);
      expectEqual(clamped, resultOf('Cleanse', cleanse, [series]));
    });
    fc.assert(property, runs);
  });

  test('the last CumulativeSum of each day is its Sum', () => {
    const property = fc.property(risingArbitrary(anyFinite), (series) => {
      const byDay = new Map<number, number>();
      for (const [t, x] of resultOf('CumulativeSum', { interval: 'Daily' }, [series])) {
        byDay.set(Math.floor(t / 86_400_000) * 86_400_000, x);
      }
      const sums = resultOf('Aggregate', { function: 'Sum', interval: 'Daily' }, [series]);
      for (const [t, x] of sums) expect(byDay.get(t)).toBe(x);
    });
    fc.assert(property, runs);
  });

  test('Fill changes no sample of the input', () => {
    const property = fc.property(risingArbitrary(), (series) => {
      const filled = resultOf('Fill', { frequency: 'PT1H', method: 'linear' }, [series], { maxOutputSamples: 1e6 });
      const times = new Set(series.timeMs);
      expectEqual(
        filled.filter(([t]) => times.has(t)),
        pairsOf(series),
      );
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('Not of a Hysteresis is the Hysteresis with swapped bounds, once both have a state', () => {
    const property = fc.property(risingArbitrary(anyFinite), small, small, (series, on, off) => {
      fc.pre(on !== off);
      const decided = pairsOf(series).findIndex(([, x]) => (on > off ? x >= on || x <= off : x <= on || x >= off));
      if (decided < 0) return;
      const states = resultOf('Hysteresis', { on, off }, [series]).slice(decided);
      const others = resultOf('Hysteresis', { on: off, off: on }, [series]).slice(decided);
      expectEqual(
        others,
        states.map(([t, x]) => [t, 1 - x]),
      );
    });
    fc.assert(property, runs);
  });
});
