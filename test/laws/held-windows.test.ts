import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPlan, runBatch } from '../../src/index.js';
import { runOracle } from '../oracle/index.js';
import { countsOf, expectSame, feedingArbitrary, runFed } from './running.js';
import { toSeries } from './samples.js';

/** The time-weighted functions over enough samples for windows to be computed many at once. */

const gap = fc.oneof(
  { weight: 60, arbitrary: fc.integer({ min: 1, max: 40 }).map((seconds) => 1000 * seconds) },
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 40_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(0.25, 12.345, 600_000, 80_000_000) },
);
const decimal = fc.integer({ min: -9999, max: 9999 }).map((thousandths) => thousandths / 1000);
const wild = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 5e-324, -1e-300, 1e17, 1.7e308, -1.7e308),
);
const ofMagnitude = fc.constantFrom(decimal, decimal, fc.oneof({ weight: 30, arbitrary: decimal }, wild), wild);
const samples = ofMagnitude.chain((value) =>
  fc.array(fc.tuple(gap, value), { minLength: 65, maxLength: 300, size: 'max' }),
);
const startMs = fc.constantFrom(0, -1_000_000, Date.parse('2024-03-31T00:30Z'));

const parameters = fc.record({
  function: fc.constantFrom('TimeWeightedAverage', 'TimeWeightedAverage', 'Integral', 'TimeInState', 'Coverage'),
  interval: fc.constantFrom('PT10S', 'PT1M', 'PT1M', 'PT7M', 'PT0.5S', 'QuarterHourly', 'P30D'),
  label: fc.constantFrom('start', 'end'),
  empty: fc.constantFrom('omit', 'zero', 'hold'),
  maxhold: fc.constantFrom(undefined, undefined, 'PT10S', 'PT30S', 'PT12.3456S'),
  timezone: fc.constantFrom(undefined, undefined, undefined, 'Europe/Berlin'),
});

const between = fc.constantFrom<object>(
  {},
  {},
  { maxgap: 'PT30S' },
  { method: 'linear' },
  { method: 'linear', maxgap: 'PT20S' },
);

function requestOf(
  drawn: { function: string; interval: string; timezone: string | undefined; maxhold: string | undefined },
  how: object,
) {
  const isLine = 'method' in how && !['TimeWeightedAverage', 'Integral'].includes(drawn.function);
  const { maxhold, timezone, ...rest } = { ...drawn, ...(isLine ? {} : how) };
  const given = {
    ...rest,
    ...(maxhold === undefined || 'method' in rest ? {} : { maxhold }),
    ...(timezone === undefined || ['PT7M', 'P30D'].includes(drawn.interval) ? {} : { timezone }),
    ...(drawn.function === 'TimeInState' ? { lower: 0 } : {}),
    ...(drawn.function === 'Integral' ? { unit: 'PT1M' } : {}),
    ...(drawn.function === 'Coverage' && maxhold === undefined && !('maxgap' in rest) ? { maxhold: 'PT1H' } : {}),
  };
  const output = [{ timeseriesId: 's0', metric: 'Held' }];
  const operations = [
    { operation: 'Aggregate', input: [{ timeseriesId: 's0', metric: 'Raw' }], output, parameters: given },
  ];
  return [{ metric: 'Held', processingType: 'Stream', operations }];
}

test('the time-weighted functions over many windows give the bits of the oracle, however the input is cut', () => {
  const property = fc.property(
    samples,
    startMs,
    parameters,
    between,
    feedingArbitrary,
    (drawn, start, own, how, feeding) => {
      let t = start;
      const pairs = drawn.map(([gapMs, x]): [number, number] => {
        t += gapMs;
        return [t, x];
      });
      const request = requestOf(own, how);
      const timeMs = pairs.map(([ms]) => ms);
      const series = toSeries('s0', { timeMs, value: pairs.map(([, x]) => x) });
      // Long gaps have many windows, which the oracle goes through one by one.
      fc.pre(timeMs.at(-1)! - timeMs[0]! < 4_000_000 || own.interval === 'P30D');
      const plan = createPlan(request);
      const batch = runBatch(plan, [series]);
      const [expected] = runOracle(request, [{ timeseriesId: 's0', metric: 'Raw', samples: pairs }], {}).series;
      expectSame(batch.series, [
        {
          ...batch.series[0]!,
          timeMs: Float64Array.from(expected!.samples, ([ms]) => ms),
          value: Float64Array.from(expected!.samples, ([, x]) => x!),
        },
      ]);
      const fed = runFed(plan, [series], {}, feeding);
      expectSame(fed.series, batch.series);
      expect(countsOf(fed.report)).toEqual(countsOf(batch.report));
    },
  );
  fc.assert(property, { numRuns: 200 });
});
