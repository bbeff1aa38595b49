import { canMeet } from '../../core/pattern.js';
import { type SeriesReference, seriesKey, seriesName } from '../../core/series.js';
import { inTurns } from '../../storage/next-turn.js';
import type { SampleStore } from '../../storage/samples/store.js';
import type { Reader } from '../../storage/storage.js';
import { EVERY_SERIES, type ItemRow, itemSources, items } from '../../storage/tables/operations.js';
import { series } from '../../storage/tables/samples.js';
import { ServiceError } from '../http/errors.js';
import { equal } from '../store.js';
import { definitionOf, ITEMS_A_TURN, type ItemDefinition } from './request.js';

/** The item of which a series is the result. */
export async function itemOfResult(
  tx: Reader,
  organisation: string,
  { timeseriesId, metric }: SeriesReference,
): Promise<ItemRow | undefined> {
  // By two primary keys: SQLite would look for the result among all items of the organisation.
  const result = await tx.get(series, { organisation, timeseriesId, metric });
  return result?.itemId == null ? undefined : tx.get(items, { organisation, itemId: result.itemId });
}

/**
 * Stops at results that clients write themselves, and at items that would wait for each other.
 *
 * @throws ServiceError 409
 */
export async function checkConflicts(
  tx: Reader,
  samples: SampleStore,
  organisation: string,
  all: readonly Pick<ItemDefinition, 'output' | 'plan'>[],
): Promise<void> {
  // Of patterns each member is checked, when it comes.
  const definitions = all.filter(({ plan }) => plan.every === undefined);
  for await (const { output } of inTurns(definitions, ITEMS_A_TURN)) {
    await checkResult(tx, samples, organisation, output);
  }
  const cycle = (await findCycle(tx, organisation, definitions)) ?? (await findPatternCycle(tx, organisation, all));
  if (cycle === undefined) return;
  const names = cycle.map(seriesName).join(' reads ');
  throw new ServiceError(409, `the items would wait for each other in a circle: ${names}`, { details: { cycle } });
}

async function checkResult(
  tx: Reader,
  samples: SampleStore,
  organisation: string,
  output: SeriesReference,
): Promise<void> {
  const info = await samples.info(tx, organisation, output);
  if (info === undefined || info.itemId !== null || info.sampleCount === 0) return;
  const mend = 'choose another metric, or delete its samples first';
  throw new ServiceError(409, `the result ${seriesName(output)} is a series that clients have written; ${mend}`, {
    details: { series: output },
  });
}

/** Results that rest on each other in a circle, the first one again at the end. */
async function findCycle(
  tx: Reader,
  organisation: string,
  definitions: readonly Pick<ItemDefinition, 'output' | 'plan'>[],
): Promise<readonly SeriesReference[] | undefined> {
  const sourcesOf = new Map(definitions.map(({ output, plan }) => [seriesKey(output), plan.sources]));
  const readSources = async (result: SeriesReference): Promise<readonly SeriesReference[]> => {
    const known = sourcesOf.get(seriesKey(result));
    if (known !== undefined) return known;
    const item = await itemOfResult(tx, organisation, result);
    const rows = item && (await tx.find(itemSources, { where: equal({ organisation, itemId: item.itemId }) }));
    const sources = rows?.map(({ timeseriesId, metric }) => ({ timeseriesId, metric })) ?? [];
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
  for await (const { output } of inTurns(definitions, ITEMS_A_TURN)) {
    const cycle = await search(output);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

type Pattern = Pick<ItemDefinition, 'output' | 'plan'>;

/** Patterns whose results may be the sources of each other in a circle: each would have members for ever. */
async function findPatternCycle(
  tx: Reader,
  organisation: string,
  definitions: readonly Pattern[],
): Promise<readonly SeriesReference[] | undefined> {
  const posted = definitions.filter(({ plan }) => plan.every !== undefined);
  if (posted.length === 0) return undefined;
  const patterns = new Map<string, Pattern>(posted.map((one) => [seriesKey(one.output), one]));
  for (const { itemId } of await tx.find(itemSources, { where: equal({ organisation, ...EVERY_SERIES }) })) {
    const row = await tx.get(items, { organisation, itemId });
    if (row === undefined || patterns.has(seriesKey(row))) continue;
    // Written when it was registered.
    patterns.set(seriesKey(row), definitionOf(JSON.parse(row.request) as unknown[]));
  }
  const makersOf = ({ plan }: Pattern) =>
    [...patterns.values()].filter(({ output }) =>
      plan.sources.some(
        ({ timeseriesId, metric }) => metric === output.metric && canMeet(timeseriesId, output.timeseriesId),
      ),
    );
  const follow = (path: readonly Pattern[], seen: Set<Pattern>): SeriesReference[] | undefined => {
    for (const maker of makersOf(path.at(-1)!)) {
      if (maker === path[0]) return [...path, maker].map(({ output }) => output);
      if (seen.has(maker)) continue;
      const found = follow([...path, maker], seen.add(maker));
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
