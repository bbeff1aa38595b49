import { groupBy } from '../../core/group.js';
import { canMeet } from '../../core/pattern.js';
import { type SeriesReference, seriesKey, seriesName } from '../../core/series.js';
import { countWork, inTurns, nextTurn } from '../../storage/next-turn.js';
import type { SampleStore } from '../../storage/samples/store.js';
import { equal, type Reader } from '../../storage/storage.js';
import { EVERY_SERIES, type ItemRow, itemHeads, itemSources, items } from '../../storage/tables/operations.js';
import { series } from '../../storage/tables/samples.js';
import { ServiceError } from '../http/errors.js';
import { type ItemDefinition, isPattern, storedPattern } from './request.js';
import { sourcesOf } from './sources.js';

/** The item that a series is the result of. */
export async function itemOfResult(
  tx: Reader,
  organisation: string,
  { timeseriesId, metric }: SeriesReference,
): Promise<ItemRow | undefined> {
  // By two primary keys: for the result, SQLite would read all items of the organisation.
  const result = await tx.get(series, { organisation, timeseriesId, metric });
  return result?.itemId == null ? undefined : tx.get(items, { organisation, itemId: result.itemId });
}

/** The items that series are the results of, by the name of the series. */
export async function itemsOfResults(
  tx: Reader,
  samples: SampleStore,
  organisation: string,
  results: readonly SeriesReference[],
): Promise<ReadonlyMap<string, ItemRow>> {
  const rows = await samples.lookUp(tx, organisation, results);
  const itemIds = [...rows.values()].flatMap(({ itemId }) => itemId ?? []);
  if (itemIds.length === 0) return new Map();
  const found = await tx.find(items, { where: [...equal({ organisation }), ['itemId', 'in', itemIds]] });
  const byId = new Map(found.map((item) => [item.itemId, item]));
  return new Map(
    [...rows].flatMap(([name, { itemId }]) => {
      const item = itemId === null ? undefined : byId.get(itemId);
      return item === undefined ? [] : [[name, item] as const];
    }),
  );
}

/** Where to look for the items of an organisation. */
export interface ItemScope {
  readonly organisation: string;
  readonly samples: SampleStore;
  /**
   * Whether its items lie in several shards: then cycles through members are checked here, not when the members
   * appear.
   */
  readonly isSpread: boolean;
  /** The number of the shard of the series with this id. */
  readonly shardOf: (timeseriesId: string) => number;
  /** Reads in a shard of the organisation. */
  readonly readIn: <Result>(shard: number, work: (tx: Reader) => Promise<Result>) => Promise<Result>;
  /** Runs work whose reads see one state, if all are in one shard: each read alone would wait for earlier writers. */
  readonly readTogether: (work: (scope: ItemScope) => Promise<void>) => Promise<void>;
}

/** Reads of many series, in the shard of each, several series at a time; yields in between. */
async function forEachShard(
  { readTogether }: ItemScope,
  all: readonly SeriesReference[],
  work: (tx: Reader, some: readonly SeriesReference[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < all.length; from += SERIES_READ) {
    if (from > 0) await nextTurn();
    await readTogether(async ({ shardOf, readIn }) => {
      const byShard = groupBy(all.slice(from, from + SERIES_READ), ({ timeseriesId }) => shardOf(timeseriesId));
      for (const [shard, some] of byShard) await readIn(shard, (tx) => work(tx, some));
    });
  }
}

/** In one statement, which others wait for. */
const SERIES_READ = 250;

type Definition = Pick<ItemDefinition, 'output' | 'plan'>;

/**
 * Rejects results that clients write themselves, and items that would wait for each other.
 *
 * @throws ServiceError 409
 */
export async function checkConflicts(scope: ItemScope, all: readonly Definition[]): Promise<void> {
  // Each member of a pattern is checked when it appears.
  const outputs = all.filter(({ plan }) => plan.every === undefined).map(({ output }) => output);
  await checkResults(scope, outputs);
  const posted = all.filter(({ plan }) => plan.every !== undefined);
  const patterns = scope.isSpread || posted.length > 0 ? await findPatterns(scope, posted) : [];
  const cycle = (await findCycle(scope, all, scope.isSpread ? patterns : [])) ?? findPatternCycle(posted, patterns);
  if (cycle === undefined) return;
  const names = cycle.map(seriesName).join(' reads ');
  throw new ServiceError(409, `the items would wait for each other in a cycle: ${names}`, { details: { cycle } });
}

async function checkResults(scope: ItemScope, outputs: readonly SeriesReference[]): Promise<void> {
  const { samples, organisation } = scope;
  const written = new Set<string>();
  await forEachShard(scope, outputs, async (tx, some) => {
    for (const [name, row] of await samples.lookUp(tx, organisation, some)) {
      if (row.itemId !== null) continue;
      const info = await samples.info(tx, organisation, row);
      if (info!.sampleCount > 0) written.add(name);
    }
  });
  const output = outputs.find((one) => written.has(seriesKey(one)));
  if (output === undefined) return;
  const mend = 'choose another metric, or delete its samples first';
  throw new ServiceError(409, `the result ${seriesName(output)} is a series that clients have written; ${mend}`, {
    details: { series: output },
  });
}

/**
 * Results that depend on each other in a cycle; the first one is repeated at the end.
 *
 * @param patterns whose members count as if they existed.
 */
async function findCycle(
  scope: ItemScope,
  definitions: readonly Definition[],
  patterns: readonly Definition[],
): Promise<readonly SeriesReference[] | undefined> {
  const sourcesOf = new Map(definitions.map(({ output, plan }) => [seriesKey(output), plan.sources]));
  // A member reads series of its own id, whose items are checked with them, and those that all members share.
  const starts = definitions.flatMap(({ output, plan }) =>
    plan.every === undefined ? [output] : patterns.length === 0 ? [] : plan.sources.filter(isPlain),
  );
  await readSources(scope, starts, sourcesOf, patterns);
  const counted = countWork(SEARCHED_PER_TURN);
  const done = new Set<string>();
  for (const start of starts) {
    // The way to the series whose sources are searched; of each, the sources that are left, the next one last.
    const path: { readonly series: SeriesReference; readonly key: string; readonly left: SeriesReference[] }[] = [];
    const onPath = new Set<string>();
    for (let next: SeriesReference | undefined = start; next !== undefined || path.length > 0; ) {
      const key: string = next === undefined ? '' : seriesKey(next);
      if (next === undefined) {
        const { key: ended } = path.pop()!;
        onPath.delete(ended);
        done.add(ended);
      } else if (onPath.has(key)) {
        const from = path.findIndex((one) => one.key === key);
        return [...path.slice(from).map(({ series }) => series), next];
      } else if (!done.has(key)) {
        path.push({ series: next, key, left: [...(sourcesOf.get(key) ?? [])] });
        onPath.add(key);
      }
      next = path.at(-1)?.left.pop();
      await counted(1);
    }
  }
  return undefined;
}

/** How many series to look at before other requests are answered. */
const SEARCHED_PER_TURN = 2000;

function isPlain(series: SeriesReference): boolean {
  return !isPattern(series);
}

/** Adds the sources of all series that these depend on and that are not known, level by level, many at once. */
async function readSources(
  scope: ItemScope,
  starts: readonly SeriesReference[],
  sourcesOf: Map<string, readonly SeriesReference[]>,
  patterns: readonly Definition[],
): Promise<void> {
  const reached = new Set<string>();
  const notReached = (some: readonly SeriesReference[]): SeriesReference[] =>
    some.filter((one) => {
      const key = seriesKey(one);
      const isNew = !reached.has(key);
      reached.add(key);
      return isNew;
    });
  for (let level = notReached(starts); level.length > 0; ) {
    const unknown = level.filter((one) => !sourcesOf.has(seriesKey(one)));
    await forEachShard(scope, unknown, async (tx, some) => {
      const stored = await storedSources(tx, scope, some);
      for (const one of some) {
        const key = seriesKey(one);
        sourcesOf.set(key, stored.get(key) ?? memberSources(patterns, one));
      }
    });
    const next: SeriesReference[] = [];
    for await (const one of inTurns(level, SEARCHED_PER_TURN)) next.push(...notReached(sourcesOf.get(seriesKey(one))!));
    level = next;
  }
}

/** The sources of the stored items whose results these series are, by the name of the result. */
async function storedSources(
  tx: Reader,
  { samples, organisation }: ItemScope,
  results: readonly SeriesReference[],
): Promise<ReadonlyMap<string, readonly SeriesReference[]>> {
  const rows = await samples.lookUp(tx, organisation, results);
  const names = new Map([...rows].flatMap(([name, { itemId }]) => (itemId === null ? [] : [[itemId, name]])));
  if (names.size === 0) return new Map();
  const itemIds = [...names.keys()];
  const found = await tx.find(itemHeads, { where: [...equal({ organisation }), ['itemId', 'in', itemIds]] });
  const sources = new Map<string, SeriesReference[]>(found.map(({ itemId }) => [names.get(itemId)!, []]));
  for (const { itemId, timeseriesId, metric } of await sourcesOf(tx, organisation, itemIds)) {
    sources.get(names.get(itemId)!)?.push({ timeseriesId, metric });
  }
  return sources;
}

/** What those members of patterns read that would have this result. */
function memberSources(patterns: readonly Definition[], result: SeriesReference): readonly SeriesReference[] {
  const { timeseriesId } = result;
  const makers = patterns.filter(
    ({ output }) => output.metric === result.metric && canMeet(output.timeseriesId, timeseriesId),
  );
  return makers.flatMap(({ plan }) =>
    plan.sources.map((source) => (isPattern(source) ? { timeseriesId, metric: source.metric } : source)),
  );
}

/** The posted patterns, and the registered ones that they do not replace. */
async function findPatterns(
  { readIn, shardOf, organisation }: ItemScope,
  posted: readonly Definition[],
): Promise<readonly Definition[]> {
  const patterns = new Map(posted.map((one) => [seriesKey(one.output), one]));
  // Every shard has them.
  await readIn(shardOf(''), async (tx) => {
    const ofPatterns = await tx.find(itemSources, { where: equal({ organisation, ...EVERY_SERIES }) });
    const itemIds = ofPatterns.map(({ itemId }) => itemId);
    for (const row of await tx.find(items, { where: [...equal({ organisation }), ['itemId', 'in', itemIds]] })) {
      if (patterns.has(seriesKey(row))) continue;
      const definition = storedPattern(row.request);
      if (definition !== undefined) patterns.set(seriesKey(row), definition);
    }
  });
  return [...patterns.values()];
}

/** Patterns whose results match each other's sources in a cycle: members would be created without end. */
function findPatternCycle(
  posted: readonly Definition[],
  patterns: readonly Definition[],
): readonly SeriesReference[] | undefined {
  const makersOf = ({ plan }: Definition) =>
    patterns.filter(({ output }) =>
      plan.sources.some(
        ({ timeseriesId, metric }) => metric === output.metric && canMeet(timeseriesId, output.timeseriesId),
      ),
    );
  const follow = (path: readonly Definition[], visited: Set<Definition>): SeriesReference[] | undefined => {
    for (const maker of makersOf(path.at(-1)!)) {
      if (maker === path[0]) return [...path, maker].map(({ output }) => output);
      if (visited.has(maker)) continue;
      const found = follow([...path, maker], visited.add(maker));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const one of posted) {
    const cycle = follow([one], new Set());
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
