import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import { createPlan, InputError, type Instant, openStream, pipeline, runBatch } from '../../src/index.js';

const plan = createPlan([pipeline('a').abs().as('R')]);
const timeMs = Float64Array.of(0, 3_600_000, 7_200_000);
const series = [{ timeseriesId: 'a', metric: 'Raw', timeMs, value: Float64Array.of(1, 2, 3) }];
const hour = DateTime.fromMillis(3_600_000, { zone: 'Europe/Berlin' });

test.each<[string, Instant]>([
  ['ISO 8601 text', '1970-01-01T01:00:00Z'],
  ['epoch milliseconds', 3_600_000],
  ['a Date', new Date(3_600_000)],
  ['a DateTime of luxon', hour],
])('%s is accepted wherever an instant is', (_name, instant) => {
  expect([...runBatch(plan, series, { from: instant }).series[0]!.value]).toEqual([2, 3]);
  expect([...runBatch(plan, series, { until: instant }).series[0]!.value]).toEqual([1]);
  const stream = openStream(plan);
  stream.push(series.map((one) => ({ ...one, timeMs: timeMs.slice(0, 1), value: one.value.slice(0, 1) })));
  expect(stream.advance(instant)).toHaveLength(1);
});

test('a request takes instants as the text of its JSON', () => {
  const night = { timerangelist: [{ starttime: new Date(0), endtime: hour }] };
  const masked = createPlan([pipeline('a').mask(night).as('R')]);
  expect([...runBatch(masked, series).series[0]!.value]).toEqual([2, 3]);
  expect([...runBatch(masked, series, { timezone: 'Asia/Tokyo' }).series[0]!.value]).toEqual([2, 3]);
});

test.each<[unknown, string]>([
  [new Date(Number.NaN), 'received NaN'],
  [DateTime.invalid('test'), 'received NaN'],
  [{}, 'received an object'],
  [null, 'received null'],
])('%o is not an instant', (instant, message) => {
  const from = instant as Instant; // a program without types may pass this
  expect(() => runBatch(plan, series, { from })).toThrow(InputError);
  expect(() => runBatch(plan, series, { from })).toThrow(message);
});
