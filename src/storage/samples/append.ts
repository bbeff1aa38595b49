import { type SeriesReference, seriesKey } from '../../core/series.js';
import { isRising } from '../../kernels/check.js';
import { mapInTurns, nextTurn } from '../next-turn.js';
import type { Transaction } from '../storage.js';
import { type SampleLogRow, type SeriesRow, sampleLog, series, sourceOffsets } from '../tables/samples.js';
import type { Catalogue } from './catalogue.js';
import { encodeLogRow, type KeyedChange } from './log-bytes.js';
import { logChecksum } from './log-row.js';
import type { PendingLogs } from './pending.js';
import { readProgress, writeProgress } from './progress.js';
import { type Origin, ResultSeriesError, type SampleChange } from './samples.js';

export interface AppendOptions {
  readonly origin?: Origin;
  readonly itemId?: string;
}

/** What `append` works with. */
export interface AppendParts {
  readonly catalogue: Catalogue;
  readonly logs: PendingLogs;
  readonly clock: { nowMs(): number };
}

/** Writes changes into the log; see `SampleStore.append`. */
export async function append(
  { catalogue, logs, clock }: AppendParts,
  tx: Transaction,
  organisation: string,
  changes: readonly SampleChange[],
  { origin, itemId }: AppendOptions,
): Promise<boolean> {
  await mapInTurns(changes, CHANGES_PER_TURN, assertRising);
  if (origin !== undefined && !(await takeOffset(tx, organisation, origin))) return false;
  const progress = await readProgress(tx);
  const known = await catalogue.find(tx, progress, organisation, changes);
  const result = known.find((series) => series !== undefined && series.itemId !== null);
  if (itemId === undefined && result?.itemId != null) throw new ResultSeriesError(result, result.itemId);
  const missing = known.includes(undefined) ? changes.filter((_, i) => known[i] === undefined) : [];
  const created =
    missing.length === 0
      ? NONE
      : await createSeries(
          tx,
          organisation,
          missing.map(({ timeseriesId, metric }) => ({ timeseriesId, metric, itemId: itemId ?? null })),
          clock.nowMs(),
        );
  const keyed: KeyedChange[] = [];
  await mapInTurns(changes, CHANGES_PER_TURN, (change, i) => {
    const { timeMs, value, deleted } = change;
    if (timeMs.length === 0 && deleted === undefined) return;
    const key = known[i]?.key ?? created.get(seriesKey(change))!;
    keyed.push(deleted === undefined ? { key, timeMs, value } : { key, timeMs, value, deleted });
  });
  if (keyed.length === 0) return true;
  // A row of many series takes milliseconds to encode, and so has a turn of its own.
  if (keyed.length > SERIES_PER_TURN) await nextTurn();
  await logChanges(logs, tx, organisation, keyed, origin);
  if (keyed.length > SERIES_PER_TURN) await nextTurn();
  return true;
}

const NONE: ReadonlyMap<string, number> = new Map();
const SERIES_PER_TURN = 500;
/** Changes to check, or to give their keys, before yielding: some milliseconds of work. */
const CHANGES_PER_TURN = 5000;
/** The most changes and samples of a row, half a megabyte: whoever reads the log takes some rows at a time. */
const ROW_SIZE_MAX = 32_768;

/** Writes rows of the log: one, unless there is too much for it. */
export async function logChanges(
  logs: PendingLogs,
  tx: Transaction,
  organisation: string,
  changes: readonly KeyedChange[],
  origin?: Origin,
): Promise<void> {
  const size = changes.reduce((sum, change) => sum + sizeOf(change), 0);
  if (size <= ROW_SIZE_MAX) return logRow(logs, tx, organisation, changes, origin);
  for (const row of cutIntoRows(changes)) {
    await logRow(logs, tx, organisation, row, origin);
    await nextTurn();
  }
}

function sizeOf({ timeMs }: KeyedChange): number {
  return 1 + timeMs.length;
}

/** A change that is cut deletes in its first row, and adds its samples in several. */
function* cutIntoRows(changes: readonly KeyedChange[]): Generator<readonly KeyedChange[]> {
  let row: KeyedChange[] = [];
  let room = ROW_SIZE_MAX;
  for (const change of changes) {
    let rest = change;
    while (sizeOf(rest) > room) {
      const { timeMs, value, ...more } = rest;
      const count = room - 1;
      if (count > 0) row.push({ ...more, timeMs: timeMs.subarray(0, count), value: value.subarray(0, count) });
      yield row;
      row = [];
      room = ROW_SIZE_MAX;
      if (count > 0) rest = { key: rest.key, timeMs: timeMs.subarray(count), value: value.subarray(count) };
    }
    row.push(rest);
    room -= sizeOf(rest);
  }
  if (row.length > 0) yield row;
}

async function logRow(
  logs: PendingLogs,
  tx: Transaction,
  organisation: string,
  changes: readonly KeyedChange[],
  origin: Origin | undefined,
): Promise<void> {
  const { commit } = tx;
  const part = logs.nextPart(tx);
  const bytes = encodeLogRow(changes);
  // Each field by name: V8 takes a slow path where more fields follow an object that is spread.
  const row: SampleLogRow = {
    commit,
    part,
    organisation,
    sampleCount: changes.reduce((sum, { timeMs }) => sum + timeMs.length, 0),
    changes: bytes,
    checksum: logChecksum({ commit, part, changes: bytes }),
    source: origin?.source ?? null,
    partition: origin?.partition ?? null,
    offset: origin?.offset ?? null,
  };
  await tx.insert(sampleLog, row);
  logs.wrote(tx, row);
}

/** Stores the offset. @returns false if it was stored before. */
async function takeOffset(tx: Transaction, organisation: string, origin: Origin): Promise<boolean> {
  const { source, partition, offset } = origin;
  const taken = await tx.get(sourceOffsets, { organisation, source, partition });
  if (taken !== undefined && taken.offset >= offset) return false;
  await tx.put(sourceOffsets, { organisation, source, partition, offset });
  return true;
}

/** Creates each series once, as the result of an item or, with null, of clients; returns the keys by name. */
export async function createSeries(
  tx: Transaction,
  organisation: string,
  references: readonly (SeriesReference & { readonly itemId: string | null })[],
  createdMs: number,
): Promise<ReadonlyMap<string, number>> {
  const progress = await readProgress(tx);
  const keys = new Map<string, number>();
  let rows: SeriesRow[] = [];
  for (const reference of references) {
    const name = seriesKey(reference);
    if (keys.has(name)) continue;
    const key = progress.nextSeriesKey + keys.size;
    keys.set(name, key);
    rows.push({
      organisation,
      timeseriesId: reference.timeseriesId,
      metric: reference.metric,
      seriesKey: key,
      itemId: reference.itemId,
      createdMs,
      createdCommit: tx.commit,
      sampleCount: 0,
      firstMs: null,
      lastMs: null,
      forgottenMs: null,
    });
    if (rows.length < SERIES_PER_TURN) continue;
    await tx.insertAll(series, rows);
    rows = [];
    await nextTurn();
  }
  await tx.insertAll(series, rows);
  await writeProgress(tx, { ...progress, nextSeriesKey: progress.nextSeriesKey + keys.size });
  return keys;
}

// Requests are checked on arrival. This guards the segments: a search would not find its way in unsorted ones.
function assertRising(change: SampleChange): void {
  const { timeMs, value } = change;
  if (timeMs.length === value.length && isRising(timeMs, 0, timeMs.length, -Infinity)) return;
  throw new Error(`a change of ${seriesKey(change)} whose times do not rise, or with columns of different lengths`);
}
