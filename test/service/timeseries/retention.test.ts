import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBatch } from '../../../src/index.js';
import { readOperations } from '../../../src/service/operations/request.js';
import { shardOf } from '../../../src/storage/shard.js';
import { itemCheckpoints } from '../../../src/storage/tables/operations.js';
import { retention } from '../../../src/storage/tables/samples.js';
import { compactNow } from '../../storage/samples/compact-now.js';
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
  [{ keep: 'P90D', timeseriesId: 'a\nb' }, '/timeseriesId'],
  [{ keep: 'P90D', metric: '\ud800' }, '/metric'],
  [{ keep: 'P90D', series: 'room' }, '/series'],
])('%j is refused with its place', async (body, pointer) => {
  const answer = await posting.call('POST', '/core/retention', body);
  expect(answer.statusCode).toBe(400);
  const { issues } = answer.body.data as { issues: { pointer: string }[] };
  expect(issues.map((issue) => issue.pointer)).toContain(pointer);
  expect(await rules()).toEqual([]);
});

it('an organisation has at most 10,000 rules; one in the place of another is taken', async () => {
  const { storage } = posting.service.service.context;
  const row = { organisation: 'acme', kind: 'samples', metric: '', keepMs: DAY_MS, createdMs: 0 };
  const rows = Array.from({ length: 10_000 }, (_, i) => ({ ...row, timeseriesId: `room-${i}` }));
  await storage.transaction(shardOf('acme'), (tx) => tx.insertAll(retention, rows));
  const refused = await posting.call('POST', '/core/retention', { keep: 'P1D', timeseriesId: 'another' });
  expect([refused.statusCode, refused.body.status.message]).toEqual([
    400,
    expect.stringContaining('expected at most 10000 retention rules, received one more; remove some, or'),
  ]);
  expect((await posting.call('POST', '/core/retention', { keep: 'P2D', timeseriesId: 'room-7' })).statusCode).toBe(200);
  expect(await rules()).toHaveLength(10_000);
});

const compactAll = async () => {
  const { storage, samples, placements } = posting.service.service.context;
  for (const shard of (await placements.of('acme')).shards) {
    while (await storage.transaction(shard, (tx) => compactNow(samples, tx, tx.lastCommit, { isEager: true })));
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

it('a service deletes within a minute of its start, so one that is often restarted does', async () => {
  const startMs = posting.service.clock.nowMs() - 20 * DAY_MS;
  await posting.write([minutes('room', 20_000, (i) => i % 97, startMs)]);
  await posting.call('POST', '/core/retention', { keep: 'P10D' });
  posting.service.clock.advance(60_000);
  await expect.poll(async () => (await firstOf('room', 'Raw')) > startMs + 5 * DAY_MS).toBe(true);
});

it.each([1, 32])('samples that are sent again are computed by new items: over %d shards', async (groups) => {
  await posting.close();
  posting = await openPosting({}, 'acme', groups);
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
  const placement = await service.service.context.placements.of('acme');
  const isElsewhere = (name: string) => placement.shardOf(name) !== placement.shardOf('room');
  const output = ['a', 'b', 'c', 'd'].find((name) => groups === 1 || isElsewhere(name))!;
  const hourly = [item('Aggregate', { function: 'Average', interval: 'Hourly' }, ['room'], output)];
  await posting.run(hourly);
  const [expected] = await posting.expected(hourly);
  expect(await posting.stored({ timeseriesId: output, metric: 'Result' })).toEqual(expected);
});

describe('after retention has deleted samples, an item that starts anew', () => {
  const HOUR_MS = 3_600_000;
  const year = (operation: string, parameters: object) => [item(operation, parameters, ['room'], 'out')];
  const out = { timeseriesId: 'out', metric: 'Result' };
  /** All that was ever sent, of which retention deletes some. */
  let sent: Map<number, number>;
  /** Hourly samples of a year, of which retention then deletes all but the last 90 days. */
  const forget = async (request: object) => {
    const { clock } = posting.service;
    const startMs = clock.nowMs() - 9000 * HOUR_MS;
    const timeMs = Float64Array.from({ length: 9000 }, (_, i) => startMs + i * HOUR_MS);
    const value = timeMs.map((_, i) => i % 97);
    sent = new Map([...timeMs].map((time, i) => [time, value[i]!]));
    await posting.write([{ timeseriesId: 'room', metric: 'Raw', timeMs, value }]);
    await posting.run(request);
    await compactAll();
    await posting.call('POST', '/core/retention', { keep: 'P90D', timeseriesId: 'room' });
    await passTenMinutes(async () => (await firstOf('room', 'Raw')) > startMs);
    await posting.service.reopen();
  };
  const send = async (timeMs: number, val: number) => {
    const sample = { timeseriesId: 'room', timestamp: new Date(timeMs).toISOString(), val };
    expect((await posting.call('POST', '/core/samples', [sample])).statusCode).toBe(200);
    await posting.service.service.worker.onIdle();
    sent.set(timeMs, val);
  };
  /** One batch over all samples that were ever sent. */
  const expected = async (request: object) => {
    const rising = [...sent].sort(([a], [b]) => a - b);
    const timeMs = Float64Array.from(rising, ([time]) => time);
    const value = Float64Array.from(rising, ([, val]) => val);
    const { plan } = await readOperations(request);
    return runBatch(plan, [{ timeseriesId: 'room', metric: 'Raw', timeMs, value }]).series[0];
  };

  const requests = [
    ['Shift', { function: 'ShiftByTime', shift: 'P7D', direction: 'forward' }],
    ['Aggregate', { function: 'Sum', window: { type: 'sliding', size: 'P7D' } }],
    ['Aggregate', { function: 'Sum', window: { type: 'running', since: 'Yearly' } }],
    ['Aggregate', { function: 'Average', interval: 'Daily' }],
  ] as const;

  it.each(requests)(
    'computes as if it had all of them, also beside late samples: %s %j',
    async (operation, parameters) => {
      const request = year(operation, parameters);
      await forget(request);
      await send(posting.service.clock.nowMs() + 2 * DAY_MS, 5);
      expect(await posting.stored(out)).toEqual(await expected(request));
      // Beside the first one that is left, of which results rest on deleted ones, and later.
      const firstMs = await firstOf('room', 'Raw');
      for (const lateMs of [firstMs + HOUR_MS / 2, firstMs + 40 * DAY_MS]) {
        await send(lateMs, 1000);
        expect(await posting.stored(out)).toEqual(await expected(request));
      }
    },
  );

  it.each(requests)(
    'leaves out what comes later still; an item that is new takes it: %s %j',
    async (operation, parameters) => {
      const request = year(operation, parameters);
      await forget(request);
      const before = await posting.stored(out);
      await send((await firstOf('room', 'Raw')) - 30 * DAY_MS, 1000);
      expect(await posting.stored(out)).toEqual(before);
      const other = [item(operation, parameters, ['room'], 'other')];
      await posting.run(other);
      const stored = async () => ({ ...(await posting.stored({ timeseriesId: 'other', metric: 'Result' })) });
      expect(await stored()).toEqual((await posting.expected(other))[0]);
      // What comes late changes its results, too, wherever it starts again.
      await send(posting.service.clock.nowMs() - 10 * DAY_MS, 700);
      await posting.service.reopen();
      await send(posting.service.clock.nowMs() - 20 * DAY_MS + 1, 800);
      expect(await stored()).toEqual((await posting.expected(other))[0]);
    },
  );

  it.each(requests)('goes on from its base if it is posted again: %s %j', async (operation, parameters) => {
    const request = year(operation, parameters);
    await forget(request);
    await posting.run(request);
    expect(await posting.stored(out)).toEqual(await expected(request));
    await send(posting.service.clock.nowMs() - 40 * DAY_MS, 700);
    await send(posting.service.clock.nowMs() + DAY_MS, 5);
    expect(await posting.stored(out)).toEqual(await expected(request));
  });

  it('keeps its results if it has lost its checkpoints, also where it starts from new ones', async () => {
    const { clock } = posting.service;
    const startMs = clock.nowMs() - 40_000 * 60_000;
    await posting.write([minutes('room', 40_000, (i) => i % 97, startMs)]);
    sent = new Map();
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
});
