import { afterEach, describe, expect, it } from 'vitest';
import { openEvery, planEvery, runEvery } from '../../../src/engine/every/index.js';
import type { Series } from '../../../src/index.js';
import { createInlinePool } from '../../../src/service/operations/compute/pool.js';
import { Worker } from '../../../src/service/operations/worker/worker.js';
import type { Storage } from '../../../src/storage/storage.js';
import { expectSame } from '../../laws/running.js';
import { failingStorage } from '../failing-storage.js';
import { change, item, minutes, openPosting, type Posting } from './posted.js';
import { openRig, type Rig, smallSizes } from './rig.js';

const means = [item('Aggregate', { function: 'Average', interval: 'Hourly' }, ['zone-{n}'], 'zone-{n}')];
const zones = [1, 2, 3].map((n) => minutes(`zone-${n}`, 200, (i) => (i * 37 * n) % 100));
const outside = minutes('outside', 200, (i) => i % 7);
const result = (timeseriesId: string) => ({ timeseriesId, metric: 'Result' });

describe('an item with a pattern, in the worker', () => {
  let rig: Rig;
  afterEach(() => rig.close());

  const expectBatch = async (request: unknown, series: readonly Series[]): Promise<void> => {
    const expected = runEvery(planEvery(request), series).series;
    const found = await Promise.all(
      expected.map(async ({ timeseriesId, metric }) => ({
        timeseriesId,
        metric,
        ...(await rig.stored({ timeseriesId, metric })),
      })),
    );
    expectSame(found, expected);
    const { expected: plain, found: again } = await rig.compare();
    expectSame(again, plain);
  };

  it.each([{}, smallSizes])(
    'has the results of one batch over the series that existed and those that came later',
    async (sizes) => {
      rig = await openRig({ sizes });
      await rig.append(change(zones[0]!, 0, 150));
      await rig.append(change(outside, 0, 50));
      await rig.register(means);
      await rig.worker().onIdle();
      await expectBatch(means, [
        { ...zones[0]!, timeMs: zones[0]!.timeMs.slice(0, 150), value: zones[0]!.value.slice(0, 150) },
      ]);
      await rig.append(change(zones[1]!, 0, 30));
      await rig.append(change(zones[1]!, 30, 200));
      await rig.append(change(zones[0]!, 150, 200));
      await rig.worker().onIdle();
      await rig.restart();
      await rig.append(change(zones[2]!, 100, 200));
      await rig.kill();
      // Late, for one member only.
      await rig.append(change(zones[2]!, 0, 100));
      await rig.worker().onIdle();
      await expectBatch(means, zones);
      // The pattern is stored in each shard.
      const { shards } = await rig.context.placements.of(rig.organisation);
      expect(await rig.items()).toHaveLength(3 + shards.length);
    },
  );

  it('reads a series that all members share, and results of another pattern', async () => {
    // Its id differs from those of its sources, which spread organisations do not allow.
    rig = await openRig({ groups: 1 });
    const above = [item('Sub', {}, ['zone-{n}', 'outside'], 'above-{n}')];
    const highest = [
      {
        ...item('Aggregate', { function: 'Max', interval: 'Hourly' }, ['above-{n}'], 'above-{n}'),
        metric: 'Highest',
      },
    ].map((one) => ({
      ...one,
      operations: one.operations.map((step) => ({
        ...step,
        input: [result('above-{n}')],
        output: [{ timeseriesId: 'above-{n}', metric: 'Highest' }],
      })),
    }));
    await rig.register(highest);
    await rig.register(above);
    for (const one of [outside, ...zones]) await rig.append(change(one, 0, 200));
    await rig.worker().onIdle();
    const first = runEvery(planEvery(above), [...zones, outside]).series;
    await expectBatch(above, [...zones, outside]);
    await expectBatch(highest, first);
  });

  it.each([
    ['reads a step of an item with a pattern', true],
    ['has a step of a pattern that nothing reads', false],
  ])('is none where its result is one of no pattern, though it %s', async (_, isShared) => {
    rig = await openRig({ groups: 1 });
    const series = (timeseriesId: string, metric: string) => [{ timeseriesId, metric }];
    const hourly = (input: string, output: string) => ({
      operation: 'Aggregate',
      parameters: { function: 'Average', interval: 'Hourly' },
      input: series(input, 'Raw'),
      output: series(output, 'Mean'),
    });
    const steps = [
      hourly('zone-{n}', 'zone-{n}'),
      hourly('outside', 'outside'),
      {
        operation: 'Sub',
        parameters: {},
        input: [...series('zone-{n}', 'Mean'), ...series('outside', 'Mean')],
        output: series('zone-{n}', 'Above'),
      },
    ];
    const rounded = {
      operation: 'Round',
      parameters: { roundtodigits: 1 },
      input: series('outside', 'Mean'),
      output: series('outside', 'Rounded'),
    };
    const request = isShared
      ? [
          { metric: 'Above', processingType: 'stream', operations: steps },
          { metric: 'Rounded', processingType: 'stream', operations: [rounded] },
        ]
      : [{ metric: 'Rounded', processingType: 'stream', operations: [...steps.slice(0, 2), rounded] }];
    await rig.append(change(outside, 0, 200));
    await rig.append(change(zones[0]!, 0, 200));
    await rig.register(request);
    await rig.worker().onIdle();
    await expectBatch(request, [zones[0]!, outside]);
    const { shards } = await rig.context.placements.of(rig.organisation);
    expect(shards).toHaveLength(1);
    // The pattern, its member, and the plain item; or that alone.
    expect(await rig.items()).toHaveLength(isShared ? 3 : 1);
  });

  it('stays as it is while another pattern registers members for more series than one transaction takes', async () => {
    rig = await openRig({ sizes: smallSizes, groups: 1 });
    await rig.append(change(zones[0]!, 0, 150));
    await rig.register(means);
    await rig.worker().onIdle();
    await rig.worker().stop();
    const { storage } = rig.context;
    const states = new Set<string>();
    const stateOf = async () => (await rig.items()).find(({ timeseriesId }) => timeseriesId === 'zone-{n}')!.state;
    const watched: Storage = {
      ...failingStorage(storage, {}),
      transaction: async (shard, work, options) => {
        const done = await storage.transaction(shard, work, options);
        states.add(await stateOf());
        return done;
      },
    };
    const worker = new Worker({ ...rig.context, storage: watched }, createInlinePool(), smallSizes);
    worker.start();
    await rig.register([item('Mul', { scalar: 2 }, ['hall-{n}'], 'hall-{n}')], false);
    const halls = Array.from({ length: 10 }, (_, i) => minutes(`hall-${i}`, 5, (k) => k));
    for (const hall of halls) await rig.append(change(hall, 0, 5));
    worker.wake(rig.shardOf('hall-1'), true);
    await worker.onIdle();
    expect((await rig.items()).filter(({ timeseriesId }) => /^hall-\d/.test(timeseriesId))).toHaveLength(10);
    expect([...states]).toEqual(['Active']);
    await worker.stop();
  });

  it('equals a stream over the same samples in the library', async () => {
    rig = await openRig();
    await rig.register(means);
    const stream = openEvery(planEvery(means));
    for (let from = 0; from < 200; from += 40) {
      for (const zone of zones) {
        await rig.append(change(zone, from, from + 40));
        const part = { ...zone, timeMs: zone.timeMs.slice(from, from + 40), value: zone.value.slice(from, from + 40) };
        stream.push([part]);
      }
    }
    await rig.worker().onIdle();
    for (const { timeseriesId, metric, timeMs } of stream.preview()) {
      const { timeMs: stored } = await rig.stored({ timeseriesId, metric });
      expect([...stored.slice(-timeMs.length)]).toEqual([...timeMs]);
    }
    await expectBatch(means, zones);
  });
});

describe('an item with a pattern, over HTTP', () => {
  let posting: Posting;
  afterEach(() => posting.close());

  interface Item {
    readonly itemId: string;
    readonly timeseriesId: string;
    readonly pattern: string | null;
    readonly state: string;
    readonly message: string | null;
    readonly sources: readonly unknown[];
  }
  const items = async (): Promise<Item[]> =>
    (await posting.call('GET', '/core/operations', undefined, { pagesize: '1000' })).body.data;

  it('is listed with its members, explains their results, and is deleted with them', async () => {
    posting = await openPosting();
    await posting.write(zones.slice(0, 2));
    await posting.run(means);
    const all = await items();
    const pattern = all.find(({ timeseriesId }) => timeseriesId === 'zone-{n}')!;
    expect(pattern).toMatchObject({
      pattern: null,
      state: 'Active',
      sources: [{ timeseriesId: 'zone-{n}', metric: 'Raw' }],
    });
    const members = all.filter((one) => one.pattern === pattern.itemId);
    expect(members.map(({ timeseriesId }) => timeseriesId).sort()).toEqual(['zone-1', 'zone-2']);
    const { body } = await posting.call('GET', '/core/timeseries/zone-1/why?metric=Result&time=2025-12-31T01:00:00Z');
    expect(body.status.code).toBe('200');
    const refused = await posting.call('DELETE', `/core/operations/${members[0]!.itemId}`);
    expect(refused.statusCode).toBe(409);
    expect((await posting.call('DELETE', `/core/operations/${pattern.itemId}`)).statusCode).toBe(200);
    expect(await items()).toEqual([]);
    expect((await posting.stored(result('zone-1'))).timeMs).toHaveLength(0);
  });

  it.each([1, 8])(
    'says which of its results another pattern has, until that is deleted, over %i groups',
    async (groups) => {
      posting = await openPosting({}, 'acme', groups);
      await posting.write(zones.slice(0, 2));
      await posting.run(means);
      const named = [item('Aggregate', { function: 'Max', interval: 'Hourly' }, ['zone-{m}'], 'zone-{m}')];
      await posting.run(named);
      const find = async (id: string) => (await items()).find(({ timeseriesId }) => timeseriesId === id)!;
      const has =
        'it is a result of the pattern zone-{n}/Result, which was registered before; delete that to have this one';
      const { message } = await find('zone-{m}');
      expect(message?.split('\n').sort()).toEqual([
        `not computed: zone-1/Result: ${has}`,
        `not computed: zone-2/Result: ${has}`,
      ]);
      await posting.call('DELETE', `/core/operations/${(await find('zone-{n}')).itemId}`);
      await posting.service.service.worker.onIdle();
      const { itemId, message: now } = await find('zone-{m}');
      expect(now).toBeNull();
      expect([(await find('zone-1')).pattern, (await find('zone-2')).pattern]).toEqual([itemId, itemId]);
    },
  );

  it.each([1, 8])('names each member that it has no item for, over %i groups', async (groups) => {
    posting = await openPosting({}, 'acme', groups);
    const ids = ['zone-1', 'zone-2', 'zone-3', 'zone-4'];
    const samples = (timeseriesId: string) => minutes(timeseriesId, 5, (i) => i);
    await posting.write(ids.slice(1).flatMap((id) => [samples(id), { ...samples(id), metric: 'Result' }]));
    await posting.run(means);
    await posting.write([samples('zone-1')]);
    await posting.service.service.worker.onIdle();
    const messageOf = async () => {
      const { message } = (await items()).find(({ timeseriesId }) => timeseriesId === 'zone-{n}')!;
      return (message as string | null)?.match(/(?<=^not computed: )[^:]+/gm)?.sort();
    };
    expect(await messageOf()).toEqual(ids.slice(1).map((id) => `${id}/Result`));
    await posting.call('DELETE', '/core/timeseries/zone-3/samples?metric=Result&all=true');
    await posting.service.service.worker.onIdle();
    expect(await messageOf()).toEqual(['zone-2/Result', 'zone-4/Result']);
  });

  it('does not replace single items and client series, and says so', async () => {
    posting = await openPosting();
    await posting.write([...zones, { ...zones[2]!, metric: 'Result' }]);
    await posting.run([item('Mul', { scalar: 2 }, ['zone-1'], 'zone-1')]);
    await posting.run(means);
    const all = await items();
    expect(all.map(({ timeseriesId, pattern }) => [timeseriesId, pattern !== null]).sort()).toEqual([
      ['zone-1', false],
      ['zone-2', true],
      ['zone-{n}', false],
    ]);
    expect(all.find(({ timeseriesId }) => timeseriesId === 'zone-{n}')!.message).toContain(
      'not computed: zone-3/Result',
    );
    expect((await posting.stored(result('zone-1'))).value[3]).toBe(2 * zones[0]!.value[3]!);
  });

  it.each(['', '?keepResults=true'])(
    'has a member for a result whose own item was deleted%s, if no results are left',
    async (query) => {
      posting = await openPosting();
      await posting.write([minutes('zone-1', 10, (i) => i)]);
      const own = item('Abs', {}, ['nothing'], 'zone-1');
      const { transactionIDList } = await posting.run([own]);
      await posting.run([item('Abs', {}, ['zone-{n}'], 'zone-{n}')]);
      const { body } = await posting.call('GET', `/core/status/${(transactionIDList as string[])[0]}`);
      const { Id } = (body.data as { payload: { Id: string } }).payload;
      await posting.call('DELETE', `/core/operations/${Id}${query}`);
      await posting.service.service.worker.onIdle();
      expect([...(await posting.stored(result('zone-1'))).value]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    },
  );

  it('is refused if its results would be sources of their own sources', async () => {
    posting = await openPosting({}, 'acme', 1);
    const step = (from: string, to: string) => [
      {
        metric: to,
        processingType: 'stream',
        operations: [
          {
            operation: 'Abs',
            input: [{ timeseriesId: '{n}', metric: from }],
            output: [{ timeseriesId: '{n}x', metric: to }],
          },
        ],
      },
    ];
    await posting.run(step('A', 'B'));
    await posting.run(step('B', 'C'));
    const { statusCode, body } = await posting.call('POST', '/operations', step('C', 'A'));
    expect(statusCode).toBe(409);
    expect(body.status.message).toContain('{n}x/A reads {n}x/C reads {n}x/B reads {n}x/A');
  });

  it('replaces the one before it, with all its members', async () => {
    posting = await openPosting();
    await posting.write(zones);
    await posting.run(means);
    const highest = [item('Aggregate', { function: 'Max', interval: 'Hourly' }, ['zone-{n}'], 'zone-{n}')];
    await posting.run(highest);
    for (const expected of runEvery(planEvery(highest), zones).series) {
      expectSame([await posting.stored(expected)], [expected]);
    }
    expect(await items()).toHaveLength(4);
  });
});
