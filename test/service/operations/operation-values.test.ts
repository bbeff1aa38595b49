import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSame } from '../../laws/running.js';
import { item, minutes, openPosting, type Posting, START_MS } from './posted.js';

// Interface 4.3: every operation, with every function and interval in the table, as stream and as Batch.

const day = (hour: number): string => new Date(START_MS + hour * 3_600_000).toISOString().replace('Z', '+00:00');
const ranges = {
  valuerangelist: [{ lower: -2, upper: 3.5 }],
  timerangelist: [{ starttime: day(1), endtime: day(2) }],
};
const windows = ['QuarterHourly', 'HalfHourly', 'Hourly', 'Daily'];

type Row = readonly [title: string, operation: string, parameters: object, inputs: readonly string[]];

const rows: readonly Row[] = [
  ...['Average', 'Sum', 'Count', 'First', 'Last'].flatMap((name) =>
    windows.map((interval): Row => [`Aggregate ${name} ${interval}`, 'Aggregate', { function: name, interval }, ['a']]),
  ),
  ['Aggregate WeightedAverage', 'Aggregate', { function: 'WeightedAverage', interval: 'QuarterHourly' }, ['a']],
  ...['Add', 'Sub', 'Mul', 'Div', 'Eq', 'Ne', 'Lte', 'Lt', 'Gt', 'Gte'].flatMap((name): Row[] => [
    [`${name} (scalar)`, name, { scalar: 2.5 }, ['a']],
    [`${name} (vector)`, name, {}, ['a', 'b']],
  ]),
  ['Not', 'Not', {}, ['flag']],
  ['And', 'And', {}, ['flag', 'a']],
  ['Or', 'Or', {}, ['flag', 'b']],
  ['Mask', 'Mask', ranges, ['a']],
  ['Where', 'Where', ranges, ['a']],
  ['Round', 'Round', { roundtodigits: 1 }, ['b']],
  ['Abs', 'Abs', {}, ['a']],
  ['BoundsLimitCleanse', 'Cleanse', { function: 'BoundsLimitCleanse', lowerbound: -3, upperbound: 4 }, ['a']],
  ['BoundsLimitAnomaly', 'Cleanse', { function: 'BoundsLimitAnomaly', lowerbound: -3, upperbound: 4 }, ['a']],
  ['ShiftByTime', 'Shift', { function: 'ShiftByTime', shift: 'P0DT1H30M0S', direction: 'forward' }, ['a']],
  ['ShiftByWindow', 'Shift', { function: 'ShiftByWindow', shift: 2, direction: 'backward', window: 'Hourly' }, ['a']],
  ...['QuarterHourly', 'HalfHourly', 'Hourly'].map(
    (interval): Row => [
      `HoldLastValue ${interval}`,
      'HoldLastValue',
      { function: 'HoldLastValue', interval },
      ['flag'],
    ],
  ),
  ['Resample', 'Resample', { function: 'Resample', frequency: 'PT20M' }, ['a']],
];

const kinds = [
  ['stream', { processingType: 'stream' }],
  ['Batch', { processingType: 'Batch' }],
  ['Batch each hour', { processingType: 'Batch', frequency: 'PT1H' }],
] as const;

describe('4.3: each operation runs over stored samples and is kept up to date', () => {
  let posting: Posting;
  const series = [
    minutes('a', 300, (i) => ((i * 7919) % 21) / 2 - 5),
    minutes('b', 290, (i) => ((i * 104_729) % 1000) / 37 - 9),
    minutes('flag', 300, (i) => Math.floor(i / 17) % 2),
  ];
  beforeAll(async () => {
    posting = await openPosting();
    for (const { timeMs, value, ...rest } of series) {
      await posting.write([{ ...rest, timeMs: timeMs.slice(0, 200), value: value.slice(0, 200) }]);
    }
  });
  afterAll(() => posting.close());

  it.each(rows)('%s', async (title, operation, parameters, inputs) => {
    for (const [kind, processing] of kinds) {
      const request = [item(operation, parameters, inputs, `${title} ${kind}`, processing)];
      const record = await posting.run(request);
      expect([title, kind, record.state]).toEqual([title, kind, kind === 'Batch' ? 'Completed' : 'Active']);
      const found = await posting.stored({ timeseriesId: `${title} ${kind}`, metric: 'Result' });
      const [expected] = await posting.expected(request);
      expectSame([found], [expected!]);
      expect(found.timeMs.length).toBeGreaterThan(0);
    }
  });

  it('later samples change streams at once, and a batch only at its boundary', async () => {
    const before = await Promise.all(
      rows.map(([title]) => posting.stored({ timeseriesId: `${title} Batch`, metric: 'Result' })),
    );
    // Two are in the past and so late; the others follow.
    await posting.write([minutes('a', 2, () => 40, START_MS + 30_000)]);
    for (const { timeMs, value, ...rest } of series) {
      await posting.write([{ ...rest, timeMs: timeMs.slice(200), value: value.slice(200) }]);
    }
    await posting.service.service.worker.onIdle();
    for (const [index, [title, operation, parameters, inputs]] of rows.entries()) {
      for (const kind of ['stream', 'Batch each hour']) {
        const found = await posting.stored({ timeseriesId: `${title} ${kind}`, metric: 'Result' });
        const [expected] = await posting.expected([item(operation, parameters, inputs, `${title} ${kind}`)]);
        expectSame([found], [expected!]);
      }
      const once = await posting.stored({ timeseriesId: `${title} Batch`, metric: 'Result' });
      expectSame([once], [before[index]!]);
    }
  });
});
