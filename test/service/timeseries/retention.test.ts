import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itemCheckpoints } from '../../../src/storage/tables/operations.js';
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

describe('after retention has deleted samples, an item that starts anew', () => {
  const HOUR_MS = 3_600_000;
  const year = (operation: string, parameters: object) => [item(operation, parameters, ['room'], 'out')];
  const out = { timeseriesId: 'out', metric: 'Result' };
  /** Hourly samples of a year, of which retention then deletes all but the last 90 days. */
  const forget = async (request: object) => {
    const { clock } = posting.service;
    const startMs = clock.nowMs() - 9000 * HOUR_MS;
    const timeMs = Float64Array.from({ length: 9000 }, (_, i) => startMs + i * HOUR_MS);
    await posting.write([{ timeseriesId: 'room', metric: 'Raw', timeMs, value: timeMs.map((_, i) => i % 97) }]);
    await posting.run(request);
    await compactAll();
    await posting.call('POST', '/core/retention', { keep: 'P90D', timeseriesId: 'room' });
    await passTenMinutes(async () => (await firstOf('room', 'Raw')) > startMs);
    const before = await posting.stored(out);
    await posting.service.reopen();
    return before;
  };
  const send = async (timeMs: number, val: number) => {
    const sample = { timeseriesId: 'room', timestamp: new Date(timeMs).toISOString(), val };
    expect((await posting.call('POST', '/core/samples', [sample])).statusCode).toBe(200);
    await posting.service.service.worker.onIdle();
  };

  it.each([
    ['Shift', { function: 'ShiftByTime', shift: 'P7D', direction: 'forward' }, 7],
    ['Aggregate', { function: 'Sum', window: { type: 'sliding', size: 'P7D' } }, 7],
    ['Aggregate', { function: 'Sum', window: { type: 'running', since: 'Yearly' } }, 89],
    ['Aggregate', { function: 'Average', interval: 'Daily' }, 0],
  ])(
    'keeps the results of these, also beside a late sample, and goes on: %s %j',
    async (operation, parameters, days) => {
      const before = await forget(year(operation, parameters));
      const { clock } = posting.service;
      const isKept = async (untilMs: number) => {
        const { timeMs, value } = await posting.stored(out);
        const count = before.timeMs.findIndex((time) => time >= untilMs);
        expect(timeMs.slice(0, count)).toEqual(before.timeMs.slice(0, count));
        expect(value.slice(0, count)).toEqual(before.value.slice(0, count));
        return timeMs.at(-1)!;
      };
      await send(clock.nowMs() + 2 * DAY_MS, 5);
      const endMs = before.timeMs.at(-1)!;
      expect(await isKept(endMs)).toBeGreaterThan(endMs);
      // So long after the first sample that is left, results may rest on one that was deleted.
      const firstMs = await firstOf('room', 'Raw');
      await send(firstMs + HOUR_MS / 2, 1000);
      await isKept(firstMs + days * DAY_MS);
    },
  );

  it('keeps them also where it starts from a checkpoint that it made without those samples', async () => {
    const { clock } = posting.service;
    const startMs = clock.nowMs() - 40_000 * 60_000;
    await posting.write([minutes('room', 40_000, (i) => i % 97, startMs)]);
    await posting.run(year('Aggregate', { function: 'Sum', window: { type: 'running', since: 'Yearly' } }));
    await compactAll();
    await posting.call('POST', '/core/retention', { keep: 'P14D', timeseriesId: 'room' });
    await passTenMinutes(async () => (await firstOf('room', 'Raw')) > startMs);
    const { storage } = posting.service.service.context;
    // Those with the samples, as if they had not been due before.
    const { home } = await posting.service.service.context.placements.of('acme');
    await storage.transaction(home, (tx) => tx.delete(itemCheckpoints, []));
    const before = await posting.stored(out);
    await posting.service.reopen();
    await send(clock.nowMs(), 5);
    const made = await posting.service.service.context.storage.read(home, (tx) => tx.find(itemCheckpoints));
    expect(made.map(({ lacksUntilMs }) => lacksUntilMs)).toEqual([Number.MAX_VALUE]);
    await posting.service.reopen();
    await send(startMs + 39_999.5 * 60_000 - DAY_MS, 7);
    const { timeMs, value } = await posting.stored(out);
    // The last one was provisional.
    const count = before.timeMs.length - 1;
    expect(timeMs.slice(0, count)).toEqual(before.timeMs.slice(0, count));
    expect(value.slice(0, count)).toEqual(before.value.slice(0, count));
  });

  it('computes the results again that rest on samples which are left', async () => {
    const before = await forget(year('Aggregate', { function: 'Average', interval: 'Daily' }));
    const lateMs = posting.service.clock.nowMs() - 10 * DAY_MS - HOUR_MS / 2;
    await send(lateMs, 1000);
    const after = await posting.stored(out);
    expect(after.timeMs.slice(0, before.timeMs.length)).toEqual(before.timeMs);
    const changed = Array.from(before.timeMs.filter((_, i) => after.value[i] !== before.value[i]));
    expect(changed).toEqual([Math.floor(lateMs / DAY_MS) * DAY_MS]);
  });
});
