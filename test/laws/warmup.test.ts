import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runEvery } from '../../src/engine/every/index.js';
import {
  createPlan,
  InputError,
  OutputLimitError,
  openStream,
  pipeline,
  runBatch,
  type Series,
} from '../../src/index.js';
import { operations } from '../../src/inspect/index.js';
import { joinParts } from '../conformance/conformance.js';
import { expectSame, runWithin, type Scene, sceneArbitrary, seriesOf } from './running.js';
import { risingArbitrary } from './steps.js';

/** A run in parts, each warmed up with the samples before it, equals one run. */

function before(series: readonly Series[], untilMs: number): Series[] {
  return series.map((one) => {
    const kept = [...one.timeMs.keys()]
      .filter((i) => one.timeMs[i]! < untilMs)
      .sort((a, b) => one.timeMs[a]! - one.timeMs[b]!);
    return {
      ...one,
      timeMs: Float64Array.from(kept, (i) => one.timeMs[i]!),
      value: Float64Array.from(kept, (i) => one.value[i]!),
    };
  });
}

test('a stream up to an instant and a run from there on, warmed up with all samples before it, equal one run', () => {
  const property = fc.property(
    sceneArbitrary(5),
    fc.integer({ min: 0, max: 40 }),
    ({ request, samples, options }, at) => {
      const { from: _from, ...own } = options;
      // HoldLastValue without `until` ticks up to the last advance.
      fc.pre(own.until !== undefined || !JSON.stringify(request).includes('HoldLastValue'));
      const series = seriesOf(samples);
      const times = series.flatMap(({ timeMs }) => [...timeMs]).sort((a, b) => a - b);
      const cutMs = times[Math.min(at, times.length - 1)];
      fc.pre(cutMs !== undefined && (own.until === undefined || cutMs < Number(own.until)));
      const plan = createPlan(request, own.timezone === undefined ? {} : { timezone: own.timezone });
      const whole = runWithin(plan, series, own);
      if (whole === undefined) return;
      const stream = openStream(plan, own);
      const parts: Series[][] = [];
      try {
        parts.push(stream.push(before(series, cutMs!)), stream.advance(cutMs!));
      } catch (error) {
        if (error instanceof OutputLimitError) return;
        throw error;
      }
      const rest = runBatch(plan, series, { ...own, from: cutMs!, warmup: 'all' });
      const given = [...parts.flat(), ...rest.series];
      expectSame(
        plan.items.map(({ output }) => joinParts(output, given)),
        whole.series,
      );
    },
  );
  fc.assert(property, { numRuns: 250 });
});

const DAY_MS = 86_400_000;

// Where two parts have a result for one time, the later part counts.
function joined(parts: readonly Series[]): Map<number, number> {
  return new Map(parts.flatMap(({ timeMs, value }) => [...timeMs].map((t, i): [number, number] => [t, value[i]!])));
}

const s = (): ReturnType<typeof pipeline> => pipeline('s');
const hourly = { interval: 'Hourly' } as const;
const ahead = { function: 'ShiftByTime', shift: 'P2D', direction: 'forward' } as const;
const sliding = { window: { type: 'sliding', size: 'P2D', every: 'PT6H' } } as const;
const plans = [
  s().aggregate({ function: 'TimeWeightedAverage', ...hourly }),
  s().aggregate({ function: 'Integral', method: 'linear', maxgap: 'PT9H', ...hourly }),
  s().aggregate({ function: 'Increase', interval: 'Daily', label: 'end' }),
  s().aggregate({ function: 'Median', ...sliding }),
  s().aggregate({ function: 'Sum', window: { type: 'running', since: 'Weekly' } }),
  s().aggregate({ function: 'Count', window: { type: 'session', gap: 'PT5H' } }),
  s().aggregate({ function: 'Transitions', lower: 0, ...hourly, empty: 'hold' }),
  s().difference().movingAverage('PT40H'),
  s().exponentialAverage('PT3H'),
  s().cumulativeSum(),
  s().resample({ frequency: 'PT25M', method: 'linear' }),
  s().hampel({ samples: 4 }),
  s().hysteresis({ on: 2, off: -2 }).delay({ on: 'PT2H' }),
  // Their inputs are ahead of the run.
  s().shift(ahead).holdLastValue({ interval: 'Hourly', maxhold: 'P1D' }),
  s().hysteresis({ on: 2, off: -2 }).shift(ahead).delay({ on: 'PT5H', off: 'PT3H' }),
  s()
    .shift(ahead)
    .schedule({ hours: [{ start: '08:00', end: '16:00' }] }),
  s().aggregate({ function: 'Sum', interval: 'Daily', label: 'end' }).holdLastValue({ interval: 'PT6H' }),
  s().aggregate({ function: 'Max', interval: 'Daily', label: 'end' }).delay({ on: 'PT1H' }),
];

describe('one run a day, warmed up, gives one run over all days', () => {
  test.each(plans.map((plan, index) => [index, plan] as const))('plan %i', (_index, built) => {
    const plan = createPlan([built.as('Out')]);
    const property = fc.property(risingArbitrary(), ({ timeMs, value }) => {
      // The days around a week; some have gaps, some have no samples.
      const startMs = Date.UTC(2024, 2, 28);
      const firstMs = timeMs[0] ?? 0;
      const spanMs = Math.max(1, (timeMs.at(-1) ?? 0) - firstMs);
      const scaled = [
        ...new Set([...timeMs].map((t) => Math.round(startMs + ((t - firstMs) / spanMs) * 6.9 * DAY_MS))),
      ];
      const series = {
        timeseriesId: 's',
        metric: 'Raw',
        timeMs: Float64Array.from(scaled),
        value: value.slice(0, scaled.length),
      };
      const until = startMs + 7 * DAY_MS;
      const whole = runBatch(plan, [series], { from: startMs, until }).series;
      const parts = Array.from({ length: 7 }, (_, day) => {
        const from = startMs + day * DAY_MS;
        return runBatch(plan, [series], { from, until: from + DAY_MS, warmup: `P${day}D` }).series;
      });
      const rows = [...joined(parts.flat())].sort(([a], [b]) => a - b);
      expect(rows).toEqual([...joined(whole)]);
    });
    fc.assert(property, { numRuns: 10 });
  });
});

/**
 * Runs a scene as a whole and in parts, each warmed up with all samples since the start of the first. Undefined where
 * there is nothing to cut, or a step would exceed the scene's limit.
 */
function cutScene({ request, samples, options }: Scene, cuts: readonly Cut[]) {
  const series = seriesOf(samples);
  const times = series.flatMap(({ timeMs }) => [...timeMs]).sort((a, b) => a - b);
  if (times.length === 0) return undefined;
  const fromMs = Number(options.from ?? times[0]);
  const untilMs = Number(options.until ?? times.at(-1)! + 1);
  const cutsMs = cuts.map(({ at, by }) => by(times[at % times.length]!)).filter((t) => t > fromMs && t < untilMs);
  if (cutsMs.length === 0) return undefined;
  const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
  const whole = runWithin(plan, series, { ...options, from: fromMs, until: untilMs });
  if (whole === undefined) return undefined;
  const since = series.map((one) => after(one, fromMs));
  const bounds = [fromMs, ...[...new Set(cutsMs)].sort((a, b) => a - b), untilMs];
  const parts: (readonly Series[])[] = [];
  for (const [index, until] of bounds.slice(1).entries()) {
    const warmup = index === 0 ? {} : { warmup: 'all' };
    const part = runWithin(plan, since, { ...options, from: bounds[index]!, until, ...warmup });
    if (part === undefined) return undefined;
    parts.push(part.series);
  }
  const inParts = whole.series.map((_, item) => joined(parts.map((part) => part[item]!)));
  return { whole: whole.series.map((one) => joined([one])), inParts };
}

interface Cut {
  readonly at: number;
  readonly by: (timeMs: number) => number;
}

const cutArbitrary: fc.Arbitrary<Cut> = fc.record({
  at: fc.nat(),
  by: fc.constantFrom<((t: number) => number)[]>(
    (t) => t,
    (t) => t + 0.5,
    (t) => Math.floor(t / 3_600_000) * 3_600_000,
    (t) => Math.floor(t / DAY_MS) * DAY_MS,
  ),
});
const cutsArbitrary = fc.array(cutArbitrary, { minLength: 1, maxLength: 3 });

function after(one: Series, fromMs: number): Series {
  const kept = [...one.timeMs.keys()].filter((i) => one.timeMs[i]! >= fromMs);
  const timeMs = Float64Array.from(kept, (i) => one.timeMs[i]!);
  return { ...one, timeMs, value: Float64Array.from(kept, (i) => one.value[i]!) };
}

test('the parts of any request have every result of one run', () => {
  let count = 0;
  const property = fc.property(sceneArbitrary(4), cutsArbitrary, (scene, cuts) => {
    const found = cutScene(scene, cuts);
    if (found === undefined) return;
    count++;
    for (const [item, whole] of found.whole.entries()) {
      const inParts = found.inParts[item]!;
      expect([...whole].filter(([t, x]) => !Object.is(inParts.get(t), x))).toEqual([]);
    }
  });
  fc.assert(property, { numRuns: 250 });
  expect(count).toBeGreaterThan(150);
});

// A step that is one of these may have given a sample to a part that it does not give to one run.
const choosing = /SwingingDoor|Downsample|"type":"session".*"label":"end"|"action":"remove"/;
// None so large that the result for a whole window overflows, but not for a part of it.
const moderate = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((x) => x + 0),
);

test('a step that does not choose among its samples gives in parts what it gives in one run', () => {
  const counts = new Map([...operations.keys()].map((name) => [name, 0]));
  const property = fc.property(sceneArbitrary(1, moderate), cutsArbitrary, (scene, cuts) => {
    fc.pre(!choosing.test(JSON.stringify(scene.request)));
    const found = cutScene(scene, cuts);
    if (found === undefined) return;
    const { operation } = createPlan(scene.request).steps[0]!;
    counts.set(operation, counts.get(operation)! + 1);
    expect(found.inParts.map((rows) => [...rows].sort(([a], [b]) => a - b))).toEqual(
      found.whole.map((rows) => [...rows]),
    );
  });
  fc.assert(property, { numRuns: 2500 });
  const untried = [...counts].flatMap(([name, count]) => (count === 0 ? [name] : []));
  expect(untried).toEqual(['SwingingDoor', 'Downsample']);
});

test('members of a pattern warm up as they would alone', () => {
  const plan = createPlan([s().difference().as('Out')]);
  const timeMs = Float64Array.of(0, 1000, 2000, 3000);
  const one = { timeseriesId: 's', metric: 'Raw', timeMs, value: Float64Array.of(1, 3, 6, 10) };
  const run = runEvery(plan, [one], { from: 2000, warmup: 'PT1S' });
  expect([[...run.series[0]!.timeMs], [...run.series[0]!.value]]).toEqual([
    [2000, 3000],
    [3, 4],
  ]);
  expect(run.report.sources[0]).toMatchObject({ samplesIn: 4, samplesOut: 3, dropped: { outOfRun: 1 } });
});

test.each([[{ warmup: 'P1D' }], [{ warmup: '1d', from: 0 }]])('%j is refused', (options) => {
  const plan = createPlan([s().difference().as('Out')]);
  const empty = { timeseriesId: 's', metric: 'Raw', timeMs: new Float64Array(0), value: new Float64Array(0) };
  expect(() => runBatch(plan, [empty], options)).toThrow(InputError);
});
