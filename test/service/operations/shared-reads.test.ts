import { describe, expect, it } from 'vitest';
import { shardOf } from '../../../src/storage/shard.js';
import { expectSame } from '../../laws/running.js';
import { change, item, minutes } from './posted.js';
import { openRig, type RigOptions, smallSizes } from './rig.js';
import { countStatements } from './statements.js';

const room = minutes('room', 200, (i) => (i * 37) % 100);

function readers(count: number) {
  return Array.from({ length: count }, (_, i) =>
    item('Aggregate', { function: 'Average', interval: 'Hourly' }, ['room'], `hourly ${i}`),
  );
}

/** Registers items over a series with history, and counts reads of its segments until all results are stored. */
async function readsOf(itemCount: number, options: RigOptions, isKilled: boolean) {
  const rig = await openRig({ ...options, groups: 1 });
  try {
    await rig.append(change(room, 0, 150));
    await rig.compact();
    if (isKilled) {
      await rig.register(readers(itemCount));
      await rig.worker().onIdle();
      await rig.kill();
      await rig.worker().onIdle();
    }
    const asked = countStatements(rig);
    if (isKilled) await rig.append(change(room, 150, 151));
    else await rig.register(readers(itemCount));
    await rig.worker().onIdle();
    asked.stop();
    const { expected, found } = await rig.compare();
    expectSame(found, expected);
    const { context, organisation } = rig;
    const key = await context.storage.read(shardOf(organisation), (tx) => context.samples.info(tx, organisation, room));
    expect(key?.sampleCount).toBe(isKilled ? 151 : 150);
    return asked;
  } finally {
    await rig.close();
  }
}

const inSlices: RigOptions = { sizes: { ...smallSizes, itemsKept: 1000 } };

describe('a series that many items read', () => {
  it.each([
    ['they are registered over its history', {}, false],
    ['they are registered over its history, which is taken slice after slice', inSlices, false],
    ['a killed process has come back', {}, true],
  ])('is read once for all of them when %s', async (_when, options, isKilled) => {
    const one = await readsOf(1, options, isKilled);
    const many = await readsOf(4, options, isKilled);
    // There are no segments of results yet.
    expect(many.segmentRows).toBe(one.segmentRows);
    expect(one.segmentRows).toBeGreaterThan(0);
  });
});

it('samples cached for all of them are read anew once they change or are evicted', async () => {
  const rig = await openRig(inSlices);
  try {
    await rig.append(change(room, 0, 180));
    await rig.compact();
    await rig.register(readers(3));
    await rig.worker().onIdle();
    const late = change(room, 100, 110);
    await rig.append({ ...late, value: late.value.map((value) => value + 1000) });
    await rig.worker().onIdle();
    await rig.append({ ...change(room, 0, 0), deleted: { fromMs: room.timeMs[20]!, untilMs: room.timeMs[150]! } });
    await rig.worker().onIdle();
    await rig.register(readers(6));
    await rig.worker().onIdle();
    const { expected, found } = await rig.compare();
    expectSame(found, expected);
  } finally {
    await rig.close();
  }
});

it('a restarted worker looks up many items at a time', async () => {
  const rig = await openRig({ groups: 1 });
  try {
    await rig.append(change(room, 0, 100));
    await rig.register(readers(60));
    await rig.worker().onIdle();
    await rig.restart();
    await rig.worker().onIdle();
    const asked = countStatements(rig);
    await rig.append(change(room, 100, 101));
    await rig.worker().onIdle();
    asked.stop();
    const few = ['get items', 'find items', 'get item_work', 'find item_work', 'find item_checkpoints', 'get series'];
    for (const statement of [...few, 'find series', 'get sample_progress']) {
      expect([statement, asked.counts.get(statement) ?? 0]).toEqual([statement, expect.toSatisfy((n) => n <= 6)]);
    }
    // Each continues from its own last checkpoint.
    expect(asked.counts.get('get item_checkpoints')).toBe(60);
    const { expected, found } = await rig.compare();
    expectSame(found, expected);
  } finally {
    await rig.close();
  }
});
