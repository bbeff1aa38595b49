import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeFrame } from '../../../src/service/timeseries/columns-format.js';
import { PIECE_SAMPLES } from '../../../src/service/timeseries/read/samples.js';
import { openTestService, type TestService } from '../app.js';
import { turnsDuring } from '../turns-during.js';

const PIECES = 6;

let service: TestService;
let headers: { authorization: string };
beforeAll(async () => {
  service = await openTestService();
  headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
  const timeMs = Float64Array.from({ length: PIECES * PIECE_SAMPLES }, (_, i) => i * 1000);
  const payload = Buffer.from(writeFrame({ timeseriesId: 'long', metric: 'Raw', timeMs, value: timeMs }));
  const { statusCode } = await service.app.inject({
    method: 'POST',
    url: '/core/samples',
    headers: { ...headers, 'content-type': 'application/vnd.windrow.columns' },
    payload,
  });
  expect(statusCode).toBe(200);
});
afterAll(() => service.close());

/** Gets a page or series; returns the body, and how many turns of the event loop others had meanwhile. */
async function get(url: string, more: Readonly<Record<string, string>> = {}) {
  const { turnCount, result } = await turnsDuring(async () =>
    service.app.inject({ method: 'GET', url, headers: { ...headers, ...more } }),
  );
  return { body: result.body, turnCount };
}

it.each(['text/csv', 'application/x-ndjson', 'application/vnd.windrow.columns'])(
  'a long response as %s yields to other requests between any two pieces',
  async (accept) => {
    const { body, turnCount } = await get('/core/timeseries/long/samples', { accept });
    expect(body.length).toBeGreaterThan(PIECES * PIECE_SAMPLES);
    expect(turnCount).toBeGreaterThanOrEqual(PIECES);
  },
);

it.each(['application/json', 'text/csv', 'application/x-ndjson'])(
  'responses at once as %s share turns, so that nobody waits for the work of all',
  async (accept) => {
    const samples = 60_000;
    const several = Array.from({ length: 4 }, () => `/core/timeseries/long/samples?limit=${samples}`);
    const { turnCount, result } = await turnsDuring(() => Promise.all(several.map((url) => get(url, { accept }))));
    // Without the place of the next page, which is sealed.
    const [first, ...others] = result.map(({ body }) => body.split('"paging"')[0]!);
    expect(first!.length).toBeGreaterThan(samples);
    expect(others.every((body) => body === first)).toBe(true);
    expect(turnCount).toBeGreaterThanOrEqual((several.length * samples) / 10_000);
  },
);

it('a body whose parts have all come is stored with turns for other requests in between', async () => {
  const line = `${JSON.stringify({ timeseriesId: 'lines', metric: 'Raw', timestamp: 0, val: 1 })}\n`;
  const part = line.repeat(1000);
  const parts = 40;
  const { turnCount, result } = await turnsDuring(async () =>
    service.app.inject({
      method: 'POST',
      url: '/core/samples',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      payload: Readable.from(Array.from({ length: parts }, () => part)),
    }),
  );
  expect(result.json().data).toMatchObject({ samples: 1, duplicate: 1000 * parts - 1 });
  // After 128 kB at least; three parts of 62 kB are more.
  expect(turnCount).toBeGreaterThanOrEqual(Math.floor(parts / 3));
});

it('a page of many series yields to other requests', async () => {
  const ids = Array.from({ length: 1600 }, (_, i) => `s${i}`);
  const payload = JSON.stringify(ids.map((timeseriesId) => ({ timeseriesId, timestamp: 0, val: 1 })));
  const json = { ...headers, 'content-type': 'application/json' };
  const written = await service.app.inject({ method: 'POST', url: '/core/samples', headers: json, payload });
  expect(written.statusCode).toBe(200);
  const turnsOf = async (some: readonly string[]) => {
    const { body, turnCount } = await get(`/core/samples?timeseries_ids=${some.join(',')}`);
    expect(JSON.parse(body).data).toHaveLength(some.length);
    return turnCount;
  };
  // To read them: they are looked up 500 at a time.
  const few = await turnsOf(ids.slice(0, 1));
  expect(await turnsOf(ids)).toBeGreaterThanOrEqual(few + 20);
});
