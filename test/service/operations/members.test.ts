import fc from 'fast-check';
import { expect, it } from 'vitest';
import { groupBy } from '../../../src/core/group.js';
import { deleteItem, endPattern, MEMBERS_PER_TRANSACTION } from '../../../src/service/operations/end.js';
import { changeItems } from '../../../src/service/operations/register.js';
import { ResultSeriesError } from '../../../src/storage/samples/samples.js';
import { equal } from '../../../src/storage/storage.js';
import { requestTransactions } from '../../../src/storage/tables/operations.js';
import { series } from '../../../src/storage/tables/samples.js';
import { expectSame } from '../../laws/running.js';
import { item, START_MS } from './posted.js';
import { drawnSizes, openRig, type Rig, smallSizes } from './rig.js';

// Whatever happens, in whatever order: each series that a pattern matches has a result, equal to one batch over what
// is stored. Members are told here by the shape of the ids below, not by the code that matches patterns.

const ids = ['zone-1', 'zone-10', 'zone-zone-1', 'zone-', 'zone-ü %2F', 'zon-1', 'outside'];
const isZone = (id: string): boolean => id.startsWith('zone-') && id.length > 'zone-'.length;

interface Pattern {
  readonly request: readonly unknown[];
  readonly metric: string;
  readonly reads: string;
  readonly hasMember: (id: string) => boolean;
}

const of = (metric: string, operation: string, parameters: object, from: readonly string[], more?: object) => {
  const [own = '', ...shared] = from;
  const [id = '', reads = ''] = own.split('/');
  const one = item(operation, parameters, [id, ...shared], id, more);
  const [step] = one.operations;
  const input = [{ timeseriesId: id, metric: reads }, ...step!.input.slice(1)];
  const request = [{ ...one, metric, operations: [{ ...step, input, output: [{ timeseriesId: id, metric }] }] }];
  return { request, metric, reads, hasMember: id === '*' ? () => true : isZone };
};

const patterns: readonly Pattern[] = [
  of('Sum', 'Aggregate', { function: 'Sum', interval: 'PT5M' }, ['zone-{n}/Raw']),
  of('Twice', 'Mul', { scalar: 2 }, ['*/Raw']),
  of('Above', 'Sub', { align: 'hold' }, ['zone-{n}/Raw', 'outside']),
  of('Change', 'Difference', {}, ['zone-{n}/Sum']),
  of('Hourly', 'CumulativeSum', {}, ['zone-{n}/Raw'], { processingType: 'batch', frequency: 'PT1H' }),
];

type Action =
  | { readonly kind: 'write' | 'delete'; readonly id: string; readonly from: number; readonly count: number }
  | { readonly kind: 'register'; readonly pattern: number }
  | { readonly kind: 'fail'; readonly count: number; readonly times: number }
  | { readonly kind: 'advance' | 'idle' | 'restart' | 'kill' | 'compact' | 'plain' | 'client' };

const range = { id: fc.constantFrom(...ids), from: fc.nat(90), count: fc.integer({ min: 1, max: 40 }) };
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write'), ...range }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete'), ...range }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('register'), pattern: fc.nat(patterns.length - 1) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('fail'), count: fc.nat(4), times: fc.constantFrom(1, 2, Infinity) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('advance', 'idle', 'restart', 'kill', 'compact', 'plain', 'client'),
    }),
  },
) as fc.Arbitrary<Action>;

/** A transaction of the worker is undone while its next one waits. */
const UNDONE_BEFORE_ANOTHER: Action[] = [
  { kind: 'register', pattern: 1 },
  { kind: 'fail', count: 3, times: 2 },
  { kind: 'plain' },
  { kind: 'write', id: 'zone-1', from: 0, count: 1 },
  { kind: 'register', pattern: 0 },
  { kind: 'delete', id: 'zone-ü %2F', from: 0, count: 1 },
];

/** All that there is of a result which a pattern reads is provisional. */
const PROVISIONAL: Action[] = [
  { kind: 'register', pattern: 3 },
  { kind: 'plain' },
  { kind: 'write', id: 'zone-1', from: 0, count: 1 },
];

it('each series that a pattern matches has the result of one batch, whenever it came, whatever happened', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 4, maxLength: 16 }),
      drawnSizes,
      fc.constantFrom(1, 8),
      async (actions, sizes, groups) => {
        const rig = await openRig({ nowMs: START_MS, groups, ...sizes });
        try {
          const registered = await act(rig, actions);
          await rig.kill();
          await rig.worker().onIdle();
          const { expected, found } = await rig.compare();
          expectSame(found, expected);
          await expectMembers(rig, registered);
        } finally {
          await rig.close();
        }
      },
    ),
    {
      numRuns: Number(process.env.WINDROW_RUNS ?? 25),
      examples: [
        [UNDONE_BEFORE_ANOTHER, { sizes: smallSizes }, 1],
        [PROVISIONAL, {}, 1],
      ],
    },
  );
});

async function act(rig: Rig, actions: readonly Action[]): Promise<ReadonlySet<Pattern>> {
  const registered = new Set<Pattern>();
  for (const [number, one] of actions.entries()) {
    switch (one.kind) {
      case 'write': {
        const timeMs = Float64Array.from({ length: one.count }, (_, i) => START_MS + (one.from + i) * 60_000);
        const value = timeMs.map((_, i) => ((i * 37 + number) % 101) / 10);
        await rig.append({ timeseriesId: one.id, metric: 'Raw', timeMs, value });
        break;
      }
      case 'delete': {
        const none = new Float64Array(0);
        const fromMs = START_MS + one.from * 60_000;
        const deleted = { fromMs, untilMs: fromMs + one.count * 60_000 };
        await rig.append({ timeseriesId: one.id, metric: 'Raw', timeMs: none, value: none, deleted });
        break;
      }
      case 'register': {
        const pattern = patterns[one.pattern]!;
        await rig.register(pattern.request);
        registered.add(pattern);
        break;
      }
      case 'fail':
        rig.failFrom(one.count, one.times);
        break;
      case 'advance':
        rig.advance(40 * 60_000);
        break;
      case 'plain':
        await rig.register(of('Sum', 'Abs', {}, ['zone-1/Raw']).request);
        break;
      case 'client':
        await writeAsClient(rig);
        break;
      case 'idle':
        await rig.worker().onIdle();
        break;
      default:
        await rig[one.kind]();
    }
  }
  return registered;
}

/** Writes a series that may be the result of a member. */
async function writeAsClient(rig: Rig): Promise<void> {
  const change = { timeMs: Float64Array.of(START_MS), value: Float64Array.of(1) };
  try {
    await rig.append({ timeseriesId: 'zone-10', metric: 'Twice', ...change });
  } catch (error) {
    if (!(error instanceof ResultSeriesError)) throw error;
  }
}

async function expectMembers(rig: Rig, registered: ReadonlySet<Pattern>): Promise<void> {
  const { shards } = await rig.context.placements.of(rig.organisation);
  const known = await Promise.all(
    shards.map((shard) =>
      rig.context.storage.read(shard, async (tx) =>
        (await tx.find(series)).filter(({ timeseriesId }) => rig.shardOf(timeseriesId) === shard),
      ),
    ),
  );
  const rows = known.flat();
  const ownerOf = (id: string, metric: string) =>
    rows.find(({ timeseriesId, metric: own }) => timeseriesId === id && own === metric);
  for (const { metric, reads, hasMember } of registered) {
    for (const { timeseriesId: id } of rows.filter((row) => row.metric === reads && hasMember(row.timeseriesId))) {
      const { timeMs } = await rig.stored({ timeseriesId: id, metric: reads });
      if (timeMs.length === 0) continue;
      const result = ownerOf(id, metric);
      const isOfClient = id === 'zone-10' && metric === 'Twice' && result?.itemId === null;
      expect(isOfClient || result?.itemId != null, `${id}/${metric} has an item`).toBe(true);
    }
  }
}

it.each([1, 8])('a pattern has members for results of items that are posted later (%i groups)', async (groups) => {
  const rig = await openRig({ nowMs: START_MS, groups });
  try {
    const actions: Action[] = [
      { kind: 'register', pattern: 3 },
      { kind: 'idle' },
      { kind: 'plain' },
      { kind: 'write', id: 'zone-1', from: 0, count: 9 },
      { kind: 'idle' },
    ];
    await expectMembers(rig, await act(rig, actions));
    expect((await rig.stored({ timeseriesId: 'zone-1', metric: 'Change' })).timeMs).toHaveLength(8);
  } finally {
    await rig.close();
  }
});

it('a member that clients stood in the way of comes when they delete their samples, and the message goes', async () => {
  const rig = await openRig({ nowMs: START_MS });
  try {
    const write = { kind: 'write', id: 'zone-10', from: 0, count: 9 } as const;
    await act(rig, [write, { kind: 'client' }, { kind: 'register', pattern: 1 }, { kind: 'idle' }]);
    expect(await messageOf(rig, '*')).toContain('not computed: zone-10/Twice: the result zone-10/Twice is a series');
    const none = new Float64Array(0);
    const deleted = { fromMs: START_MS, untilMs: START_MS + 1 };
    await rig.append({ timeseriesId: 'zone-10', metric: 'Twice', timeMs: none, value: none, deleted });
    await rig.worker().onIdle();
    expect((await rig.stored({ timeseriesId: 'zone-10', metric: 'Twice' })).timeMs).toHaveLength(9);
    expect(await messageOf(rig, '*')).toBeNull();
  } finally {
    await rig.close();
  }
});

async function messageOf(rig: Rig, timeseriesId: string, at = 'zone-10'): Promise<string | null | undefined> {
  const { transactionId } = (await rig.items()).find((row) => row.timeseriesId === timeseriesId)!;
  const { organisation, context } = rig;
  const row = await context.storage.read(rig.shardOf(at), (tx) =>
    tx.get(requestTransactions, { organisation, transactionId }),
  );
  return row?.message;
}

/** How many members were registered, and results deleted, by each commit. */
async function changesByCommit(rig: Rig): Promise<{ registered: number[]; deleted: number[] }> {
  const { context, organisation } = rig;
  return context.storage.read(rig.shardOf('zone-1'), async (tx) => {
    const children = await tx.find(requestTransactions, { where: equal({ organisation, messageType: 'Item' }) });
    const logged = (await context.samples.changesAfter(tx, 0)).changes;
    const drops = logged.filter(({ metric, deleted }) => metric === 'Sum' && deleted !== undefined);
    const count = (all: readonly { commit: number }[]) => [...groupBy(all, ({ commit }) => commit).values()];
    return {
      registered: count(children).map(({ length }) => length),
      deleted: count(drops).map(({ length }) => length),
    };
  });
}

it('however many members come or go at once, no transaction registers or deletes many of them', async () => {
  const rig = await openRig({ nowMs: START_MS, sizes: { membersPerTransaction: 7 } });
  try {
    const all = Array.from({ length: 130 }, (_, i) => `zone-${i}`);
    const columns = { metric: 'Raw', timeMs: Float64Array.of(START_MS), value: Float64Array.of(1) };
    const { request } = patterns[0]!;
    await rig.register(request);
    await rig.worker().onIdle();
    const body = all.map((timeseriesId) => ({ timeseriesId, ...columns }));
    const shard = rig.shardOf('zone-1');
    await rig.context.storage.transaction(shard, (tx) => rig.context.samples.append(tx, rig.organisation, body));
    rig.worker().wake(shard);
    await rig.worker().onIdle();
    expect(await rig.items()).toHaveLength(1 + all.length);
    // Posted again, all members go on; with another plan they go, and come again.
    const idsOf = async () => {
      const members = (await rig.items()).filter(({ timeseriesId }) => timeseriesId !== 'zone-{n}');
      return members.map(({ itemId }) => itemId);
    };
    const kept = await idsOf();
    const other = of('Sum', 'Aggregate', { function: 'Max', interval: 'PT5M' }, ['zone-{n}/Raw']);
    for (const again of [request, other.request]) {
      await rig.register(again);
      await rig.kill();
      await rig.worker().onIdle();
      const { expected, found } = await rig.compare();
      expect(found).toHaveLength(all.length);
      expectSame(found, expected);
      const ids = await idsOf();
      expect(ids.filter((itemId) => kept.includes(itemId))).toHaveLength(again === request ? all.length : 0);
    }
    const pattern = (await rig.items()).find(({ timeseriesId }) => timeseriesId === 'zone-{n}')!;
    await changeItems(rig.context, rig.organisation, async (over) => {
      await endPattern(rig.context, over.at('zone-1'), pattern, { areResultsKept: false, memberRoom: 7 });
    });
    await rig.kill();
    await rig.worker().onIdle();
    expect(await rig.items()).toEqual([]);
    const { registered, deleted } = await changesByCommit(rig);
    // At once, a request that replaces a pattern takes over or deletes some.
    expect(registered.filter((count) => count > 7)).toEqual([1 + MEMBERS_PER_TRANSACTION]);
    expect(Math.max(...deleted)).toBeLessThanOrEqual(MEMBERS_PER_TRANSACTION);
    expect(deleted.reduce((sum, count) => sum + count, 0)).toBe(2 * all.length);
    const { transactionId } = pattern;
    const { organisation, context } = rig;
    const ended = await context.storage.read(rig.shardOf('zone-1'), (tx) =>
      tx.get(requestTransactions, { organisation, transactionId }),
    );
    expect(ended).toMatchObject({ state: 'Completed', message: 'the item was deleted' });
  } finally {
    await rig.close();
  }
});

it('members come while more and more series appear than one transaction registers', async () => {
  const rig = await openRig({ nowMs: START_MS, sizes: { membersPerTransaction: 2, seriesPerTransaction: 20 } });
  try {
    const columns = { metric: 'Raw', timeMs: Float64Array.of(START_MS), value: Float64Array.of(1) };
    let seriesCount = 0;
    const body = (count: number) =>
      Array.from({ length: count }, () => ({ timeseriesId: `zone-${1000 + seriesCount++}`, ...columns }));
    const shard = rig.shardOf('zone-1');
    const write = (count: number) =>
      rig.context.storage.transaction(shard, (tx) => rig.context.samples.append(tx, rig.organisation, body(count)));
    await write(200);
    await rig.register(patterns[0]!.request);
    await rig.worker().onIdle();
    const BODIES = 40;
    let transactionCount = 0;
    let missingCount = 0;
    rig.beforeTransactions(async () => {
      if (transactionCount++ % 20 > 0 || transactionCount > 20 * BODIES) return;
      missingCount = 1 + seriesCount - (await rig.items()).length;
      await write(4);
    });
    await write(4);
    rig.worker().wake(shard);
    await rig.worker().onIdle();
    expect(seriesCount).toBe(204 + 4 * BODIES);
    expect(missingCount).toBeLessThan(20);
    expect(await rig.items()).toHaveLength(1 + seriesCount);
  } finally {
    await rig.close();
  }
});

// Anybody with `core_write` may write such a series; once, it stopped the computing of its whole shard.
it('series whose ids look like patterns have no member, and hinder no other', async () => {
  const rig = await openRig({ nowMs: START_MS });
  try {
    const write = (id: string) => ({ kind: 'write', id, from: 0, count: 9 }) as const;
    const odd = ['zone-*', 'zone-{n}', 'zone-{m}', 'zone-{a}{b}'];
    await act(rig, [{ kind: 'register', pattern: 0 }, ...odd.map(write), write('zone-1'), { kind: 'idle' }]);
    const none = new Float64Array(0);
    const deleted = { fromMs: START_MS, untilMs: START_MS + 1 };
    await rig.append({ timeseriesId: 'zone-*', metric: 'Sum', timeMs: none, value: none, deleted });
    await act(rig, [{ kind: 'restart' }, write('zone-10'), { kind: 'idle' }]);
    expect([...new Set((await rig.items()).map(({ timeseriesId }) => timeseriesId))].sort()).toEqual([
      'zone-1',
      'zone-10',
      'zone-{n}',
    ]);
    const { expected, found } = await rig.compare();
    expectSame(found, expected);
    const reason = 'with the name filled in, an id would itself be a pattern, or have a `*`';
    const lines = ['*', '{a}{b}', '{m}', '{n}'].map((part) => `not computed: zone-${part}/Sum: ${reason}`);
    expect(await messageOf(rig, 'zone-{n}', 'zone-*')).toBe(lines.join('\n'));
  } finally {
    await rig.close();
  }
});

it('a member takes the place of an item that is deleted', async () => {
  const rig = await openRig({ nowMs: START_MS });
  try {
    const write = { kind: 'write', id: 'zone-1', from: 0, count: 9 } as const;
    await act(rig, [write, { kind: 'plain' }, { kind: 'register', pattern: 0 }, { kind: 'idle' }]);
    const plain = (await rig.items()).find(({ timeseriesId }) => timeseriesId === 'zone-1')!;
    await changeItems(rig.context, rig.organisation, (over) =>
      deleteItem(rig.context, over.at('zone-1'), plain, false),
    );
    rig.worker().wake(rig.shardOf('zone-1'), true);
    await rig.worker().onIdle();
    expect((await rig.stored({ timeseriesId: 'zone-1', metric: 'Sum' })).timeMs).toHaveLength(2);
  } finally {
    await rig.close();
  }
});
