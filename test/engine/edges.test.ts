import { describe, expect, test } from 'vitest';
import { createPlan, openStream, type RunOptions, runBatch, type Series } from '../../src/index.js';
import { pairsOf, resultOf } from '../laws/steps.js';
import { chainPlan, seriesOf } from './streams.js';

/** Edge cases found by tests from outside. */

const at = (text: string): number => Date.parse(`${text}${text.includes('T') ? '' : 'T00:00'}Z`);

function series(...samples: readonly (readonly [time: string | number, value: number])[]): Series {
  const timeMs = Float64Array.from(samples, ([time]) => (typeof time === 'number' ? time : at(time)));
  return { timeseriesId: 's', metric: 'Raw', timeMs, value: Float64Array.from(samples, ([, value]) => value) };
}

function streamOf(operation: string, parameters: object, options?: RunOptions) {
  const step = { operation, parameters, input: [{ timeseriesId: 's', metric: 'Raw' }] };
  const operations = [{ ...step, output: [{ timeseriesId: 'out', metric: 'Step' }] }];
  return openStream(createPlan([{ metric: 'R', processingType: 'stream', operations }], options), options);
}

describe('results come as soon as they are final', () => {
  const given = [series(['2024-03-01T00:00', 1]), series(['2024-03-01T00:40', 2]), series(['2024-03-01T01:00', 3])];
  const cases: readonly (readonly [string, object, readonly (readonly number[])[]])[] = [
    ['HoldLastValue', { interval: 'QuarterHourly' }, [[], [1, 1, 1], [2]]],
    ['Resample', { frequency: 'PT15M' }, [[], [1, 1, 1], [2]]],
    ['Aggregate', { function: 'Count', interval: 'PT10M', empty: 'zero' }, [[], [1, 0, 0, 0], [1, 0]]],
    ['Aggregate', { function: 'TimeWeightedAverage', interval: 'PT10M' }, [[], [1, 1, 1, 1], [2, 2]]],
  ];
  test.each(cases)('%s %o', (operation, parameters, expected) => {
    const stream = streamOf(operation, parameters);
    expect(given.map((one) => stream.push([one]).flatMap(({ value }) => [...value]))).toEqual(expected);
  });
});

describe('grids are exact to the nanosecond', () => {
  const frames = Array.from({ length: 40 }, (_, k) => Number(`${1_704_067_200_000_0n + 333n * BigInt(k)}e-1`));

  test('a grid of 33.3 ms keeps the samples on its points', () => {
    const offset = (1_704_067_200_000_0n / 333n + 1n) * 333n;
    const times = frames.map((_, k) => Number(`${offset + 333n * BigInt(k)}e-1`));
    const input = series(...times.map((t, k) => [t, k] as const));
    expect(resultOf('Resample', { frequency: 'PT0.0333S' }, [input])).toEqual(pairsOf(input));
    const counts = resultOf('Aggregate', { function: 'Count', interval: 'PT0.0333S' }, [input]);
    expect(counts).toEqual(times.map((t) => [t, 1]));
  });

  test('durations below a millisecond divide exactly', () => {
    const input = series([0, 1], [0.1, 2], [0.3, 3]);
    const zoned = { function: 'Sum', interval: 'PT0.0001S', timezone: 'Europe/Berlin' };
    expect(resultOf('Aggregate', zoned, [input])).toEqual(pairsOf(input));
    const pipeline = ['PT0.0001S', 'PT0.0003S'].map((interval) => ({ function: 'Sum', interval }));
    expect(resultOf('Aggregate Pipeline', { pipeline }, [input])).toEqual([
      [0, 3],
      [0.3, 3],
    ]);
  });
});

test('the time -0 becomes 0, in batch and stream', () => {
  const input = series([-5, 1], [-0, 2], [5, 3]);
  for (const { timeMs } of [
    runBatch(createPlan([absOf()]), [input]).series[0]!,
    ...[streamOf('Abs', {})].map((stream) => {
      const first = stream.push([input])[0]!;
      return { timeMs: Float64Array.from([...first.timeMs, ...stream.close().series[0]!.timeMs]) };
    }),
  ]) {
    expect(Object.is(timeMs[1], 0)).toBe(true);
  }
});

function absOf() {
  const reference = { timeseriesId: 's', metric: 'Raw' };
  const step = { operation: 'Abs', input: [reference], output: [{ ...reference, metric: 'R' }], parameters: {} };
  return { metric: 'R', processingType: 'batch', operations: [step] } as const;
}

test('the one tick of a 25-hour day is within an output limit of one', () => {
  const input = series(['2024-10-26T22:30', 1], ['2024-10-27T23:30', 2]);
  const parameters = { interval: 'Daily', timezone: 'Europe/Berlin' };
  expect(resultOf('HoldLastValue', parameters, [input], { maxOutputSamples: 1 })).toEqual([
    [at('2024-10-27T23:00'), 1],
  ]);
});

test('a tolerance is compared with the exact difference', () => {
  const input = series(['2024-01-01', 1e16 + 2], ['2024-01-02', 1e16]);
  const found = resultOf('Eq', { scalar: 1, tolerance: 1e16 }, [input]);
  expect(found.map(([, x]) => x)).toEqual([0, 1]);
  expect(resultOf('Eq', { scalar: -0.5, tolerance: 1e16 }, [input]).map(([, x]) => x)).toEqual([0, 0]);
});

test('Where keeps everything if its range has no bounds', () => {
  const input = series(['2024-01-01', 1]);
  expect(resultOf('Where', { valuerangelist: [{}] }, [input])).toEqual(pairsOf(input));
  expect(resultOf('Mask', { timerangelist: [{}] }, [input])).toEqual([]);
});

describe('a shift by calendar windows keeps the local time of day', () => {
  const moved = (window: string, shift: number, direction: string, timezone: string, times: readonly string[]) =>
    resultOf('Shift', { function: 'ShiftByWindow', window, shift, direction, timezone }, [
      series(...times.map((time, k) => [time, k] as const)),
    ]).map(([t, x]) => [new Date(t).toISOString().slice(0, 16), x]);

  test('and the day of the month, or the last one of a shorter month', () => {
    expect(moved('Monthly', 1, 'forward', 'UTC', ['2024-01-29T18:00', '2024-01-30T06:00', '2024-01-31T12:00'])).toEqual(
      [
        ['2024-02-29T06:00', 1],
        ['2024-02-29T12:00', 2],
        ['2024-02-29T18:00', 0],
      ],
    );
  });

  test('across clock changes', () => {
    const eight = ['2024-03-30T07:00', '2024-03-31T06:00', '2024-04-01T06:00'];
    expect(moved('Daily', 1, 'backward', 'Europe/Berlin', eight).map(([time]) => time)).toEqual([
      '2024-03-29T07:00',
      '2024-03-30T07:00',
      '2024-03-31T06:00',
    ]);
  });

  test('for shifts of a million days', () => {
    const [[time]] = moved('Daily', 1_200_000, 'forward', 'Europe/Berlin', ['2024-03-30T07:00']) as [[string]];
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
    expect(clock.format(at(time))).toBe('08:00');
  });
});

test('windows of a zone start where the clock shows a multiple of their length', () => {
  const hours = Array.from({ length: 25 }, (_, h) => [at('2024-10-26T22:00') + h * 3_600_000, 1] as const);
  const counts = resultOf('Aggregate', { function: 'Count', interval: 'PT6H', timezone: 'Europe/Berlin' }, [
    series(...hours),
  ]);
  expect(counts.map(([, count]) => count)).toEqual([7, 6, 6, 6]);
});

test('an exponential average of the largest doubles does not overflow', () => {
  const stream = streamOf('ExponentialAverage', { halflife: 'PT30M' });
  const results = stream.push([series(['2024-03-01T00:00', -1e308], ['2024-03-01T10:00', 1e308])]);
  const weight = 1 + 2 ** -20;
  const last = stream.close().series;
  expect([...results, ...last].flatMap(({ value }) => [...value])).toEqual([
    -1e308,
    -1e308 + 1e308 / weight + 1e308 / weight,
  ]);
});

test('a window of one size for each sample has those less old, at fractions of milliseconds too', () => {
  const at = [28.8, 31.2, 32.4, 33.6, 36].map((ms) => 1_709_251_200_000 + ms);
  const input = seriesOf(at, [1, 2, 4, 8, 16]);
  const window = { type: 'sliding', size: 'PT0.0012S' };
  const [sliding, moving] = [
    chainPlan([['Aggregate', { function: 'Average', window }]]),
    chainPlan([['MovingAverage', { window: 'PT0.0012S' }]]),
  ].map((plan) => [...runBatch(plan, [input]).series[0]!.value]);
  // At 32.4 the sample before is 1.19995 ms old, as doubles have it.
  expect(sliding![2]).toBe(3);
  expect(sliding).toEqual(moving);
});
