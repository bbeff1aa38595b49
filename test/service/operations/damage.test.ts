import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shardOf } from '../../../src/storage/shard.js';
import { itemCheckpoints, requestTransactions } from '../../../src/storage/tables/operations.js';
import { segments, series } from '../../../src/storage/tables/samples.js';
import { expectSame } from '../../laws/running.js';
import { change, item, minutes } from './posted.js';
import { openRig, type Rig, smallSizes } from './rig.js';

// Bits flip under items: what can be recomputed from stored samples is, the rest is reported, and no item suffers from
// damage to what another one reads.

const room = minutes('room', 400, (i) => (i * 37) % 100);
const hall = minutes('hall', 400, (i) => (i * 11) % 70);
const ofRoom = [item('Aggregate', { function: 'Average', interval: 'Hourly' }, ['room'], 'of room')];
const ofHall = [item('Aggregate', { function: 'Average', interval: 'Hourly' }, ['hall'], 'of hall')];

let rig: Rig;
beforeEach(async () => {
  rig = await openRig({ sizes: { ...smallSizes, itemsKept: 100 }, groups: 1 });
});
afterEach(() => rig.close());

const shard = shardOf('acme');
const read: Rig['context']['storage']['read'] = (...of) => rig.context.storage.read(...of);
const write: Rig['context']['storage']['transaction'] = (...of) => rig.context.storage.transaction(...of);

async function itemTransactions() {
  const rows = await read(shard, (tx) => tx.find(requestTransactions, { where: [['messageType', '=', 'Item']] }));
  return new Map(rows.map((row) => [JSON.parse(row.payload).TimeseriesId as string, row]));
}

async function expectBatch(): Promise<void> {
  const { expected, found } = await rig.compare();
  expectSame(found, expected);
  expect(found.every(({ timeMs }) => timeMs.length > 0)).toBe(true);
}

function flipped(bytes: Uint8Array): Uint8Array {
  const changed = bytes.slice();
  changed[changed.length >> 1]! ^= 0x10;
  return changed;
}

describe('a damaged checkpoint', () => {
  it.each([
    ['its state', ({ state }: { state: Uint8Array }) => ({ state: flipped(state) })],
    ['its positions', () => ({ positions: JSON.stringify([room.timeMs[230]]) })],
    ['its last result', ({ emittedMs }: { emittedMs: number | null }) => ({ emittedMs: (emittedMs ?? 0) + 3_600_000 })],
    ['all of them', ({ state }: { state: Uint8Array }) => ({ state: flipped(state) }), true],
  ])('is recomputed, and does not count as a failure of the item: %s', async (_, damage, isOfAll = false) => {
    await rig.register(ofRoom);
    for (let at = 0; at < 200; at += 20) await rig.append(change(room, at, at + 20));
    await rig.worker().onIdle();
    await rig.restart();
    const rows = await read(shard, (tx) => tx.find(itemCheckpoints));
    expect(rows.length).toBeGreaterThan(2);
    for (const row of isOfAll ? rows : rows.slice(-1)) {
      await write(shard, (tx) => tx.update(itemCheckpoints, [['ordinal', '=', row.ordinal]], damage(row as never)));
    }
    await rig.kill();
    await rig.append(change(room, 200, 250));
    await rig.worker().onIdle();
    await expectBatch();
    expect((await itemTransactions()).get('of room')).toMatchObject({ state: 'Active', retryCount: 0, message: null });
    await rig.append(change(room, 250, 300));
    await rig.worker().onIdle();
    await expectBatch();
  });
});

async function damageSegment(timeseriesId: string): Promise<void> {
  await write(shard, async (tx) => {
    const [{ seriesKey } = { seriesKey: -1 }] = await tx.find(series, { where: [['timeseriesId', '=', timeseriesId]] });
    const [row] = await tx.find(segments, { where: [['seriesKey', '=', seriesKey]] });
    await tx.update(segments, [['seriesKey', '=', seriesKey]], { values: flipped(row!.values) });
  });
}

describe('damaged samples', () => {
  it('fail the item that reads them, with their place; others go on; once sent again, they are processed', async () => {
    await rig.append(change(room, 0, 200));
    await rig.append(change(hall, 0, 200));
    await rig.worker().onIdle();
    await rig.compact();
    await damageSegment('room');
    await rig.register([...ofRoom, ...ofHall]);
    for (let retry = 0; retry < 5; retry++) {
      await rig.worker().onIdle();
      rig.advance(60_000);
    }
    expect((await itemTransactions()).get('of room')).toMatchObject({
      state: 'Failed',
      message: expect.stringMatching(
        /^series "room", metric "Raw": 200 stored samples from .* are damaged on the disk/,
      ),
    });
    expect((await itemTransactions()).get('of hall')).toMatchObject({ state: 'Active', retryCount: 0 });
    await rig.append(change(hall, 200, 300));
    await rig.worker().onIdle();
    const found = await rig.stored({ timeseriesId: 'of hall', metric: 'Result' });
    expect(found.timeMs).toHaveLength(5);
    const none = new Float64Array(0);
    const deleted = { fromMs: room.timeMs[0]!, untilMs: room.timeMs[200]! };
    await rig.append({ timeseriesId: 'room', metric: 'Raw', timeMs: none, value: none, deleted });
    await rig.append(change(room, 0, 200));
    await rig.register(ofRoom);
    await rig.worker().onIdle();
    await expectBatch();
  });

  it('of a live item fail that item alone, and the log is processed all the same', async () => {
    await rig.register([...ofRoom, ...ofHall]);
    await rig.append(change(room, 0, 200));
    await rig.append(change(hall, 0, 200));
    await rig.worker().onIdle();
    await rig.compact();
    await damageSegment('room');
    // A late sample makes it recompute everything, from damaged samples.
    await rig.kill();
    await rig.append(change(room, 3, 4));
    await rig.append(change(hall, 200, 300));
    await rig.worker().onIdle();
    expect((await itemTransactions()).get('of room')).toMatchObject({
      state: 'Running',
      message: expect.stringContaining('damaged'),
    });
    expect((await itemTransactions()).get('of hall')).toMatchObject({ state: 'Active', retryCount: 0 });
    expect((await rig.stored({ timeseriesId: 'of hall', metric: 'Result' })).timeMs).toHaveLength(5);
  });

  it('of a result are recomputed when its item is posted again', async () => {
    await rig.register(ofRoom);
    await rig.append(change(room, 0, 400));
    await rig.worker().onIdle();
    await rig.compact();
    await damageSegment('of room');
    await expect(rig.stored({ timeseriesId: 'of room', metric: 'Result' })).rejects.toMatchObject({
      code: 'storage.damaged',
    });
    await rig.register(ofRoom);
    await rig.worker().onIdle();
    await expectBatch();
  });
});
