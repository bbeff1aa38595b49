import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPlan } from '../../../src/index.js';
import { why } from '../../../src/inspect/index.js';
import { createInlinePool, type StepPool } from '../../../src/service/operations/compute/pool.js';
import { createExplainer } from '../../../src/service/timeseries/read/why.js';
import { item, minutes, openPosting, type Posting, START_MS } from '../operations/posted.js';

let posting: Posting;
beforeAll(async () => {
  posting = await openPosting();
  await posting.write([minutes('room', 3000, (i) => i % 10)]);
  await posting.run([item('Aggregate', { function: 'Max', interval: 'PT5M' }, ['room'], 'highest')]);
});
afterAll(() => posting.close());

const ask = (path: string) => posting.call('GET', `/core/timeseries/${path}`);

it('lists the steps, the window and the samples that a stored result depends on', async () => {
  const { body: page } = await ask('highest/samples?metric=Result&limit=400&orderby=desc');
  const [, { timestamp, val }] = page.data as [unknown, { timestamp: string; val: number }];
  const { statusCode, body } = await ask(`highest/why?metric=Result&time=${timestamp}`);
  expect(statusCode).toBe(200);
  const startMs = Date.parse(timestamp);
  const at = (minute: number) => new Date(startMs + minute * 60_000).toISOString();
  const five = [4, 3, 2, 1, 0].map((back, minute) => ({ timestamp: at(minute), val: val - back }));
  expect(body.data).toMatchObject({
    timeseriesId: 'highest',
    metric: 'Result',
    timestamp,
    val,
    steps: [
      {
        operation: 'Aggregate',
        window: { startTime: at(0), endTime: at(5), timezone: 'UTC' },
        results: { count: 1, samples: [{ timestamp, val }] },
        inputs: [{ timeseriesId: 'room', metric: 'Raw', used: { count: 5, samples: five } }],
        isProved: true,
      },
    ],
    sources: [{ timeseriesId: 'room', metric: 'Raw', used: { count: 5, samples: five } }],
  });
});

it('the value, the results and the samples keep the sign of a zero', async () => {
  await posting.run([item('Mul', { scalar: -1 }, ['room'], 'turned')]);
  const url = `/core/timeseries/turned/why?metric=Result&time=${new Date(START_MS).toISOString()}`;
  const answer = await posting.service.app.inject({ url, headers: posting.headers });
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  const { val, steps, sources } = answer.json().data;
  expect([val, steps[0].results.samples[0].val, steps[0].inputs[0].used.samples[0].val]).toEqual([-0, -0, 0]);
  expect(sources[0].used.samples[0].val).toBe(0);
});

it('tells of the samples as they are today: overwritten, deleted and late ones', async () => {
  const usedFor = async (time: string) => {
    const { body } = await ask(`peak/why?metric=Result&time=${time}`);
    const { val, sources } = body.data as { val: number; sources: { used: { samples: { val: number }[] } }[] };
    return [val, sources[0]!.used.samples.map((sample) => sample.val)];
  };
  const startMs = Date.UTC(2026, 0, 1);
  const at = (minute: number) => new Date(startMs + minute * 60_000).toISOString();
  const write = async (minute: number, value: number) => {
    const timeMs = Float64Array.of(startMs + minute * 60_000);
    await posting.write([{ timeseriesId: 'hall', metric: 'Raw', timeMs, value: Float64Array.of(value) }]);
    await posting.service.service.worker.onIdle();
  };
  for (const [minute, value] of [3, 9, 4, 1, 1, 1, 1, 1, 1, 1].entries()) if (minute !== 2) await write(minute, value);
  await posting.run([item('Aggregate', { function: 'Max', interval: 'PT5M' }, ['hall'], 'peak')]);
  expect(await usedFor(at(0))).toEqual([9, [3, 9, 1, 1]]);
  await write(2, 4);
  expect(await usedFor(at(0))).toEqual([9, [3, 9, 4, 1, 1]]);
  await write(1, 2);
  expect(await usedFor(at(0))).toEqual([4, [3, 2, 4, 1, 1]]);
  const range = `metric=Raw&startTime=${at(2)}&endTime=${at(3)}`;
  expect((await posting.call('DELETE', `/core/timeseries/hall/samples?${range}`)).statusCode).toBe(200);
  await posting.service.service.worker.onIdle();
  expect(await usedFor(at(0))).toEqual([3, [3, 2, 1, 1]]);
});

it('says if the samples of a result have changed since it was computed, once', async () => {
  await posting.write([minutes('meter', 3, (i) => i + 1)]);
  await posting.run([item('Mul', { scalar: 2 }, ['meter'], 'twice', { processingType: 'Batch' })]);
  const time = new Date(START_MS).toISOString();
  expect((await ask(`twice/why?metric=Result&time=${time}`)).body.data).toMatchObject({ val: 2 });
  await posting.write([minutes('meter', 1, () => 7)]);
  const { statusCode, body } = await ask(`twice/why?metric=Result&time=${time}`);
  expect([statusCode, body.status.message]).toEqual([
    400,
    `twice/Result at ${time} does not follow from the samples that are stored now: some were changed or deleted ` +
      'after it was computed, or it is about to be computed anew; if it stays so, post its item again',
  ]);
});

it.each([
  ['Aggregate', { function: 'Sum', interval: 'Daily' }, 'Gt', { scalar: 100 }],
  ['Aggregate', { function: 'Sum', interval: 'P10D' }, 'Gt', { scalar: 100 }],
  ['CumulativeSum', {}, 'Gt', { scalar: 100 }],
  ['ExponentialAverage', { halflife: 'PT6H' }, 'Round', { roundtodigits: 0 }],
])('its steps have the results of all samples, also where the last step hides them: %s %j, %s', async (...chain) => {
  // Zeros, of which the steps before could leave out thousands, and ones before them.
  const flow = minutes('flow', 30_000, (i) => Number(i % 4000 < 1000));
  const [first, parameters, last, lastParameters] = chain;
  const id = `${first}-${Object.values(parameters).at(-1)}`;
  const inner = { timeseriesId: `inner ${id}`, metric: 'Result' };
  const outer = { timeseriesId: id, metric: 'Result' };
  const operations = [
    { operation: first, parameters, input: [{ timeseriesId: 'flow', metric: 'Raw' }], output: [inner] },
    { operation: last, parameters: lastParameters, input: [inner], output: [outer] },
  ];
  const request = [{ metric: 'Result', processingType: 'stream', operations }];
  await posting.write([flow]);
  await posting.run(request);
  const { timeMs } = await posting.stored(outer);
  const at = timeMs[timeMs.length >> 1]!;
  const expected = why(createPlan(request), [flow], outer, at);
  const { body } = await ask(`${id}/why?metric=Result&time=${new Date(at).toISOString()}`);
  const { steps } = body.data as { steps: { results: { samples: { val: number }[] }; inputs: Used[] }[] };
  type Used = { used: { count: number } };
  expect(steps.map(({ results }) => results.samples.map(({ val }) => val))).toEqual(
    expected.steps.map(({ results }) => results.map(({ value }) => value)),
  );
  expect(steps.map(({ inputs }) => inputs.map(({ used }) => used.count))).toEqual(
    expected.steps.map(({ inputs }) => inputs.map(({ used }) => used.length)),
  );
});

it('reads 65,536 samples on either side at most', async () => {
  const many = minutes('many', 70_000, () => 1);
  for (let from = 0; from < 70_000; from += 10_000) {
    const part = (column: Float64Array) => column.slice(from, from + 10_000);
    await posting.write([{ ...many, timeMs: part(many.timeMs), value: part(many.value) }]);
  }
  await posting.run([item('CumulativeSum', {}, ['many'], 'total')]);
  const askAt = (minute: number) => {
    return ask(`total/why?metric=Result&time=${new Date(many.timeMs[minute]!).toISOString()}`);
  };
  expect((await askAt(65_000)).body).toMatchObject({ status: { code: '200' }, data: { val: 65_001 } });
  const { statusCode, body } = await askAt(69_000);
  expect([statusCode, body.status.message]).toEqual([
    400,
    expect.stringContaining('comes from over 65536 samples of a source, or over 1048576 of all, or does not follow'),
  ]);
});

it('others write while a result is explained, and are not waited for', async () => {
  const { context } = posting.service.service;
  const inline = createInlinePool();
  let askedCount = 0;
  const pool: StepPool = {
    ...inline,
    explain: async (question) => {
      askedCount++;
      await posting.write([minutes('aside', 1, () => 1)]);
      return inline.explain(question);
    },
  };
  const explain = createExplainer({ context, pool });
  const of = { timeseriesId: 'highest', metric: 'Result' };
  const { body } = await ask('highest/samples?metric=Result&limit=1');
  const { timestamp, val } = body.data[0] as { timestamp: string; val: number };
  const all = await Promise.all([explain('acme', of, timestamp), explain('acme', of, timestamp)]);
  expect(all.map((one) => one.val)).toEqual([val, val]);
  expect(askedCount).toBe(4);
  // One that fails does not hinder the next.
  await expect(explain('acme', { ...of, metric: 'None' }, timestamp)).rejects.toThrow('is not the result of an item');
  expect((await explain('acme', of, timestamp)).val).toBe(val);
});

it('says if a series is not a result, and if there is none at a time', async () => {
  const raw = await ask('room/why?time=2026-01-01T00:00:00Z');
  expect([raw.statusCode, raw.body.status.message]).toEqual([
    404,
    'room/Raw is not the result of an item; GET /core/operations lists the items',
  ]);
  const none = await ask('highest/why?metric=Result&time=1999-01-01T00:00:00Z');
  expect([none.statusCode, none.body.status.message]).toEqual([
    404,
    expect.stringMatching(/^highest\/Result has no result at 1999-01-01T00:00:00.000Z; the nearest are at 2\S+Z$/),
  ]);
  const bad = await ask('highest/why?metric=Result&time=noon');
  expect([bad.statusCode, bad.body.status.message]).toEqual([
    400,
    expect.stringContaining('time: expected an ISO 8601'),
  ]);
});

it.each(['why?time=2026-01-01T00:00:00Z', 'samples'])(
  'an id with NUL is refused where it stands, in the path (%s)',
  async (route) => {
    const { statusCode, body } = await ask(`a%00b/${route}`);
    expect([statusCode, body.status.message]).toEqual([
      400,
      'path timeseriesId: expected text without NUL (%00), received "a\\u0000b"',
    ]);
  },
);
