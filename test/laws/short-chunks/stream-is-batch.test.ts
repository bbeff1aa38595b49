import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createPlan, type Series } from '../../../src/index.js';
import { buildRequest, recipeArbitrary } from '../requests.js';
import {
  countsOf,
  expectSame,
  type Feeding,
  feedingArbitrary,
  runFed,
  runWithin,
  sceneArbitrary,
  seriesOf,
} from '../running.js';
import { delayed, scales } from '../samples.js';

// Short chunks, so that even short series have several.
vi.mock('../../../src/core/chunk.js', () => ({ CHUNK_LENGTH: 64 }));

/** How late each sample comes, as a fraction of the allowed lateness. */
const delaysArbitrary = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

const latenessArbitrary = fc.constantFrom(
  ['PT0S', 0],
  ['PT1M', 60_000],
  ['PT2H', 7_200_000],
  ['P5D', 432_000_000],
) as fc.Arbitrary<readonly [string, number]>;

// HoldLastValue without `until` ticks up to the last advance, so a stream ends later than the batch.
function isEndOpen(request: readonly unknown[], options: { until?: unknown }): boolean {
  return options.until === undefined && JSON.stringify(request).includes('HoldLastValue');
}

function withoutAdvance(feeding: Feeding): Feeding {
  const turns = feeding.turns.map(({ count, after }) => {
    return { count, after: after.endsWith('restore') ? ('restore' as const) : ('nothing' as const) };
  });
  return { ...feeding, turns };
}

test('a stream gives the bits and counts of the batch, however it is cut, delayed, advanced and restored', () => {
  const inputs = fc.tuple(sceneArbitrary(6), feedingArbitrary, latenessArbitrary, delaysArbitrary);
  const property = fc.property(
    inputs,
    ([{ request, samples, options }, feeding, [allowedLateness, lateMs], delays]) => {
      const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
      const series = seriesOf(samples.map((own) => delayed(own, delays, lateMs)));
      const batch = runWithin(plan, series, options);
      if (batch === undefined) return;
      const fed = isEndOpen(request, options) ? withoutAdvance(feeding) : feeding;
      const stream = runFed(plan, series, { ...options, allowedLateness }, fed);
      expectSame(stream.series, batch.series);
      expect(countsOf(stream.report)).toEqual(countsOf(batch.report));
    },
  );
  fc.assert(property, { numRuns: 2000 });
});

/** A long series from a seed: a random walk with uneven steps, gaps and missing values. */
function longSeries(timeseriesId: string, seed: number, length: number): Series {
  let state = seed | 1;
  const random = (): number => {
    // xorshift32 (Marsaglia, "Xorshift RNGs", 2003)
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const timeMs = new Float64Array(length);
  const value = new Float64Array(length);
  let t = 1_711_800_000_000;
  let x = 20;
  for (let i = 0; i < length; i++) {
    t += random() < 0.002 ? 7_200_000 : 30_000 * Math.ceil(3 * random());
    x += random() - 0.5;
    timeMs[i] = t;
    value[i] = random() < 0.001 ? Number.NaN : x;
  }
  return { timeseriesId, metric: 'Raw', timeMs, value };
}

test('the same holds for series of many chunks, pushed whole or in pieces of any length', () => {
  const length = fc.constantFrom(32, 63, 64, 65, 80, 1000, 3000);
  const cut = fc.constantFrom(16, 64, 65, 48, 160, 1600);
  const recipes = fc.array(recipeArbitrary(scales[2]!, 1_711_800_000_000), { minLength: 1, maxLength: 5 });
  const property = fc.property(
    fc.tuple(length, length),
    fc.nat(),
    recipes,
    cut,
    ([first, second], seed, steps, count) => {
      const plan = createPlan(buildRequest(steps, 2));
      const series = [longSeries('s0', seed, first), longSeries('s1', seed % 7 === 0 ? seed : seed + 2, second)];
      const batch = runWithin(plan, series, { until: '2024-04-20T00:00:00Z', maxOutputSamples: 50_000 });
      if (batch === undefined) return;
      const options = { until: '2024-04-20T00:00:00Z' };
      const stream = runFed(plan, series, options, {
        turns: [{ count, after: 'advance and restore' }],
        mixing: 'by time',
      });
      expectSame(stream.series, batch.series);
      expect(countsOf(stream.report)).toEqual(countsOf(batch.report));
    },
  );
  fc.assert(property, { numRuns: 250 });
});

test('a batch gives the same with and without a frequency', () => {
  const property = fc.property(sceneArbitrary(5), fc.constantFrom('PT15M', 'PT1H', 'PT24H'), (scene, frequency) => {
    const { request, samples, options } = scene;
    const series = seriesOf(samples);
    const [often, once] = [{ frequency }, { frequency: undefined }].map((run) => {
      const items = (request as Readonly<Record<string, unknown>>[]).map((item) => ({ ...item, ...run }));
      return runWithin(createPlan(items), series, { ...options, maxOutputSamples: 100_000 });
    });
    expectSame(often?.series ?? [], once?.series ?? []);
    expect(often === undefined).toBe(once === undefined);
  });
  fc.assert(property, { numRuns: 600 });
});

test('a batch does not depend on the order of arrival, if no time comes twice', () => {
  const property = fc.property(sceneArbitrary(5), fc.nat(), ({ request, samples, options }, seed) => {
    const once = samples.map(({ timeMs, value }) => {
      const kept = [...timeMs.keys()].filter((at) => timeMs.indexOf(timeMs[at]!) === at);
      return { timeMs: kept.map((at) => timeMs[at]!), value: kept.map((at) => value[at]!) };
    });
    const shuffled = once.map(({ timeMs, value }) => {
      const order = [...timeMs.keys()].sort((a, b) => ((a * 7919 + seed) % 101) - ((b * 7919 + seed) % 101));
      return { timeMs: order.map((at) => timeMs[at]!), value: order.map((at) => value[at]!) };
    });
    const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
    const inOrder = runWithin(plan, seriesOf(once), options);
    const inAnyOrder = runWithin(plan, seriesOf(shuffled), options);
    expectSame(inAnyOrder?.series ?? [], inOrder?.series ?? []);
    expect(inAnyOrder && countsOf(inAnyOrder.report)).toEqual(inOrder && countsOf(inOrder.report));
  });
  fc.assert(property, { numRuns: 600 });
});
