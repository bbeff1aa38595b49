import { afterAll, beforeAll, expect, it } from 'vitest';
import { item, minutes, openPosting, type Posting } from '../operations/posted.js';

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
