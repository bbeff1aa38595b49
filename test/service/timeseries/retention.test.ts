import { afterEach, beforeEach, expect, it } from 'vitest';
import { item, minutes, openPosting, type Posting } from '../operations/posted.js';

const DAY_MS = 86_400_000;
let posting: Posting;
beforeEach(async () => {
  posting = await openPosting();
});
afterEach(() => posting.close());

const rules = async () => (await posting.call('GET', '/core/retention')).body.data;

it('rules are set, replaced in their scope, listed and removed; each organisation has its own', async () => {
  const { call } = posting;
  expect((await call('POST', '/core/retention', { keep: 'P90D' })).body.data).toEqual({
    kind: 'samples',
    keep: 'P90D',
  });
  await call('POST', '/core/retention', { keep: 'PT12H', timeseriesId: 'room', metric: 'Raw' });
  await call('POST', '/core/retention', { kind: 'results', keep: 'P3650D' });
  await call('POST', '/core/retention', { keep: 'P30D' });
  expect(await rules()).toEqual([
    { kind: 'results', keep: 'P3650D' },
    { kind: 'samples', keep: 'P30D' },
    { kind: 'samples', timeseriesId: 'room', metric: 'Raw', keep: 'PT12H' },
  ]);
  const stranger = await posting.service.bearer(await posting.service.addClient({ organisation: 'other' }));
  expect((await call('GET', '/core/retention', undefined, stranger)).body.data).toEqual([]);
  expect((await call('DELETE', '/core/retention', undefined, stranger)).statusCode).toBe(404);
  const removed = await call('DELETE', '/core/retention?timeseriesId=room&metric=Raw');
  expect(removed.body.data).toEqual({ kind: 'samples', timeseriesId: 'room', metric: 'Raw', keep: 'PT12H' });
  expect((await call('DELETE', '/core/retention?timeseriesId=room&metric=Raw')).statusCode).toBe(404);
  expect(await rules()).toHaveLength(2);
});

it.each([
  [{}, '/keep'],
  [{ keep: 'P1M' }, '/keep'],
  [{ keep: 'PT0S' }, '/keep'],
  [{ keep: 'P90D', kind: 'events' }, '/kind'],
  [{ keep: 'P90D', timeseriesId: '' }, '/timeseriesId'],
  [{ keep: 'P90D', series: 'room' }, '/series'],
])('%j is refused with its place', async (body, pointer) => {
  const answer = await posting.call('POST', '/core/retention', body);
  expect(answer.statusCode).toBe(400);
  const { issues } = answer.body.data as { issues: { pointer: string }[] };
  expect(issues.map((issue) => issue.pointer)).toContain(pointer);
  expect(await rules()).toEqual([]);
});

const compactAll = async () => {
  const { storage, samples, placements } = posting.service.service.context;
  for (const shard of (await placements.of('acme')).shards) {
    while (await storage.transaction(shard, (tx) => samples.compact(tx, tx.lastCommit, { isEager: true })));
  }
};
const passTenMinutes = async (isDone: () => Promise<boolean>) => {
  posting.service.clock.advance(600_000);
  await expect.poll(isDone).toBe(true);
};
const firstOf = async (timeseriesId: string, metric: string) =>
  (await posting.stored({ timeseriesId, metric })).timeMs[0] ?? Number.POSITIVE_INFINITY;

it('old samples are deleted; their results stay until the rule for results deletes them', async () => {
  const { service, call } = posting;
  const { clock } = service;
  const startMs = clock.nowMs() - 20 * DAY_MS;
  // Segments of about three days.
  await posting.write([minutes('room', 20_000, (i) => i % 97, startMs)]);
  const hourly = [item('Aggregate', { function: 'Average', interval: 'QuarterHourly' }, ['room'], 'mean')];
  await posting.run(hourly);
  const before = await posting.stored({ timeseriesId: 'mean', metric: 'Result' });
  await compactAll();
  await call('POST', '/core/retention', { keep: 'P10D', timeseriesId: 'room' });
  await passTenMinutes(async () => (await firstOf('room', 'Raw')) > startMs + 5 * DAY_MS);
  expect(await firstOf('room', 'Raw')).toBeLessThanOrEqual(clock.nowMs() - 10 * DAY_MS);
  expect(await posting.stored({ timeseriesId: 'mean', metric: 'Result' })).toEqual(before);
  await call('POST', '/core/retention', { kind: 'results', keep: 'P1D' });
  await passTenMinutes(
    async () => (await posting.stored({ timeseriesId: 'mean', metric: 'Result' })).timeMs.length < 100,
  );
});

it('samples that are sent again are computed by new items', async () => {
  const { service, call } = posting;
  const startMs = service.clock.nowMs() - 20 * DAY_MS;
  const room = minutes('room', 20_000, (i) => i % 97, startMs);
  await posting.write([room]);
  await compactAll();
  await call('POST', '/core/retention', { keep: 'P10D', timeseriesId: 'room' });
  await passTenMinutes(async () => (await firstOf('room', 'Raw')) > startMs + 5 * DAY_MS);
  // The rule was a mistake.
  await call('DELETE', '/core/retention?timeseriesId=room');
  await posting.write([{ ...room, value: room.value.map((value) => value + 1000) }]);
  const hourly = [item('Aggregate', { function: 'Average', interval: 'Hourly' }, ['room'], 'mean')];
  await posting.run(hourly);
  const [expected] = await posting.expected(hourly);
  expect(await posting.stored({ timeseriesId: 'mean', metric: 'Result' })).toEqual(expected);
});
