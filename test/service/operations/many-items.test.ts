import { beforeAll, describe, expect, it, test } from 'vitest';
import { shardOf } from '../../../src/storage/shard.js';
import { logProgress } from '../../../src/storage/tables/samples.js';
import { expectSame } from '../../laws/running.js';
import { item, START_MS } from './posted.js';
import { openRig } from './rig.js';
import { countStatements } from './statements.js';

const idsOf = (seriesCount: number): string[] => Array.from({ length: seriesCount }, (_, i) => `series${i}`);

/** `itemsOfSeries` hourly sums for each of these series. */
const sumsOf = (ids: readonly string[], itemsOfSeries = 1) =>
  ids.flatMap((id) =>
    Array.from({ length: itemsOfSeries }, (_, i) =>
      item('Aggregate', { function: 'Sum', interval: 'Hourly' }, [id], `${id} hourly ${i}`),
    ),
  );

/** A sample at the given minute for each of these series. */
const changesOf = (ids: readonly string[], minute: number) =>
  ids.map((timeseriesId) => ({
    timeseriesId,
    metric: 'Raw',
    timeMs: Float64Array.of(START_MS + 60_000 * minute),
    value: Float64Array.of(minute),
  }));

/**
 * Registers `itemsOfSeries` items for each of `seriesCount` series, then writes bodies with a sample for each series.
 */
async function runMany(seriesCount: number, itemsOfSeries: number) {
  // Statements are counted in one shard, so the organisation has one.
  // The clock stands still: with any other length a turn would never end.
  const rig = await openRig({ groups: 1, sizes: { turnMs: 0 } });
  try {
    const { context, organisation } = rig;
    const shard = shardOf(organisation);
    const ids = idsOf(seriesCount);
    const write = (minute: number) =>
      context.storage.transaction(shard, async (tx) => {
        await context.samples.append(tx, organisation, changesOf(ids, minute));
        rig.worker().wake(shard);
      });
    await write(0);
    await rig.register(sumsOf(ids, itemsOfSeries));
    await rig.worker().onIdle();
    const asked = countStatements(rig);
    for (const minute of [10, 70]) {
      await write(minute);
      await rig.worker().onIdle();
    }
    asked.stop();
    const { expected, found } = await rig.compare();
    expectSame(found, expected);
    const statementCount = [...asked.counts.values()].reduce((sum, count) => sum + count, 0);
    return { ...asked, statementCount };
  } finally {
    await rig.close();
  }
}

describe.each([
  ['a body with a sample for each of many series that an item reads', (count: number) => runMany(count, 1)],
  ['a sample of one series that many items read', (count: number) => runMany(1, count)],
])('%s', (_, run) => {
  let few: Awaited<ReturnType<typeof runMany>>;
  let many: Awaited<ReturnType<typeof runMany>>;
  beforeAll(async () => {
    few = await run(200);
    many = await run(800);
  });

  it('asks the store as much per item, however many there are', () => {
    expect(many.statementCount).toBeLessThanOrEqual(4.2 * few.statementCount);
    // The items that read the results are looked up for 250 results at once.
    expect(many.counts.get('find item_sources') ?? 0).toBeLessThanOrEqual(5);
  });

  it('yields to other work while the items are processed', () => {
    expect(many.mostInTurn).toBeLessThanOrEqual(1.5 * few.mostInTurn);
  });
});

it('a body that creates thousands of series yields to other work', async () => {
  const mostOf = async (seriesCount: number): Promise<number> => {
    const rig = await openRig({ groups: 1 });
    try {
      const { context, organisation } = rig;
      const asked = countStatements(rig);
      const changes = Array.from({ length: seriesCount }, (_, i) => ({
        timeseriesId: `series ${i}`,
        metric: 'Raw',
        timeMs: Float64Array.of(START_MS),
        value: Float64Array.of(i),
      }));
      await context.storage.transaction(shardOf(organisation), (tx) =>
        context.samples.append(tx, organisation, changes),
      );
      asked.stop();
      return asked.mostInTurn;
    } finally {
      await rig.close();
    }
  };
  expect(await mostOf(4000)).toBeLessThanOrEqual(1.5 * (await mostOf(1000)));
});

test.each([
  ['items process a body of 60 series', 60, 60, 1],
  ['items process a sample of one series', 1, 1, 60],
  ['the readers of 2000 series are looked up, of which one has any,', 2000, 1, 1],
])('a write that arrives while %s does not wait for all of them', async (_, seriesCount, readCount, itemsOfSeries) => {
  const rig = await openRig({ groups: 1, sizes: { workPerTransaction: 10 } });
  try {
    const { context, organisation } = rig;
    const shard = shardOf(organisation);
    const ids = idsOf(seriesCount);
    const write = (written: readonly string[], minute: number) =>
      context.storage.transaction(shard, async (tx) => {
        await context.samples.append(tx, organisation, changesOf(written, minute));
        rig.worker().wake(shard);
        return tx.commit;
      });
    const takenIn = async (): Promise<number> => {
      const progress = await context.storage.read(shard, (tx) => tx.get(logProgress, { name: 'log' }));
      return progress!.absorbedCommit;
    };
    await write(ids, 0);
    await rig.register(sumsOf(ids.slice(-readCount), itemsOfSeries));
    await rig.worker().onIdle();
    for (const minute of [10, 70, 130]) {
      const commit = await write(ids, minute);
      await write(['aside'], minute);
      expect(await takenIn()).toBeLessThan(commit);
      // Written while the body is being processed, for an item not yet processed and one that may be.
      await write([ids[0]!, ids.at(-1)!], minute + 1);
      expect(await takenIn()).toBeLessThan(commit);
      await rig.worker().onIdle();
      expect(await takenIn()).toBeGreaterThan(commit);
      const { expected, found } = await rig.compare();
      expectSame(found, expected);
    }
  } finally {
    await rig.close();
  }
});

test('items catch up with writers that write more each time than one transaction processes', async () => {
  const rig = await openRig({ groups: 1, sizes: { workPerTransaction: 5 } });
  try {
    const { context, organisation } = rig;
    const { storage } = context;
    const shard = shardOf(organisation);
    const ids = idsOf(10);
    const transaction = storage.transaction.bind(storage);
    const write = (minute: number) =>
      transaction(shard, async (tx) => {
        await context.samples.append(tx, organisation, changesOf(ids, minute));
      });
    await write(0);
    await rig.register(sumsOf(ids));
    await rig.worker().onIdle();
    const WRITES_MAX = 300;
    let writeCount = 0;
    storage.transaction = async (shard, work, options) => {
      if (options?.claim !== undefined && writeCount < WRITES_MAX) await write(++writeCount);
      return transaction(shard, work, options);
    };
    rig.worker().wake(shard);
    await rig.worker().onIdle();
    expect(writeCount).toBeGreaterThan(3);
    expect(writeCount).toBeLessThan(WRITES_MAX);
    storage.transaction = transaction;
    rig.worker().wake(shard);
    await rig.worker().onIdle();
    const { expected, found } = await rig.compare();
    expectSame(found, expected);
  } finally {
    await rig.close();
  }
});
