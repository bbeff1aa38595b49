import { type SeriesReference, seriesKey } from '../../../core/series.js';
import { RequestError } from '../../../index.js';
import type { Condition } from '../../../storage/storage.js';
import { type ItemRow, itemCheckpoints, itemSources, items, itemWork } from '../../../storage/tables/operations.js';
import { itemOfResult } from '../conflicts.js';
import { definitionOf } from '../request.js';
import { type Mark, positionsFromText } from './checkpoints.js';
import { failItem } from './failure.js';
import { dropMarks, makeDue } from './marks.js';
import type { Entry } from './memory.js';
import { readersKey, type Session, updateItem } from './session.js';

const SERIES_LOOKED_UP = 500;

/** Looks up which items read these series, many at once; the answers are then in memory. */
export async function findReaders(
  { memory, tx }: Session,
  organisation: string,
  references: readonly SeriesReference[],
): Promise<void> {
  const unknown = references.filter((reference) => !memory.readers.has(readersKey(organisation, reference)));
  if (unknown.length === 0) return;
  const ids = [...new Set(unknown.map(({ timeseriesId }) => timeseriesId))];
  const found = new Map<string, string[]>();
  for (let from = 0; from < ids.length; from += SERIES_LOOKED_UP) {
    const where: Condition<{ organisation: string; timeseriesId: string }>[] = [
      ['organisation', '=', organisation],
      ['timeseriesId', 'in', ids.slice(from, from + SERIES_LOOKED_UP)],
    ];
    for (const row of await tx.find(itemSources, { where })) {
      const key = readersKey(organisation, row);
      const readers = found.get(key);
      if (readers === undefined) found.set(key, [row.itemId]);
      else readers.push(row.itemId);
    }
  }
  for (const reference of unknown) {
    const key = readersKey(organisation, reference);
    memory.readers.set(key, found.get(key) ?? NOBODY);
  }
}

const NOBODY: readonly string[] = [];

/** The items that read a series. */
export async function readersOf(
  session: Session,
  organisation: string,
  reference: SeriesReference,
): Promise<readonly Entry[]> {
  const key = readersKey(organisation, reference);
  if (!session.memory.readers.has(key)) await findReaders(session, organisation, [reference]);
  const ids = session.memory.readers.get(key) ?? NOBODY;
  if (ids.length === 0) return [];
  const entries: Entry[] = [];
  for (const itemId of ids) {
    const entry = await entryOf(session, organisation, itemId);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** An item, as of now; undefined when there is none. */
export async function entryOf(session: Session, organisation: string, itemId: string): Promise<Entry | undefined> {
  const { memory, tx } = session;
  const known = memory.entries.get(itemId);
  if (known !== undefined && known.checkedCommit === memory.catalogCommit) return known;
  const row = await tx.get(items, { organisation, itemId });
  if (row === undefined || known?.row.revision !== row.revision) memory.entries.delete(itemId);
  if (row === undefined) return undefined;
  const entry = memory.entries.get(itemId) ?? (await loadEntry(session, row));
  if (entry === undefined) return undefined;
  entry.checkedCommit = memory.catalogCommit;
  await findProducers(session, entry);
  return entry;
}

async function loadEntry(session: Session, row: ItemRow): Promise<Entry | undefined> {
  const { tx, memory } = session;
  const { organisation, itemId } = row;
  const work = await tx.get(itemWork, { organisation, itemId });
  const base = { dueMs: work?.dueMs ?? null, attemptCount: work?.attemptCount ?? 0 };
  try {
    // Written when it was registered.
    const { plan, output, planHash } = definitionOf(JSON.parse(row.request) as unknown[]);
    const entry: Entry = {
      ...newEntry(row, plan, output),
      ...base,
      marks: await readMarks(session, row),
      sourceIndex: new Map(plan.sources.map((source, index) => [seriesKey(source), index])),
    };
    memory.entries.set(itemId, entry);
    if (planHash !== row.planHash) await restart(session, entry, { planHash });
    return entry;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    // A newer engine does not take it any more.
    await failItem(session, row, base, error);
    return undefined;
  }
}

function newEntry(row: ItemRow, plan: Entry['plan'], output: SeriesReference) {
  return {
    row,
    plan,
    output,
    checkedCommit: -1,
    resultSources: [],
    rank: 0,
    needsThread: false,
    live: undefined,
    running: undefined,
    provisional: undefined,
  };
}

/** Has an item compute everything anew. */
export async function restart(session: Session, entry: Entry, changes: Partial<ItemRow>): Promise<void> {
  await dropMarks(session, entry, []);
  await updateItem(session, entry, changes);
  const isOver = entry.row.state === 'Completed' || entry.row.state === 'Failed';
  if (!isOver) await makeDue(session, entry);
}

async function readMarks({ tx }: Session, { organisation, itemId }: ItemRow): Promise<readonly Mark[]> {
  const rows = await tx.find(itemCheckpoints, {
    where: [
      ['organisation', '=', organisation],
      ['itemId', '=', itemId],
    ],
    orderBy: [{ column: 'ordinal' }],
  });
  return rows.map(({ ordinal, positions, emittedMs, sampleCount, byteCount }) => ({
    ordinal,
    positions: positionsFromText(positions),
    emittedMs,
    sampleCount,
    byteCount,
  }));
}

// Items never wait for each other in a circle, so this ends.
async function findProducers(session: Session, entry: Entry): Promise<void> {
  const { organisation } = entry.row;
  const resultSources: number[] = [];
  let rank = 0;
  for (const [index, source] of entry.plan.sources.entries()) {
    const producer = await itemOfResult(session.tx, organisation, source);
    if (producer === undefined) continue;
    resultSources.push(index);
    rank = Math.max(rank, 1 + ((await entryOf(session, organisation, producer.itemId))?.rank ?? 0));
  }
  Object.assign(entry, { resultSources, rank });
}
