import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Series } from '../../src/index.js';
import { expectEqual } from '../equality.js';
import { roundTo } from '../oracle/numbers.js';
import { valueArbitrary, zoneNames } from './samples.js';
import { chainOf, type Pair, pairsOf, resultOf, risingArbitrary, runStep, scaledArbitrary, ulpOf } from './steps.js';

const anyFinite = valueArbitrary.filter(Number.isFinite);
const runs = { numRuns: 1200 };

/** Intervals of fixed length, whatever the zone. */
const fixed = (intervals: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...intervals.filter((text) => !/Weekly|Monthly|Yearly|P1[MY]$/.test(text)));

const LENGTH_MS: Readonly<Record<string, number>> = {
  QuarterHourly: 900_000,
  HalfHourly: 1_800_000,
  Hourly: 3_600_000,
  Daily: 86_400_000,
  PT1M: 60_000,
  PT7M: 420_000,
  PT36H: 129_600_000,
  P3D: 259_200_000,
  PT1S: 1000,
  PT7S: 7000,
};
const windowStart = (timeMs: number, lengthMs: number): number => Math.floor(timeMs / lengthMs) * lengthMs;
const known = (intervals: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...intervals.filter((text) => text in LENGTH_MS));

function merged(...parts: readonly (readonly Pair[])[]): Pair[] {
  return parts.flat().sort(([a], [b]) => a - b);
}

test('Where and Mask together give back the input, and share no sample', () => {
  const bound = fc.option(fc.integer({ min: -30, max: 30 }), { nil: undefined });
  const ranges = fc.array(fc.tuple(bound, fc.nat(9), fc.boolean()), { maxLength: 3 });
  const places = fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 9 })), { maxLength: 2 });
  const property = fc.property(risingArbitrary(anyFinite), ranges, places, (series, values, times) => {
    const valuerangelist = values.map(([lower, width, isOpen]) => {
      return lower === undefined ? { upper: width } : isOpen ? { lower } : { lower, upper: lower + width };
    });
    const instantOf = (at: number): string =>
      new Date(Math.floor(series.timeMs[at % series.timeMs.length]!)).toISOString();
    const timerangelist = times
      .filter(() => series.timeMs.length > 0)
      .map(([from, length]) => ({ starttime: instantOf(from), endtime: instantOf(from + length) }))
      .filter(({ starttime, endtime }) => starttime < endtime);
    fc.pre(valuerangelist.length + timerangelist.length > 0);
    const kept = resultOf('Where', { valuerangelist, timerangelist }, [series]);
    const rest = resultOf('Mask', { valuerangelist, timerangelist }, [series]);
    expectEqual(merged(kept, rest), pairsOf(series));
  });
  fc.assert(property, runs);
});

test('BoundsLimitCleanse changes the samples that BoundsLimitAnomaly gives, and no others', () => {
  const property = fc.property(
    risingArbitrary(anyFinite),
    fc.integer({ min: -20, max: 20 }),
    fc.nat(20),
    (series, lower, width) => {
      const bounds = { lowerbound: lower, upperbound: lower + width };
      const cleansed = resultOf('Cleanse', { function: 'BoundsLimitCleanse', ...bounds }, [series]);
      const anomalies = resultOf('Cleanse', { function: 'BoundsLimitAnomaly', ...bounds }, [series]);
      const given = pairsOf(series);
      expectEqual(
        cleansed.map(([t]) => t),
        given.map(([t]) => t),
      );
      expectEqual(
        cleansed.every(([, x]) => x >= lower && x <= lower + width),
        true,
      );
      const changed = given.filter(([, x], i) => !Object.is(cleansed[i]![1], x));
      expectEqual(changed, anomalies);
      expect(cleansed.filter(([, x]) => x !== lower && x !== lower + width).every(([t, x]) => holds(given, t, x))).toBe(
        true,
      );
    },
  );
  fc.assert(property, runs);
});

function holds(pairs: readonly Pair[], timeMs: number, value: number): boolean {
  return pairs.some(([t, x]) => t === timeMs && Object.is(x, value));
}

function inWholeMs(series: Series): Series {
  const timeMs = series.timeMs.map(Math.round);
  const kept = [...timeMs.keys()].filter((at) => at === 0 || timeMs[at]! > timeMs[at - 1]!);
  return {
    ...series,
    timeMs: Float64Array.from(kept, (at) => timeMs[at]!),
    value: Float64Array.from(kept, (at) => series.value[at]!),
  };
}

/** Whether no shift of some days moves a sample out of the known years. */
function isFarFromEdges({ timeMs }: Series): boolean {
  return timeMs.every((t) => Math.abs(t) < 10_000_000_000_000);
}

describe('Shift', () => {
  test('forward and then backward by a duration is the identity on whole milliseconds', () => {
    const shift = fc.constantFrom('PT0S', 'PT1S', 'PT15M', 'P1D', 'P3DT4H', 'PT0.001S', 'P52W');
    const directions = fc.constantFrom(['forward', 'backward'], ['backward', 'forward']);
    const property = fc.property(
      risingArbitrary().map(inWholeMs).filter(isFarFromEdges),
      shift,
      directions,
      (series, by, ways) => {
        const steps = ways.map((direction) => ['Shift', { function: 'ShiftByTime', shift: by, direction }] as const);
        expectEqual(chainOf(steps, series), pairsOf(series));
      },
    );
    fc.assert(property, runs);
  });

  test('forward and then backward by windows of one length is the identity on whole milliseconds', () => {
    const property = fc.property(
      scaledArbitrary().chain(({ scale, series }) => fc.tuple(fc.constant(inWholeMs(series)), known(scale.intervals))),
      fc.nat(9),
      ([series, window], shift) => {
        fc.pre(isFarFromEdges(series));
        const common = { function: 'ShiftByWindow', shift, window };
        const steps = ['forward', 'backward'].map((direction) => ['Shift', { ...common, direction }] as const);
        expectEqual(chainOf(steps, series), pairsOf(series));
      },
    );
    fc.assert(property, runs);
  });

  test('forward and then backward by windows of a zone is the identity on the starts of windows', () => {
    const property = fc.property(
      scaledArbitrary().chain(({ scale, series }) =>
        fc.tuple(fc.constant(series), fc.constantFrom(...scale.zonedIntervals)),
      ),
      // Where a zone skipped a day, forward reaches the day after it, and backward does not come back.
      fc.constantFrom(...zoneNames.filter((name) => name !== 'Pacific/Apia')),
      fc.nat(5),
      ([series, interval], timezone, shift) => {
        fc.pre(isFarFromEdges(series));
        const { timeMs, value } = runStep('Aggregate', { function: 'Count', interval }, [series], { timezone })
          .series[0]!;
        const starts = { ...series, timeMs, value };
        const common = { function: 'ShiftByWindow', shift, window: interval };
        const steps = ['forward', 'backward'].map((direction) => ['Shift', { ...common, direction }] as const);
        expectEqual(chainOf(steps, starts, { timezone }), pairsOf(starts));
      },
    );
    fc.assert(property, runs);
  });
});

describe('Aggregate', () => {
  const windowed = scaledArbitrary().chain(({ scale, series }) =>
    fc.tuple(fc.constant(series), known(scale.intervals)),
  );

  test('First, Last, Min and Max are samples of their window, and each window with samples has one', () => {
    const property = fc.property(windowed, ([series, interval]) => {
      const lengthMs = LENGTH_MS[interval]!;
      const inWindow = new Map<number, Pair[]>();
      for (const pair of pairsOf(series)) {
        const start = windowStart(pair[0], lengthMs);
        inWindow.set(start, [...(inWindow.get(start) ?? []), pair]);
      }
      const values = (start: number): number[] => inWindow.get(start)!.map(([, x]) => x);
      const expected: Readonly<Record<string, (own: number[]) => number>> = {
        First: (own) => own[0]!,
        Last: (own) => own[own.length - 1]!,
        Min: (own) => own.reduce((a, b) => (b < a ? b : a)),
        Max: (own) => own.reduce((a, b) => (b > a ? b : a)),
      };
      for (const [name, of] of Object.entries(expected)) {
        const found = resultOf('Aggregate', { function: name, interval }, [series]);
        const starts = [...inWindow.keys()].filter((start) => start >= -62_135_596_800_000);
        expectEqual(
          found,
          starts.map((start) => [start, of(values(start))]),
        );
      }
    });
    fc.assert(property, runs);
  });

  test('Counts over all windows add up to the number of samples, in any zone and closed on either side', () => {
    const property = fc.property(
      scaledArbitrary().chain(({ scale, series }) =>
        fc.tuple(fc.constant(series), fc.constantFrom(...scale.zonedIntervals)),
      ),
      fc.constantFrom(...zoneNames),
      fc.constantFrom('left', 'right'),
      fc.constantFrom('omit', 'zero'),
      ([series, interval], timezone, closed, empty) => {
        fc.pre(isFarFromEdges(series));
        const counts = resultOf('Aggregate', { function: 'Count', interval, closed, empty }, [series], {
          timezone,
          maxOutputSamples: 1_000_000,
        });
        expectEqual(
          counts.reduce((sum, [, count]) => sum + count, 0),
          series.timeMs.length,
        );
      },
    );
    fc.assert(property, runs);
  });

  test('a window of equal values has that value as average, median and extremes, and no spread', () => {
    const property = fc.property(
      windowed,
      fc.double({ noNaN: true, min: -1e150, max: 1e150 }),
      ([series, interval], x) => {
        const equal = { ...series, value: series.value.map(() => x) };
        const names = ['Median', 'Min', 'Max', 'First', 'Last', 'Range', 'Delta', 'Variance', 'StandardDeviation'];
        for (const name of names) {
          const expected = /Range|Delta|Variance|Deviation/.test(name) ? 0 : x;
          const found = resultOf('Aggregate', { function: name, interval }, [equal]);
          expectEqual(
            found.every(([, y]) => y === expected),
            true,
          );
        }
      },
    );
    fc.assert(property, { numRuns: 500 });
  });
});

describe('Aggregate Pipeline', () => {
  const pair = fc.constantFrom(
    ['QuarterHourly', 'Hourly'],
    ['Hourly', 'Daily'],
    ['PT1M', 'Hourly'],
    ['PT1S', 'PT7S'],
    ['Daily', 'Monthly'],
  );

  test('the sum of sums is the sum, within one unit in the last place per part', () => {
    const property = fc.property(
      risingArbitrary(),
      pair,
      fc.constantFrom('left', 'right'),
      (series, [short, long], closed) => {
        fc.pre(isFarFromEdges(series));
        const pipeline = [
          { function: 'Sum', interval: short },
          { function: 'Sum', interval: long },
        ];
        const sums = resultOf('Aggregate', { function: 'Sum', interval: long, closed }, [series]);
        const sumsOfSums = resultOf('Aggregate Pipeline', { pipeline, closed }, [series]);
        const parts = resultOf('Aggregate', { function: 'Sum', interval: short, closed }, [series]);
        // Each part is rounded once, and the result once more.
        const largest = Math.max(0, ...parts.map(([, x]) => Math.abs(x)), ...sums.map(([, x]) => Math.abs(x)));
        const tolerance = (parts.length / 2 + 1) * ulpOf(largest);
        expectEqual(
          sumsOfSums.map(([t]) => t),
          sums.map(([t]) => t),
        );
        expectEqual(
          sums.every(([, x], i) => Math.abs(x - sumsOfSums[i]![1]) <= tolerance),
          true,
        );
      },
    );
    fc.assert(property, runs);
  });

  test('sums, counts of sums and extremes of whole numbers are exact over any stages', () => {
    const whole = fc.integer({ min: -1_000_000, max: 1_000_000 });
    const property = fc.property(
      risingArbitrary(whole),
      pair,
      fc.constantFrom('left', 'right'),
      (series, [short, long], closed) => {
        fc.pre(isFarFromEdges(series));
        for (const [first, second, name] of [
          ['Sum', 'Sum', 'Sum'],
          ['Count', 'Sum', 'Count'],
          ['Max', 'Max', 'Max'],
          ['Min', 'Min', 'Min'],
        ]) {
          const pipeline = [
            { function: first, interval: short },
            { function: second, interval: long },
          ];
          const direct = resultOf('Aggregate', { function: name, interval: long, closed }, [series]);
          expectEqual(resultOf('Aggregate Pipeline', { pipeline, closed }, [series]), direct);
        }
      },
    );
    fc.assert(property, runs);
  });
});

describe('Round', () => {
  const digits = fc.integer({ min: -15, max: 15 }).map((x) => x + 0);
  const mode = fc.constantFrom('halfaway' as const, 'halfeven' as const);
  /** Decimals that end in 5 one digit further, and their neighbours. */
  const tie = fc
    .tuple(fc.integer({ min: -99_999_999, max: 99_999_999 }), fc.integer({ min: -3, max: 12 }))
    .map(([k, at]) => Number(`${k}5e${-at}`));

  test('rounds as the decimal by hand, and a second time changes nothing', () => {
    const property = fc.property(
      risingArbitrary(fc.oneof(anyFinite, tie)),
      digits,
      mode,
      (series, roundtodigits, ties) => {
        const once = resultOf('Round', { roundtodigits, mode: ties }, [series]);
        const expected = pairsOf(series).map(([t, x]): Pair => [t, roundTo(x, roundtodigits, ties)]);
        expectEqual(
          once,
          expected.filter(([, x]) => Number.isFinite(x)),
        );
        expectEqual(
          once.some(([, x]) => Object.is(x, -0)),
          false,
        );
        const twice = chainOf(
          [
            ['Round', { roundtodigits, mode: ties }],
            ['Round', { roundtodigits, mode: ties }],
          ],
          series,
        );
        expectEqual(twice, once);
      },
    );
    fc.assert(property, { numRuns: 2000 });
  });
});

describe('HoldLastValue', () => {
  test('then Resample on the same grid equals HoldLastValue', () => {
    const property = fc.property(
      scaledArbitrary().chain(({ scale, series }) => fc.tuple(fc.constant(series), fixed(scale.zonedIntervals))),
      fc.constantFrom('step', 'linear'),
      ([series, interval], method) => {
        const frequency = interval.startsWith('P')
          ? interval
          : { QuarterHourly: 'PT15M', HalfHourly: 'PT30M', Hourly: 'PT1H', Daily: 'P1D' }[interval]!;
        const held = resultOf('HoldLastValue', { interval }, [series], { maxOutputSamples: 1_000_000 });
        expect(
          chainOf(
            [
              ['HoldLastValue', { interval }],
              ['Resample', { frequency, method }],
            ],
            series,
          ),
        ).toEqual(held);
      },
    );
    fc.assert(property, { numRuns: 500 });
  });

  test('gives at every tick the latest sample at or before it', () => {
    const property = fc.property(
      scaledArbitrary().chain(({ scale, series }) => fc.tuple(fc.constant(series), known(scale.zonedIntervals))),
      ([series, interval]) => {
        const lengthMs = LENGTH_MS[interval]!;
        const given = pairsOf(series);
        const held = resultOf('HoldLastValue', { interval }, [series]);
        expectEqual(
          held.every(([t]) => t % lengthMs === 0),
          true,
        );
        expectEqual(
          held.every(([t], i) => i === 0 || t === held[i - 1]![0] + lengthMs),
          true,
        );
        for (const [t, x] of held) expect(x).toBe(given.filter(([s]) => s <= t).at(-1)![1]);
      },
    );
    fc.assert(property, { numRuns: 500 });
  });
});

describe('a series with itself, in any alignment:', () => {
  const align = fc.constantFrom('inner', 'hold', 'linear', 'asof');
  const same = (values: (x: number) => number) => (series: Series) =>
    pairsOf(series)
      .map(([t, x]): Pair => [t, values(x)])
      .filter(([, y]) => Number.isFinite(y));
  const laws: Readonly<Record<string, (x: number) => number>> = {
    Sub: (x) => x - x,
    Div: (x) => (x === 0 ? Number.NaN : 1),
    Add: (x) => x * 2,
    Mul: (x) => x * x,
    Eq: () => 1,
    Ne: () => 0,
    Lte: () => 1,
    Gte: () => 1,
    Lt: () => 0,
    Gt: () => 0,
    And: (x) => (x === 0 ? 0 : 1),
    Or: (x) => (x === 0 ? 0 : 1),
  };

  test.each(Object.entries(laws))('%s equals that with a scalar', (operation, values) => {
    const property = fc.property(risingArbitrary(anyFinite), align, (series, mode) => {
      const { series: found, report } = runStep(operation, { align: mode }, [series, series]);
      const expected = same(values)(series);
      expectEqual(pairsOf(found[0]!), expected);
      expect(report.steps[0]!.dropped).toEqual({
        nonFinite: series.timeMs.length - expected.length,
        outOfRange: 0,
        unmatched: [0, 0],
        duplicate: 0,
        insufficient: 0,
      });
    });
    fc.assert(property, { numRuns: 400 });
  });

  test('Not of Not is And with itself', () => {
    const property = fc.property(risingArbitrary(anyFinite), (series) => {
      expect(
        chainOf(
          [
            ['Not', {}],
            ['Not', {}],
          ],
          series,
        ),
      ).toEqual(resultOf('And', {}, [series, series]));
    });
    fc.assert(property, { numRuns: 400 });
  });

  test('Abs of Abs is Abs', () => {
    const property = fc.property(risingArbitrary(), (series) => {
      const once = resultOf('Abs', {}, [series]);
      expect(
        chainOf(
          [
            ['Abs', {}],
            ['Abs', {}],
          ],
          series,
        ),
      ).toEqual(once);
      expectEqual(
        once,
        pairsOf(series).map(([t, x]) => [t, x < 0 ? -x : x === 0 ? 0 : x]),
      );
    });
    fc.assert(property, { numRuns: 400 });
  });
});
