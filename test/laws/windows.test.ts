import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aggregateFunctionNames, timeWeightedNames } from '../../src/operations/aggregate/parameters.js';
import { type Pair, pairsOf, resultOf, runStep, scaledArbitrary } from './steps.js';

/** Laws of windows other than intervals; the oracle and the streams of random requests test them too. */

const runs = { numRuns: 120 };
const plainNames = aggregateFunctionNames.filter((name) => !timeWeightedNames.includes(name));
const anyName = fc.constantFrom(...aggregateFunctionNames.filter((name) => name !== 'WeightedAverage'));
const plainName = fc.constantFrom(...plainNames);

function settingsFor(name: string): Record<string, unknown> {
  const isState = name === 'TimeInState' || name === 'Transitions';
  return {
    function: name,
    ...(name === 'Percentile' ? { percentile: 37.5 } : {}),
    ...(name === 'Coverage' ? { maxhold: 'PT20M' } : {}),
    ...(isState ? { lower: -1, upper: 5 } : {}),
  };
}

const whole = scaledArbitrary().map(({ scale, series }) => {
  const timeMs = [...new Set([...series.timeMs].map(Math.round))];
  return {
    scale,
    series: { ...series, timeMs: Float64Array.from(timeMs), value: series.value.slice(0, timeMs.length) },
  };
});

describe('windows expressed by others', () => {
  test('sliding windows as long as their distance are those of the interval', () => {
    const property = fc.property(
      scaledArbitrary().chain(({ scale, series }) => {
        const zoned = fc.record({
          interval: fc.constantFrom(...scale.zonedIntervals),
          timezone: fc.constantFrom('Europe/Berlin', 'Pacific/Apia', 'UTC'),
        });
        return fc.tuple(fc.constant(series), zoned);
      }),
      anyName,
      fc.constantFrom('start', 'end'),
      fc.constantFrom('left', 'right'),
      fc.constantFrom('omit', 'zero', 'hold'),
      ([series, { interval, timezone }], name, label, closed, empty) => {
        const given = { ...settingsFor(name), timezone, label, closed, empty };
        const limit = { maxOutputSamples: 1e5 };
        const sliding = { type: 'sliding', size: interval, every: interval };
        const expected = resultOf('Aggregate', { ...given, interval }, [series], limit);
        // In a zone, a length below a day is elapsed time here, so windows at a clock change differ from those of the
        // interval.
        fc.pre(timezone === 'UTC' || /Daily|ly$/.test(interval.replace('Hourly', '')));
        expect(resultOf('Aggregate', { ...given, window: sliding }, [series], limit)).toEqual(expected);
      },
    );
    fc.assert(property, runs);
  });

  test('sliding windows of some distances begin at borders, also at fractions of a millisecond', () => {
    const length = fc.oneof(
      fc.integer({ min: 100_000, max: 5_000_000 }),
      fc.integer({ min: 100_000, max: 5_000_000_000 }),
    );
    const index = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -90_000, max: 90_000 }));
    const property = fc.property(length, index, fc.integer({ min: 1, max: 9 }), (lengthNs, at, count) => {
      const borderMs = (index: number) => Number(`${index * lengthNs}e-6`) + 0;
      const duration = (lengths: number) => `PT${((lengths * lengthNs) / 1e9).toFixed(9)}S`;
      const series = {
        timeseriesId: 's',
        metric: 'Raw',
        timeMs: Float64Array.of(borderMs(at)),
        value: Float64Array.of(1),
      };
      const window = { type: 'sliding', size: duration(count), every: duration(1) };
      const counts = resultOf('Aggregate', { function: 'Count', window }, [series]);
      expect(counts).toStrictEqual(Array.from({ length: count }, (_, i) => [borderMs(at + 1 - count + i), 1]));
    });
    fc.assert(property, runs);
  });

  test('an Average for each sample is the MovingAverage', () => {
    const property = fc.property(whole, fc.constantFrom('PT1M', 'PT17M', 'PT5H'), ({ series }, size) => {
      const moved = resultOf('Aggregate', { function: 'Average', window: { type: 'sliding', size } }, [series]);
      expect(moved).toEqual(resultOf('MovingAverage', { window: size }, [series]));
    });
    fc.assert(property, runs);
  });

  test('a running Sum is the CumulativeSum, per window and unbounded', () => {
    const since = fc.constantFrom('Hourly', 'Daily', 'Monthly', '0001-01-01T00:00:00Z');
    const property = fc.property(scaledArbitrary(), since, ({ series }, start) => {
      const window = { type: 'running', since: start };
      const interval = start.startsWith('0') ? {} : { interval: start };
      const total = resultOf('Aggregate', { function: 'Sum', window }, [series]);
      expect(total).toEqual(resultOf('CumulativeSum', interval, [series]));
    });
    fc.assert(property, runs);
  });

  test('the last running result of each day is that of the day', () => {
    const property = fc.property(scaledArbitrary(), plainName, ({ series }, name) => {
      const given = settingsFor(name);
      const ofDay = new Map<number, number>();
      const running = resultOf('Aggregate', { ...given, window: { type: 'running', since: 'Daily' } }, [series]);
      for (const [t, x] of running) ofDay.set(Math.floor(t / 86_400_000) * 86_400_000, x);
      const days = resultOf('Aggregate', { ...given, interval: 'Daily' }, [series]);
      expect([...ofDay]).toEqual(days);
    });
    fc.assert(property, runs);
  });

  test('a session whose gap exceeds all others is one window over all samples', () => {
    const property = fc.property(scaledArbitrary(), plainName, ({ series }, name) => {
      const given = settingsFor(name);
      const one = resultOf('Aggregate', { ...given, window: { type: 'session', gap: 'P3650000D' } }, [series]);
      const since = { type: 'running', since: '0001-01-01T00:00:00Z' };
      const total = resultOf('Aggregate', { ...given, window: since }, [series]);
      expect(one.map(([, x]) => x)).toEqual(total.slice(-1).map(([, x]) => x));
      expect(one.map(([t]) => t)).toEqual(one.length === 0 ? [] : [series.timeMs[0]]);
    });
    fc.assert(property, runs);
  });
});

test('each sample is in exactly one session', () => {
  const property = fc.property(scaledArbitrary(), fc.constantFrom('PT0S', 'PT5M', 'PT2H'), ({ series }, gap) => {
    const counts = resultOf('Aggregate', { function: 'Count', window: { type: 'session', gap } }, [series]);
    const gaps = resultOf('Gaps', { gap }, [series]);
    expect(counts.reduce((sum, [, count]) => sum + count, 0)).toBe(series.timeMs.length);
    expect(counts.length).toBe(series.timeMs.length === 0 ? 0 : gaps.length + 1);
  });
  fc.assert(property, runs);
});

test('the increases of sessions, or of a running day, add up to that of the series', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 9_000_000 }), fc.nat(99)), { minLength: 1, maxLength: 60 });
  const property = fc.property(steps, fc.constantFrom('PT0S', 'PT20M', 'PT2H'), (drawn, gap) => {
    let t = 1_700_000_000_000;
    const pairs: Pair[] = drawn.map(([ms, x]) => {
      t += ms;
      return [t, x];
    });
    const series = { timeseriesId: 's', metric: 'Raw', ...columnsOf(pairs) };
    const whole = resultOf('Aggregate', { function: 'Increase', interval: 'Yearly' }, [series]);
    const parts = resultOf('Aggregate', { function: 'Increase', window: { type: 'session', gap } }, [series]);
    expect(parts.reduce((sum, [, x]) => sum + x, 0)).toBe(whole.reduce((sum, [, x]) => sum + x, 0));
  });
  fc.assert(property, runs);
});

test('a value that has left a window leaves no trace, however large it was', () => {
  const names = anyName.filter((name) => !['Increase', 'Rate', 'Transitions'].includes(name));
  const large = fc.constantFrom(1e300, -1.7e308, 5e-324, 1e22, -0);
  const property = fc.property(whole, names, large, ({ series }, name, x) => {
    fc.pre(series.timeMs.length > 0 && series.timeMs[0]! > -6e13);
    const firstMs = series.timeMs[0]! - 7 * 86_400_000;
    const longer = {
      ...series,
      timeMs: Float64Array.from([firstMs, ...series.timeMs]),
      value: Float64Array.from([x, ...series.value]),
    };
    const given = { ...settingsFor(name), window: { type: 'sliding', size: 'PT3H' }, ...heldBriefly(name) };
    const without = resultOf('Aggregate', given, [series]);
    const fromMs = series.timeMs[0]!;
    expect(resultOf('Aggregate', given, [longer]).filter(([t]) => t >= fromMs)).toEqual(without);
  });
  fc.assert(property, runs);
});

function heldBriefly(name: string): object {
  return timeWeightedNames.includes(name) ? { maxhold: 'PT20M' } : {};
}

function columnsOf(pairs: readonly Pair[]): { readonly timeMs: Float64Array; readonly value: Float64Array } {
  return { timeMs: Float64Array.from(pairs, ([t]) => t), value: Float64Array.from(pairs, ([, x]) => x) };
}

// Random requests have at most a thousand windows at one instant.
test('an hour each second: each sample is in 3,600 windows', () => {
  const START_MS = Date.parse('2023-03-26T00:00Z');
  const SIZE_MS = 3_600_000;
  const seconds = fc.uniqueArray(fc.nat(20_000), { minLength: 1, maxLength: 6 });
  const property = fc.property(seconds, fc.infiniteStream(fc.integer({ min: -99, max: 99 })), (at, values) => {
    const samples = at.sort((a, b) => a - b).map((s): Pair => [START_MS + 1000 * s, values.next().value]);
    const series = { timeseriesId: 's', metric: 'Raw', ...columnsOf(samples) };
    const window = { type: 'sliding', size: 'PT1H', every: 'PT1S' };
    const expected: Pair[] = [];
    for (let fromMs = samples[0]![0] - SIZE_MS + 1000; fromMs <= samples.at(-1)![0]; fromMs += 1000) {
      const within = samples.filter(([t]) => t >= fromMs && t < fromMs + SIZE_MS);
      if (within.length > 0) expected.push([fromMs, within.reduce((sum, [, x]) => sum + x, 0)]);
    }
    expect(resultOf('Aggregate', { function: 'Sum', window }, [series], { maxOutputSamples: 1e5 })).toEqual(expected);
  });
  fc.assert(property, { numRuns: 10 });
});

test('of windows with the same start, the last one counts', () => {
  const timeMs = Float64Array.of(Date.parse('2023-03-10T12:00Z'));
  const series = { timeseriesId: 's', metric: 'Raw', timeMs, value: Float64Array.of(1) };
  const window = { type: 'sliding', size: 'Monthly', every: 'Daily' };
  const run = runStep('Aggregate', { function: 'Sum', window }, [series]);
  const days = pairsOf(run.series[0]!).map(([t]) => new Date(t).toISOString().slice(0, 10));
  // 28 February is one month before 28, 29, 30 and 31 March.
  expect(days.filter((day) => day === '2023-02-28')).toHaveLength(1);
  expect(days.length).toBe(new Set(days).size);
  expect(run.report.steps[0]!.dropped.duplicate).toBe(3);
});
