import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openEvery, planEvery, runEvery } from '../../src/engine/every/index.js';
import {
  createPlan,
  InputError,
  openFleet,
  openStream,
  pipeline,
  restoreStream,
  runBatch,
  type Series,
} from '../../src/index.js';
import { verify, why } from '../../src/inspect/index.js';
import {
  expectSame,
  feedingArbitrary,
  runFed,
  runWithin,
  sceneArbitrary,
  seriesOf as sourcesOf,
} from '../laws/running.js';
import { chainPlan, pairsOf, seriesOf } from './streams.js';

const copyPlan = chainPlan([['Abs', {}]]);
const HOUR_MS = 3_600_000;

describe('a sample later than the allowed lateness', () => {
  test('is listed in `late`, counted, and does not change any result', () => {
    const arrival = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: -9, max: 9 })), {
      maxLength: 60,
    });
    const lateness = fc.constantFrom(['PT0S', 0], ['PT0.005S', 5], ['PT0.02S', 20]) as fc.Arbitrary<[string, number]>;
    const property = fc.property(
      arrival,
      lateness,
      fc.integer({ min: 1, max: 20 }),
      (samples, [allowedLateness, lateMs], count) => {
        const stream = openStream(chainPlan([['Aggregate', { function: 'Sum', interval: 'PT0.01S' }]]), {
          allowedLateness,
        });
        const parts: Series[] = [];
        const late: [number, number][] = [];
        for (let from = 0; from < samples.length; from += count) {
          const own = samples.slice(from, from + count);
          parts.push(
            ...stream.push([
              seriesOf(
                own.map(([t]) => t),
                own.map(([, x]) => x),
              ),
            ]),
          );
          for (const one of stream.late) late.push(...pairsOf(one));
        }
        const closed = stream.close();
        let greatest = Number.NEGATIVE_INFINITY;
        const [inTime, tooLate]: [[number, number][], [number, number][]] = [[], []];
        for (const [t, x] of samples) {
          (t < greatest - lateMs ? tooLate : inTime).push([t, x + 0]);
          greatest = Math.max(greatest, t);
        }
        expect(late).toEqual(tooLate);
        expect(closed.report.sources[0]!.dropped.late).toBe(tooLate.length);
        const batch = runBatch(chainPlan([['Aggregate', { function: 'Sum', interval: 'PT0.01S' }]]), [
          seriesOf(
            inTime.map(([t]) => t),
            inTime.map(([, x]) => x),
          ),
        ]);
        expect([...parts, ...closed.series].flatMap(pairsOf)).toEqual(pairsOf(batch.series[0]!));
      },
    );
    fc.assert(property, { numRuns: 2000 });
  });

  test('is late for its own source only', () => {
    const input = (timeseriesId: string) => ({ timeseriesId, metric: 'Raw' });
    const step = { operation: 'Add', input: [input('a'), input('b')], output: [{ timeseriesId: 'a', metric: 'Sum' }] };
    const plan = createPlan([{ metric: 'Sum', processingType: 'stream', operations: [step] }]);
    const stream = openStream(plan);
    stream.push([seriesOf([100, 200], [1, 2], 'a')]);
    expect(stream.push([seriesOf([100, 200], [10, 20], 'b')]).flatMap(pairsOf)).toEqual([[100, 11]]);
    expect(stream.late).toEqual([]);
    stream.push([seriesOf([150], [0], 'b')]);
    expect(stream.late).toEqual([seriesOf([150], [0], 'b')]);
    stream.push([seriesOf([300], [0], 'b')]);
    expect(stream.late).toEqual([]);
    expect(stream.close().series.flatMap(pairsOf)).toEqual([[200, 22]]);
  });

  test('is late once advance has passed its time', () => {
    const stream = openStream(copyPlan, { allowedLateness: 'PT1H' });
    stream.push([seriesOf([HOUR_MS], [1])]);
    expect(stream.advance(2 * HOUR_MS).flatMap(pairsOf)).toEqual([[HOUR_MS, 1]]);
    stream.push([seriesOf([HOUR_MS, 2 * HOUR_MS], [5, 2])]);
    expect(stream.late.flatMap(pairsOf)).toEqual([[HOUR_MS, 5]]);
    expect(stream.advance('1970-01-01T01:00:00Z')).toEqual([]);
    expect(stream.close().series.flatMap(pairsOf)).toEqual([[2 * HOUR_MS, 2]]);
  });
});

describe('a result comes', () => {
  test('with the first sample after it, with advance, or at close', () => {
    const stream = openStream(chainPlan([['Aggregate', { function: 'Sum', interval: 'Hourly' }]]));
    expect(stream.push([seriesOf([0, HOUR_MS - 1], [1, 2])])).toEqual([]);
    expect(stream.push([seriesOf([HOUR_MS], [4])]).flatMap(pairsOf)).toEqual([[0, 3]]);
    expect(stream.advance(2 * HOUR_MS).flatMap(pairsOf)).toEqual([[HOUR_MS, 4]]);
    stream.push([seriesOf([2 * HOUR_MS], [8])]);
    expect(stream.close().series.flatMap(pairsOf)).toEqual([[2 * HOUR_MS, 8]]);
  });

  test('from HoldLastValue up to the last advance, or up to `until`', () => {
    const plan = chainPlan([['HoldLastValue', { interval: 'Hourly' }]]);
    const stream = openStream(plan);
    stream.push([seriesOf([0], [5])]);
    expect(stream.advance(2 * HOUR_MS).flatMap(pairsOf)).toEqual([
      [0, 5],
      [HOUR_MS, 5],
    ]);
    expect(stream.close().series.flatMap(pairsOf)).toEqual([[2 * HOUR_MS, 5]]);
    const bounded = runBatch(plan, [seriesOf([0], [5])], { until: 2 * HOUR_MS });
    expect(bounded.series.flatMap(pairsOf)).toEqual([
      [0, 5],
      [HOUR_MS, 5],
    ]);
    expect(runBatch(plan, [seriesOf([0, 10], [5, 6])]).series.flatMap(pairsOf)).toEqual([[0, 5]]);
  });

  test('from HoldLastValue behind a filter up to the last sample kept, in one chunk or several', () => {
    const plan = chainPlan([
      ['Where', { valuerangelist: [{ lower: 0 }] }],
      ['HoldLastValue', { interval: 'Hourly' }],
    ]);
    const input = seriesOf([0, HOUR_MS, 9 * HOUR_MS], [1, 2, -3]);
    const stream = openStream(plan);
    const parts = [0, 1, 2].flatMap((at) => stream.push([seriesOf([input.timeMs[at]!], [input.value[at]!])]));
    const expected = [
      [0, 1],
      [HOUR_MS, 2],
    ];
    expect([...parts, ...stream.close().series].flatMap(pairsOf)).toEqual(expected);
    expect(runBatch(plan, [input]).series.flatMap(pairsOf)).toEqual(expected);
  });
});

describe('the engine', () => {
  test('never changes an input array or a result it has returned', () => {
    const property = fc.property(sceneArbitrary(4), feedingArbitrary, ({ request, samples, options }, feeding) => {
      const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
      const sources = sourcesOf(samples);
      const before = structuredClone(sources);
      const batch = runWithin(plan, sources, options);
      if (batch === undefined) return;
      const given = structuredClone(batch.series);
      runFed(
        plan,
        sources,
        { ...options, allowedLateness: 'P900D', maxOutputSamples: 1e8 },
        { ...feeding, turns: [{ count: 9, after: 'nothing' }] },
      );
      runWithin(plan, sources, options);
      expectSame(sources, before);
      expectSame(batch.series, given);
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('joins the parts of a series that are passed separately', () => {
    const property = fc.property(sceneArbitrary(3), fc.nat(40), ({ request, samples, options }, place) => {
      const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
      const whole = sourcesOf(samples);
      const parts = [
        [0, place],
        [place, undefined],
      ].flatMap(([from, to]) =>
        whole.map((one) => ({ ...one, timeMs: one.timeMs.slice(from, to), value: one.value.slice(from, to) })),
      );
      const [expected, found] = [runWithin(plan, whole, options), runWithin(plan, parts, options)];
      expectSame(found?.series ?? [], expected?.series ?? []);
      expect(found === undefined).toBe(expected === undefined);
    });
    fc.assert(property, { numRuns: 500 });
  });
});

function disposedResult(): Series {
  const run = runBatch(copyPlan, [seriesOf([1], [1])]);
  const series = { ...run.series[0]!, ...copyPlan.sources[0]! };
  run.dispose();
  return series;
}

describe('an invalid call', () => {
  const bad: readonly (readonly [title: string, series: unknown, code: string])[] = [
    ['columns of two lengths', { ...seriesOf([1, 2], [1]) }, 'input.columns'],
    ['a column that is not a Float64Array', { ...seriesOf([1], [1]), timeMs: [1] }, 'input.columns'],
    ['an id that is a number', { ...seriesOf([1], [1]), timeseriesId: 5 }, 'input.columns'],
    ['a result of a disposed run', disposedResult(), 'input.columns'],
    ['a time that is NaN', seriesOf([Number.NaN], [1]), 'input.time'],
    ['a time after the year 9999', seriesOf([0, 253_402_300_800_000], [1, 2]), 'input.time'],
    ['a time before the year 1', seriesOf([-62_135_596_800_001], [1]), 'input.time'],
  ];
  test.each(bad)('is refused as a whole: %s', (_title, series, code) => {
    const one = series as Series; // JavaScript callers may pass anything
    const refusal = expect.objectContaining({ code });
    expect(() => runBatch(copyPlan, [one])).toThrow(refusal);
    const stream = openStream(copyPlan);
    expect(() => stream.push([seriesOf([5], [5]), one])).toThrow(refusal);
    expect(stream.report().sources[0]!.samplesIn).toBe(0);
    expect(stream.push([seriesOf([3, 4], [1, 2])]).flatMap(pairsOf)).toEqual([[3, 1]]);
  });

  test('with a misspelt option does nothing', () => {
    const options = { timeZone: 'Europe/Zurich' } as never; // JavaScript callers may misspell it
    const refusal = expect.objectContaining({ code: 'option.value' });
    for (const call of [runBatch.bind(null, copyPlan, [seriesOf([1], [1])]), openStream.bind(null, copyPlan)]) {
      expect(() => call(options)).toThrow(refusal);
    }
  });

  test('with options that are no object, or a clock that is no function, names them', () => {
    const plan = planEvery(copyPlan.request);
    const input = [seriesOf([1], [1])];
    const calls: ((options: never) => unknown)[] = [
      (options) => runBatch(copyPlan, input, options),
      (options) => openStream(copyPlan, options),
      (options) => restoreStream(copyPlan, openStream(copyPlan).checkpoint(), options),
      (options) => openFleet(copyPlan, options),
      (options) => runEvery(plan, input, options),
      (options) => openEvery(plan, options),
      (options) => verify(plan, input, options),
      (options) => why(plan, input, { timeseriesId: 'in', metric: 'Result' }, 1, options),
    ];
    for (const call of calls) {
      // JavaScript callers may pass anything
      expect(() => call(null as never)).toThrow(/^options: expected timezone, from, .*, received null$/);
      expect(() => call('PT5M' as never)).toThrow(/^options: expected timezone, from, .*, received "PT5M"$/);
      expect(() => call({ timeZone: 'UTC' } as never)).toThrow(/^options: expected timezone, .*, received timeZone$/);
      expect(() => call({ timezone: null } as never)).toThrow(/^timezone: expected an IANA .*, received null$/);
      expect(() => call({ clock: 5 } as never)).toThrow(/^clock: expected a function, received 5$/);
      expect(() => call(null as never)).toThrow(InputError);
    }
  });

  test('of verify with a warmup is refused, as streams have none', () => {
    const options = { from: 0, warmup: 'all' } as never;
    expect(() => verify(copyPlan, [seriesOf([1], [1])], options)).toThrow(
      /^warmup: expected none, .*, received "all"$/,
    );
    const none = { warmup: undefined } as never;
    expect(verify(copyPlan, [seriesOf([1], [1])], none).different).toBeUndefined();
  });

  test('of a plan with a misspelt zone names it; options of its runs may be there', () => {
    for (const create of [createPlan, planEvery]) {
      const call = (options: unknown) => () => create(copyPlan.request as never, options as never);
      expect(call({ timeZone: 'Europe/Berlin' })).toThrow(/^options: expected timezone, .*, received timeZone$/);
      expect(call('Europe/Berlin')).toThrow(/^options: expected timezone, .*, received "Europe\/Berlin"$/);
      expect(call({ timezone: null })).toThrow(/^timezone: expected an IANA .*, received null$/);
      expect(call({ timezone: 'UTC', from: 0, allowedLateness: 'PT1H' })).not.toThrow();
    }
  });

  test('with an unknown series names that series and the known ones', () => {
    expect(() => runBatch(copyPlan, [seriesOf([1], [1], 'other')])).toThrow(
      /expected the series in\/Raw, received other\/Raw/,
    );
    expect(() => runBatch(copyPlan, [])).toThrow(InputError);
  });

  test('is one whose options make no sense', () => {
    for (const options of [
      { from: 5, until: 5 },
      { until: 'tomorrow' },
      { from: Number.NaN },
      { maxOutputSamples: -1 },
      { maxOutputSamples: Number.NaN },
      { allowedLateness: '5 minutes' },
      { timezone: 'Nowhere' },
      { from: '2024-03-31T02:30', timezone: 'Europe/Berlin' },
    ]) {
      expect(() => openStream(copyPlan, options)).toThrow(InputError);
    }
  });
});

test('results of two inputs are given when they are final, however their samples were cut', () => {
  const times = fc.uniqueArray(fc.integer({ min: 0, max: 90 }), { maxLength: 12 });
  const align = fc.constantFrom('inner', 'hold', 'asof', 'linear');
  fc.assert(
    fc.property(times, times, align, fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }), (a, b, align, turns) => {
      const plan = createPlan([
        pipeline('a')
          .sub(pipeline('b'), { align })
          .aggregate({ function: 'Average', interval: 'QuarterHourly' })
          .as('A'),
      ]);
      const minutes = [a, b].map((one) => one.sort((x, y) => x - y));
      const series = (index: number, some: readonly number[]): Series => {
        const timeMs = Float64Array.from(some, (minute) => minute * 60_000);
        return { timeseriesId: 'ab'[index]!, metric: 'Raw', timeMs, value: timeMs.map(Math.sin) };
      };
      const given = (parts: readonly Series[]) => parts.flatMap(pairsOf);
      const together = openStream(plan);
      const all = given(together.push(minutes.map((some, index) => series(index, some))));
      const single = openStream(plan);
      const oneByOne: Series[] = [];
      const at = [0, 0];
      for (const isSecond of turns) {
        const index = at[Number(isSecond)]! < minutes[Number(isSecond)]!.length ? Number(isSecond) : Number(!isSecond);
        if (at[index]! < minutes[index]!.length) {
          oneByOne.push(...single.push([series(index, [minutes[index]![at[index]!++]!])]));
        }
      }
      expect(given(oneByOne)).toEqual(all);
      expect(given(single.close().series)).toEqual(given(together.close().series));
    }),
    { numRuns: 2000 },
  );
});
