// Results belong to the caller, who may do with them whatever can be done with arrays.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createPlan,
  loadSeries,
  openFleet,
  openStream,
  type Plan,
  pipeline,
  type Run,
  runBatch,
  type Series,
} from '../../src/index.js';
import { expectSame, runWithin, sceneArbitrary, seriesOf as sourcesOf } from './running.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Large enough for buffers of disposed runs to be used again. */
const LENGTH = 40_000;
const MINUTE_MS = 60_000;

function seriesOf(timeseriesId: string, level: number, length = LENGTH): Series {
  const timeMs = Float64Array.from({ length }, (_, i) => i * MINUTE_MS);
  return { timeseriesId, metric: 'Raw', timeMs, value: timeMs.map((t) => level + Math.sin(t / 3e6)) };
}

const pair = { timeseriesId: 'b', metric: 'Raw' };
const plans: Readonly<Record<string, Plan>> = Object.fromEntries(
  Object.entries({
    'a map': pipeline('a').mul(2).as('R'),
    'two maps': pipeline('a').mul(2).add(pair).round(1).as('R'),
    'a filter': pipeline('a')
      .where({ valuerangelist: [{ lower: 0, upper: 10 }] })
      .as('R'),
    'a filter of a few': pipeline('a')
      .where({ valuerangelist: [{ lower: 10.9, upper: 11 }] })
      .as('R'),
    'a filter of nothing': pipeline('a')
      .where({ valuerangelist: [{ lower: 1e9 }] })
      .as('R'),
    shift: pipeline('a').shift({ function: 'ShiftByTime', shift: 'PT1H', direction: 'forward' }).as('R'),
    windows: pipeline('a').aggregate({ function: 'Average', interval: 'Hourly' }).as('R'),
    'an even grid': pipeline('a').resample({ frequency: 'PT30S' }).as('R'),
    'held values': pipeline('a').holdLastValue({ interval: 'PT10M' }).as('R'),
  }).map(([name, item]) => [name, createPlan([item])]),
);
const inputs = [seriesOf('a', 10), seriesOf('b', 1)];
const forms: Readonly<Record<string, (series: readonly Series[]) => readonly Series[]>> = {
  'arrays as they are': (series) => series,
  'arrays out of order': (series) =>
    series.map(({ timeMs, value, ...name }) => ({
      ...name,
      timeMs: timeMs.slice().reverse(),
      value: value.slice().reverse(),
    })),
  'loaded series': loadSeries,
};

const copiesOf = (series: readonly Series[]): Series[] =>
  series.map(({ timeMs, value, ...name }) => ({ ...name, timeMs: timeMs.slice(), value: value.slice() }));

const prototype = Object.getPrototypeOf(Float64Array.prototype) as object;
const read = (property: string, array: Float64Array): unknown =>
  Object.getOwnPropertyDescriptor(prototype, property)?.get?.call(array);

/** Fails unless the array is a plain one that has a buffer of just its length to itself. */
function expectOrdinary(array: Float64Array): void {
  expect(Object.getPrototypeOf(array)).toBe(Float64Array.prototype);
  expect(Reflect.ownKeys(array)).toHaveLength(array.length);
  const buffer = read('buffer', array) as ArrayBuffer;
  expect(Object.getPrototypeOf(buffer)).toBe(ArrayBuffer.prototype);
  expect(array.buffer).toBe(buffer);
  expect(buffer.byteLength).toBe(8 * array.length);
  expect(read('byteOffset', array)).toBe(0);
}

function expectOwn(series: readonly Series[], others: readonly Series[]): void {
  const arrays = series.flatMap(({ timeMs, value }) => [timeMs, value]);
  for (const array of arrays) expectOrdinary(array);
  const buffers = new Set(arrays.map(({ buffer }) => buffer));
  expect(buffers.size).toBe(arrays.length);
  for (const { timeMs, value } of others) {
    expect(buffers).not.toContain(timeMs.buffer);
    expect(buffers).not.toContain(value.buffer);
  }
}

describe.each(Object.entries(forms))('results over %s', (_form, formOf) => {
  const given = formOf(inputs);

  test.each(Object.entries(plans))('of %s are plain arrays with buffers of their own', (_name, plan) => {
    expectOwn(runBatch(plan, given).series, given);
  });

  test('do not change, whatever runs later', () => {
    const series = Object.values(plans).flatMap((plan) => runBatch(plan, given).series);
    const before = copiesOf(series);
    const others = [seriesOf('a', 20), seriesOf('b', 2)];
    for (const other of Object.values(plans)) {
      runBatch(other, formOf(others)).dispose();
      runBatch(other, given);
    }
    collect();
    for (const other of Object.values(plans)) runBatch(other, given).dispose();
    expectSame(series, before);
    const seen = series.map(({ timeMs, value, ...name }) => {
      const through = (array: Float64Array): Float64Array =>
        new Float64Array(read('buffer', array) as ArrayBuffer, 0, array.length);
      return { ...name, timeMs: through(timeMs), value: Float64Array.prototype.subarray.call(value, 0) };
    });
    expectSame(seen, before);
  });

  test.each(Object.entries(plans))('of %s can be changed and transferred', (_name, plan) => {
    const before = copiesOf(given);
    const expected = runBatch(plan, given);
    const changed = runBatch(plan, given);
    for (const { timeMs, value } of changed.series) {
      Object.preventExtensions(timeMs); // Node 26 seals no typed array
      for (let i = 0; i < timeMs.length; i++) timeMs[i]! /= 1000;
      structuredClone(value, { transfer: [value.buffer as ArrayBuffer] });
    }
    expectSame(given, before);
    expectSame(runBatch(plan, given).series, expected.series);
    changed.dispose();
  });

  test.each(Object.entries(plans))('of %s are empty once disposed, and the next run gives the same', (_n, plan) => {
    const expected = runBatch(plan, given).series;
    for (let round = 0; round < 4; round++) {
      const run = runBatch(plan, given);
      expectSame(run.series, expected);
      expectOwn(run.series, given);
      run.dispose();
      for (const { timeMs, value } of run.series) expect([timeMs.length, value.length]).toEqual([0, 0]);
      run.dispose();
    }
  });
});

test('the buffer of a disposed result serves one later run, not two', () => {
  const plan = plans['a map']!;
  const first = runBatch(plan, inputs);
  first.dispose();
  const [second, third] = [runBatch(plan, inputs), runBatch(plan, [seriesOf('a', 50), seriesOf('b', 5)])];
  expect(second.series[0]!.value.buffer).not.toBe(third.series[0]!.value.buffer);
  expect(second.series[0]!.value[0]).toBe(20);
});

test('a run declared with `using` is disposed at the end of its block', () => {
  let held: Run | undefined;
  {
    using run = runBatch(plans['a map']!, inputs);
    expect(run.series[0]!.value).toHaveLength(LENGTH);
    held = run;
  }
  expect(held.series[0]!.value).toHaveLength(0);
});

test('a run can be cloned, with its report', () => {
  const run = runBatch(plans.windows!, inputs);
  expect(structuredClone(run)).toEqual({ series: run.series, report: run.report });
});

describe('with `shareTimes`', () => {
  const shared = { shareTimes: true };

  test.each(Object.entries(forms))('a result over %s shares the times of its input', (form, formOf) => {
    const given = formOf(inputs);
    const run = runBatch(plans['two maps']!, given, shared);
    const { timeMs, value } = run.series[0]!;
    if (form !== 'arrays out of order') expect(timeMs).toBe(given[0]!.timeMs);
    expectOrdinary(value);
    expectSame(run.series, runBatch(plans['two maps']!, given).series);
    run.dispose();
    expect(given[0]!.timeMs).toHaveLength(LENGTH);
    expect(value).toHaveLength(0);
  });

  test.each(['a filter', 'a filter of a few', 'shift', 'windows'])('a result of %s has times of its own', (name) => {
    for (const formOf of Object.values(forms)) {
      const given = formOf(inputs);
      expectOwn(runBatch(plans[name]!, given, shared).series, given);
    }
  });

  test('results for part of the input have times of their own', () => {
    const bounds = { from: 1000 * MINUTE_MS, until: 2000 * MINUTE_MS };
    expectOwn(runBatch(plans['a map']!, inputs, { ...bounds, ...shared }).series, inputs);
  });

  test('the bits are the same', () => {
    const property = fc.property(sceneArbitrary(4), ({ request, samples, options }) => {
      const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
      const expected = runWithin(plan, sourcesOf(samples), options);
      const found = runWithin(plan, sourcesOf(samples), { ...options, ...shared });
      expectSame(found?.series ?? [], expected?.series ?? []);
    });
    fc.assert(property, { numRuns: 200 });
  });
});

test('results of any request, in batch and stream, are plain arrays with buffers of their own', () => {
  const property = fc.property(sceneArbitrary(4), ({ request, samples, options }) => {
    const plan = createPlan(request, options.timezone === undefined ? {} : { timezone: options.timezone });
    const sources = sourcesOf(samples);
    const batch = runWithin(plan, sources, options);
    if (batch === undefined) return;
    expectOwn(
      batch.series.filter(({ value }) => value.length > 0),
      sources,
    );
    const stream = openStream(plan, { ...options, maxOutputSamples: 1e8 });
    const given = [...stream.push(sources), ...stream.late, ...stream.preview(), ...stream.close().series];
    expectOwn(
      given.filter(({ value }) => value.length > 0),
      sources,
    );
  });
  fc.assert(property, { numRuns: 200 });
});

test('results of a fleet are plain arrays with buffers of their own', () => {
  const plan = createPlan([pipeline('any').aggregate({ function: 'Average', interval: 'Hourly' }).as('Mean')]);
  const fleet = openFleet(plan);
  const { timeMs, value } = seriesOf('a', 1, 3000);
  const member = Uint32Array.from(timeMs, (_, i) => fleet.join(i % 2 === 0 ? 'x' : 'y'));
  const given = [...fleet.push({ member, timeMs, value }), ...fleet.advance(1e9), ...fleet.close().series];
  expect(given.length).toBeGreaterThan(0);
  for (const one of given) {
    expectOrdinary(one.timeMs);
    expectOrdinary(one.value);
    expect(one.member.buffer.byteLength).toBe(4 * one.member.length);
  }
});
