import { canMeet } from '../../core/pattern.js';
import { type SeriesReference, seriesKey, seriesName } from '../../core/series.js';
import { nextTurn } from '../../storage/next-turn.js';
import type { SampleStore } from '../../storage/samples/store.js';
import { equal, type Reader } from '../../storage/storage.js';
import { EVERY_SERIES, type ItemRow, itemSources, items } from '../../storage/tables/operations.js';
import { series } from '../../storage/tables/samples.js';
import { ServiceError } from '../http/errors.js';
import { definitionOf, ITEMS_PER_TURN, type ItemDefinition, isPattern } from './request.js';

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

/** Where to look for the items of an organisation. */
export interface ItemScope {
  readonly organisation: string;
  readonly samples: SampleStore;
  /**
   * Whether its items lie in several shards: then cycles through members are checked here, not when the members
   * appear.
   */
  readonly isSpread: boolean;
  /** Reads in the shard of the series with this id. */
  readonly readAt: <Result>(timeseriesId: string, work: (tx: Reader) => Promise<Result>) => Promise<Result>;
  /** Runs work whose reads see one state, if all are in one shard: each read alone would wait for earlier writers. */
  readonly readTogether: (work: (scope: ItemScope) => Promise<void>) => Promise<void>;
}

/** Does some work for each item, several items at a time, and yields in between. */
export async function forEachItem<Scope, Item>(
  { readTogether }: { readonly readTogether: (work: (scope: Scope) => Promise<void>) => Promise<void> },
  items: readonly Item[],
  work: (scope: Scope, item: Item) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length; from += ITEMS_PER_TURN) {
    if (from > 0) await nextTurn();
    await readTogether(async (within) => {
      for (const item of items.slice(from, from + ITEMS_PER_TURN)) await work(within, item);
    });
  }
}

type Definition = Pick<ItemDefinition, 'output' | 'plan'>;

/**
 * Rejects results that clients write themselves, and items that would wait for each other.
 *
 * @throws ServiceError 409
 */
export async function checkConflicts(scope: ItemScope, all: readonly Definition[]): Promise<void> {
  // Each member of a pattern is checked when it appears.
  const definitions = all.filter(({ plan }) => plan.every === undefined);
  await forEachItem(scope, definitions, (within, { output }) => checkResult(within, output));
  const posted = all.filter(({ plan }) => plan.every !== undefined);
  const patterns = scope.isSpread || posted.length > 0 ? await findPatterns(scope, posted) : [];
  const cycle = (await findCycle(scope, all, scope.isSpread ? patterns : [])) ?? findPatternCycle(posted, patterns);
  if (cycle === undefined) return;
  const names = cycle.map(seriesName).join(' reads ');
  throw new ServiceError(409, `the items would wait for each other in a cycle: ${names}`, { details: { cycle } });
}

async function checkResult({ readAt, samples, organisation }: ItemScope, output: SeriesReference): Promise<void> {
  const info = await readAt(output.timeseriesId, (tx) => samples.info(tx, organisation, output));
  if (info === undefined || info.itemId !== null || info.sampleCount === 0) return;
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
  let reading = scope;
  const readSources = async (result: SeriesReference): Promise<readonly SeriesReference[]> => {
    const known = sourcesOf.get(seriesKey(result));
    if (known !== undefined) return known;
    const sources = (await storedSources(reading, result)) ?? memberSources(patterns, result);
    sourcesOf.set(seriesKey(result), sources);
    return sources;
  };
  const done = new Set<string>();
  const path = new Map<string, SeriesReference>();
  const search = async (result: SeriesReference): Promise<readonly SeriesReference[] | undefined> => {
    const key = seriesKey(result);
    if (path.has(key)) return [...[...path.values()].slice([...path.keys()].indexOf(key)), result];
    if (done.has(key)) return undefined;
    path.set(key, result);
    for (const source of [...(await readSources(result))].reverse()) {
      const cycle = await search(source);
      if (cycle !== undefined) return cycle;
    }
    path.delete(key);
    done.add(key);
    return undefined;
  };
  let found: readonly SeriesReference[] | undefined;
  await forEachItem(scope, definitions, async (within, { output, plan }) => {
    reading = within;
    // A member reads series of its own id, whose items are checked with them, and those that all members share.
    const starts = plan.every === undefined ? [output] : patterns.length === 0 ? [] : plan.sources.filter(isPlain);
    for (const start of starts) found ??= await search(start);
  });
  return found;
}

function isPlain(series: SeriesReference): boolean {
  return !isPattern(series);
}

async function storedSources({ readAt, organisation }: ItemScope, result: SeriesReference) {
  return readAt(result.timeseriesId, async (tx) => {
    const item = await itemOfResult(tx, organisation, result);
    const rows = item && (await tx.find(itemSources, { where: equal({ organisation, itemId: item.itemId }) }));
    return rows?.map(({ timeseriesId, metric }) => ({ timeseriesId, metric }));
  });
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
  { readAt, organisation }: ItemScope,
  posted: readonly Definition[],
): Promise<readonly Definition[]> {
  const patterns = new Map(posted.map((one) => [seriesKey(one.output), one]));
  // Every shard has them.
  await readAt('', async (tx) => {
    for (const { itemId } of await tx.find(itemSources, { where: equal({ organisation, ...EVERY_SERIES }) })) {
      const row = await tx.get(items, { organisation, itemId });
      if (row === undefined || patterns.has(seriesKey(row))) continue;
      // `as`: written when it was registered.
      patterns.set(seriesKey(row), definitionOf(JSON.parse(row.request) as unknown[]));
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
