import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type SeriesReference, seriesKey } from '../../../src/core/series.js';
import { ServiceError } from '../../../src/service/http/errors.js';
import { changeItems, registerItems } from '../../../src/service/operations/register.js';
import { type ItemDefinition, readOperations } from '../../../src/service/operations/request.js';
import { itemSources, items, itemWork, replicas, requestTransactions } from '../../../src/storage/tables/operations.js';
import { series } from '../../../src/storage/tables/samples.js';
import { expectSame } from '../../laws/running.js';
import { minutes, START_MS } from './posted.js';
import { drawnSizes, openRig, type Rig } from './rig.js';
import { countStatements } from './statements.js';

const nameOf = (output: number): SeriesReference =>
  output < 6 ? { timeseriesId: `o${output}`, metric: 'Result' } : { timeseriesId: 'zone-1', metric: `Result${output}` };
const zoned = (metric: string) => ({ timeseriesId: 'zone-{n}', metric });
const OUTPUTS = 9;
const RAW = [0, 1, 2].map((i) => ({ timeseriesId: `zone-${i}`, metric: 'Raw' }));

interface Draft {
  readonly output: number;
  /** Raw series, and results behind them. */
  readonly inputs: readonly number[];
  readonly scalar: number;
  readonly kind: string;
}

const draft: fc.Arbitrary<Draft> = fc.record({
  output: fc.nat(OUTPUTS - 1),
  inputs: fc.uniqueArray(fc.nat(RAW.length + OUTPUTS - 1), { minLength: 1, maxLength: 2 }),
  scalar: fc.integer({ min: 2, max: 3 }),
  // None that computes once, as what that finds depends on when its sources are computed.
  kind: fc.constantFrom('stream', 'stream', 'PT1H'),
});

function postedOf({ output, inputs, scalar, kind }: Draft) {
  const input = inputs.map((at) => RAW[at] ?? nameOf(at - RAW.length));
  const [operation, parameters] = inputs.length === 2 ? ['Add', { align: 'hold' }] : ['Mul', { scalar }];
  const { metric } = nameOf(output);
  const processing = kind === 'stream' ? { processingType: kind } : { processingType: 'Batch', frequency: kind };
  const step = { operation, input, output: [nameOf(output)], parameters };
  return { metric, ...processing, operations: [step] };
}

/** Items that fill whole slices. */
const plain = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    metric: 'Plain',
    processingType: 'stream',
    operations: [
      {
        operation: 'Mul',
        input: [RAW[i % 3]],
        output: [{ timeseriesId: `plain${i}`, metric: 'Plain' }],
        parameters: { scalar: 2 },
      },
    ],
  }));

const ofPattern = (scalar: number) => ({
  metric: 'Result7',
  processingType: 'stream',
  operations: [{ operation: 'Mul', input: [zoned('Raw')], output: [zoned('Result7')], parameters: { scalar } }],
});

const world = fc.record({
  before: fc.array(draft, { maxLength: 6 }),
  /** Results that clients have written. */
  written: fc.uniqueArray(fc.nat(OUTPUTS - 1), { maxLength: 1 }),
  request: fc.uniqueArray(draft, { minLength: 1, maxLength: OUTPUTS, selector: ({ output }) => output }),
  plainCount: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 60),
  patterns: fc.constantFrom('none', 'none', 'before', 'posted', 'both'),
  isIdle: fc.boolean(),
  sizes: drawnSizes,
  groups: fc.constantFrom(1, 4),
  seed: fc.nat(),
});
type World = typeof world extends fc.Arbitrary<infer Of> ? Of : never;

async function prepared({ before, written, patterns, isIdle, sizes, groups }: World): Promise<Rig> {
  const rig = await openRig({ nowMs: START_MS + 40 * 60_000, groups, ...sizes });
  for (const raw of RAW) await rig.append({ ...minutes(raw.timeseriesId, 30, (i) => i), ...raw });
  for (const one of before) await rig.register([postedOf(one)], isIdle).catch(ignoreRefusal);
  if (patterns === 'before' || patterns === 'both') await rig.register([ofPattern(2)], isIdle).catch(ignoreRefusal);
  if (isIdle) await rig.worker().onIdle();
  for (const output of written) {
    await rig.append({ ...minutes('', 3, (i) => i), ...nameOf(output) }).catch(() => {}); // the result of an item
  }
  // What registering leaves is compared before a worker begins on it.
  await rig.worker().stop();
  return rig;
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Error && /cycle|wait for each other|reads itself|clients have written/.test(error.message))) {
    throw error;
  }
}

/** All that registering has left, without ids; the same, whatever requests the items came in. */
async function stored({ context, organisation }: Rig) {
  const placement = await context.placements.of(organisation);
  const { shards } = placement;
  const parts = await Promise.all(
    shards.map((shard) =>
      context.storage.read(shard, async (tx) => {
        const rows = await tx.find(items);
        const named = new Map(rows.map((row) => [row.itemId, seriesKey(row)]));
        const nameOfItem = (itemId: string | null) => named.get(itemId ?? '') ?? null;
        const all = await tx.find(requestTransactions);
        const ids = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
        return {
          items: rows.map(({ itemId, transactionId, createdMs, updatedMs, ...row }) => {
            const own = all.find((one) => one.transactionId === transactionId);
            return { ...row, action: own?.requestAction, ownState: own?.state, hasParent: own?.parentId !== null };
          }),
          sources: (await tx.find(itemSources)).map(({ itemId, ...row }) => ({ ...row, of: nameOfItem(itemId) })),
          work: (await tx.find(itemWork)).map(({ itemId, ...row }) => ({ ...row, of: nameOfItem(itemId) })),
          // Not replicas: one that an item read until now, and another reads from now on, may be kept or copied anew.
          series: (await tx.find(series))
            .filter(({ timeseriesId }) => placement.shardOf(timeseriesId) === shard)
            .map(({ timeseriesId, metric, itemId }) => ({ timeseriesId, metric, of: nameOfItem(itemId) })),
          replicas: (await tx.find(replicas)).map(({ itemId, ...row }) => row.timeseriesId + row.metric),
          transactions: all
            .filter(({ itemId, childStates }) => itemId !== null && childStates === null)
            .map(({ requestAction, state, message, payload }) =>
              [requestAction, state, message, payload].join(' ').replaceAll(ids, 'id'),
            ),
        };
      }),
    ),
  );
  const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
  return parts.map((part) => Object.fromEntries(Object.entries(part).map(([name, rows]) => [name, sorted(rows)])));
}

async function registerAll({ context, organisation }: Rig, definitions: readonly ItemDefinition[]): Promise<void> {
  const principal = { clientId: 'client', username: null, organisation, scopes: new Set(['core_write']) };
  const registration = { principal, correlationId: 'test', receivedMs: START_MS };
  await changeItems(context, organisation, (over) => registerItems(context, over, registration, definitions));
}

/** What registered items read, by the name of their result. */
async function sourcesOf({ context, organisation }: Rig): Promise<Map<string, readonly SeriesReference[]>> {
  const { shards } = await context.placements.of(organisation);
  const found = new Map<string, SeriesReference[]>();
  for (const shard of shards) {
    await context.storage.read(shard, async (tx) => {
      const rows = await tx.find(items);
      const named = new Map(rows.map((row) => [row.itemId, seriesKey(row)]));
      for (const row of rows) found.set(seriesKey(row), []);
      for (const { itemId, ...source } of await tx.find(itemSources)) found.get(named.get(itemId)!)!.push(source);
    });
  }
  return found;
}

/** The definitions in an order in which each comes after those that it depends on; undefined if there is none. */
function inOrder(
  definitions: readonly ItemDefinition[],
  before: ReadonlyMap<string, readonly SeriesReference[]>,
): readonly ItemDefinition[] | undefined {
  const all = new Map(before);
  for (const { output, plan } of definitions) all.set(seriesKey(output), plan.sources);
  const left = new Map(all);
  const order: string[] = [];
  for (let count = -1; count !== left.size; ) {
    count = left.size;
    for (const [name, sources] of left) {
      if (sources.some((source) => left.has(seriesKey(source)))) continue;
      left.delete(name);
      order.push(name);
    }
  }
  if (left.size > 0) return undefined;
  const place = new Map(order.map((name, at) => [name, at]));
  const placeOf = ({ output }: ItemDefinition) => place.get(seriesKey(output))!;
  return [...definitions].sort((a, b) => placeOf(a) - placeOf(b));
}

const refusalOf = (work: Promise<unknown>): Promise<ServiceError | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ServiceError) return error;
      throw error;
    },
  );

async function expectAsOneByOne(one: World): Promise<void> {
  const { request, plainCount, patterns, seed } = one;
  const posted: object[] = [...request.map(postedOf), ...plain(plainCount)];
  if (patterns === 'posted' || patterns === 'both') posted.splice(seed % (posted.length + 1), 0, ofPattern(3));
  const planned = await readOperations(posted).catch(() => undefined);
  // The plan refuses cycles within a request.
  fc.pre(planned !== undefined);
  const { definitions } = planned!;
  const together = await prepared(one);
  const apart = await prepared(one);
  try {
    const before = await stored(together);
    expect(await stored(apart)).toEqual(before);
    const sources = await sourcesOf(together);
    const written = one.written.map(nameOf).filter((name) => !sources.has(seriesKey(name)));
    const taken = definitions.find(({ output }) => written.some((name) => seriesKey(name) === seriesKey(output)));
    const ordered = inOrder(definitions, sources);
    const refusal = await refusalOf(registerAll(together, definitions));
    if (taken !== undefined || ordered === undefined) {
      expect(refusal?.statusCode).toBe(409);
      const cycle = (refusal!.details as { cycle?: readonly SeriesReference[] }).cycle; // `as`: told in its details
      if (taken !== undefined) expect(refusal!.message).toContain(`${taken.output.timeseriesId}`);
      else expectCycle(cycle!, definitions, sources);
      expect(await stored(together)).toEqual(before);
      return;
    }
    expect(refusal).toBeUndefined();
    // A pattern ends members, so what comes before it and after it differ.
    const hasPattern = definitions.some(({ plan }) => plan.every !== undefined);
    for (const definition of hasPattern ? definitions : ordered) {
      const refused = await refusalOf(registerAll(apart, [definition]));
      // In this order an item may still read what the next one no longer does.
      if (hasPattern && refused !== undefined) return;
      expect(refused).toBeUndefined();
    }
    expect(await stored(together)).toEqual(await stored(apart));
    for (const rig of [together, apart]) {
      await rig.restart();
      await rig.worker().onIdle();
      const { expected, found } = await rig.compare();
      expectSame(found, expected);
    }
    expect(await stored(together)).toEqual(await stored(apart));
  } finally {
    await Promise.all([together.close(), apart.close()]);
  }
}

/** Each series of the cycle is the result of an item that reads the next one. */
function expectCycle(
  cycle: readonly SeriesReference[],
  definitions: readonly ItemDefinition[],
  before: ReadonlyMap<string, readonly SeriesReference[]>,
): void {
  const all = new Map(before);
  for (const { output, plan } of definitions) all.set(seriesKey(output), plan.sources);
  expect(cycle.length).toBeGreaterThan(1);
  expect(cycle.at(-1)).toEqual(cycle[0]);
  for (const [index, next] of cycle.slice(1).entries()) {
    expect(all.get(seriesKey(cycle[index]!))?.map(seriesKey)).toContain(seriesKey(next));
  }
}

it('a request registers its items as requests of one item each would, or none of them', async () => {
  await fc.assert(fc.asyncProperty(world, expectAsOneByOne), { numRuns: Number(process.env.WINDROW_RUNS ?? 15) });
});

it('a request with two items of one result is refused as a whole', async () => {
  const rig = await openRig();
  try {
    const [first, ...others] = plain(3);
    const twice = [first, ...others, { ...first, processingType: 'Batch' }];
    await expect(rig.register(twice)).rejects.toMatchObject({ issues: [{ code: 'request.duplicate' }] });
    expect(await rig.items()).toEqual([]);
  } finally {
    await rig.close();
  }
});

const aggregates = (count: number, what: 'own series' | 'one series' | 'results', isBatch: boolean) =>
  Array.from({ length: count }, (_, i) => {
    const timeseriesId = what === 'one series' ? 'shared' : `s${i}`;
    const metric = what === 'one series' ? `Hourly${i}` : 'Hourly';
    const isReader = what === 'results' && i % 5 > 0;
    const source = isReader ? { timeseriesId: `s${i - 1}`, metric: 'Hourly' } : { timeseriesId, metric: 'Raw' };
    const parameters = { function: 'Average', interval: 'Hourly' };
    const output = [{ timeseriesId, metric }];
    return {
      metric,
      ...(isBatch ? { processingType: 'Batch', frequency: 'PT1H' } : { processingType: 'stream' }),
      operations: [{ operation: 'Aggregate', input: [source], output, parameters }],
    };
  });

it.each([
  ['streams', 'own series'],
  ['streams', 'one series'],
  ['streams', 'results'],
  ['batches', 'own series'],
] as const)(
  '%s of a request that read %s are registered, computed and replaced with few statements for each',
  async (kind, what) => {
    const request = aggregates(200, what, kind === 'batches');
    // The next boundary of a batch is stored for each.
    const computedMax = kind === 'batches' ? 100 + 200 : 100;
    const rig = await openRig({ groups: 1 });
    const asked = countStatements(rig);
    try {
      const countOf = async (work: () => Promise<void>): Promise<number> => {
        asked.counts.clear();
        await work();
        return [...asked.counts.values()].reduce((sum, count) => sum + count, 0);
      };
      // Six inserts for each 50 items, and few look-ups.
      expect(await countOf(() => rig.register(request, false))).toBeLessThanOrEqual(45);
      // When polls look again at a shard that had no items.
      rig.advance(10_000);
      // 50 in a transaction, each of which asks some 20 times.
      expect(await countOf(() => rig.worker().onIdle())).toBeLessThanOrEqual(computedMax);
      // A replaced item is put, and its transaction tells which one replaced it.
      expect(await countOf(() => rig.register(request, false))).toBeLessThanOrEqual(80 + 2 * 200);
      expect(await countOf(() => rig.worker().onIdle())).toBeLessThanOrEqual(computedMax);
      expect((await rig.items()).map(({ state, revision }) => `${state} ${revision}`)).toEqual(
        Array.from({ length: 200 }, () => 'Active 2'),
      );
    } finally {
      asked.stop();
      await rig.close();
    }
  },
);
