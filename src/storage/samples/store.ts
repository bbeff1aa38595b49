import { type SeriesReference, seriesKey, TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { inTurns } from '../next-turn.js';
import type { Condition, Reader, Transaction } from '../storage.js';
import { provisionalSamples, type SampleLogRow, type SeriesRow, segments, series } from '../tables/samples.js';
import { type AppendOptions, type AppendParts, append, logChanges } from './append.js';
import { Catalogue } from './catalogue.js';
import { Compaction } from './compaction/compact.js';
import { defaultSizes, type Sizes } from './compaction/rewrite.js';
import { inspectRow, readChange } from './log-row.js';
import { logRows, PendingLogs } from './pending.js';
import { type Progress, readProgress, writeProgress } from './progress.js';
import { describeSeries, readProvisional, readSamples } from './read.js';
import {
  type Columns,
  ForgottenChangesError,
  type LoggedChange,
  NO_COLUMNS,
  type SampleChange,
  type SampleRange,
  type SampleStore,
  type SeriesInfo,
} from './samples.js';
import { packProvisional } from './segments.js';

export interface SampleStoreOptions {
  readonly clock: { nowMs(): number };
  readonly sizes?: Partial<Sizes>;
}

/** Creates the store of samples; what it keeps in memory can be lost at any time. */
export function createSampleStore({ clock, sizes }: SampleStoreOptions): SampleStore {
  const logs = new PendingLogs();
  const compaction = new Compaction(logs, { ...defaultSizes, ...sizes });
  return new TableSampleStore({ logs, catalogue: new Catalogue(), clock }, compaction);
}

class TableSampleStore implements SampleStore {
  readonly #parts: AppendParts;
  readonly #compaction: Compaction;

  constructor(parts: AppendParts, compaction: Compaction) {
    this.#parts = parts;
    this.#compaction = compaction;
  }

  append(
    tx: Transaction,
    organisation: string,
    changes: readonly SampleChange[],
    options: AppendOptions = {},
  ): Promise<boolean> {
    return append(this.#parts, tx, organisation, changes, options);
  }

  async setProvisional(tx: Transaction, organisation: string, samples: SeriesReference & Columns): Promise<void> {
    const { catalogue } = this.#parts;
    const [known] = await catalogue.find(tx, await readProgress(tx), organisation, [samples]);
    if (known === undefined || known.itemId === null) {
      throw new Error(`provisional samples of ${seriesKey(samples)}, which is not a result that is there`);
    }
    const { key } = known;
    if (samples.timeMs.length === 0) await tx.delete(provisionalSamples, [['seriesKey', '=', key]]);
    else await tx.put(provisionalSamples, { commit: tx.commit, ...packProvisional(key, samples) });
  }

  async read(tx: Reader, organisation: string, of: SeriesReference, range: SampleRange = {}): Promise<Columns> {
    const { catalogue, logs } = this.#parts;
    const progress = await readProgress(tx);
    const [known] = await catalogue.find(tx, progress, organisation, [of]);
    if (known === undefined) return NO_COLUMNS;
    const log = await logs.open(tx, progress);
    const { key, itemId } = known;
    return readSamples(tx, { key, patch: await log.patchOf(known), isResult: itemId !== null }, range);
  }

  async list(
    tx: Reader,
    organisation: string,
    options: { readonly timeseriesId?: string; readonly after?: SeriesReference; readonly limit?: number } = {},
  ): Promise<SeriesInfo[]> {
    const { timeseriesId, after, limit } = options;
    const where: Condition<SeriesRow>[] = [['organisation', '=', organisation]];
    if (timeseriesId !== undefined) where.push(['timeseriesId', '=', timeseriesId]);
    const rows = await tx.find(series, {
      where,
      orderBy: [{ column: 'timeseriesId' }, { column: 'metric' }],
      ...(after === undefined ? {} : { after: [after.timeseriesId, after.metric] }),
      ...(limit === undefined ? {} : { limit }),
    });
    return this.#describe(tx, rows);
  }

  async info(tx: Reader, organisation: string, of: SeriesReference): Promise<SeriesInfo | undefined> {
    const row = await tx.get(series, keyOf(organisation, of));
    return row === undefined ? undefined : (await this.#describe(tx, [row]))[0];
  }

  async forgottenMs(tx: Reader, organisation: string, of: readonly SeriesReference[]): Promise<number | undefined> {
    let latestMs: number | undefined;
    for (const reference of of) {
      const forgottenMs = (await tx.get(series, keyOf(organisation, reference)))?.forgottenMs ?? undefined;
      if (forgottenMs !== undefined && !(latestMs !== undefined && latestMs >= forgottenMs)) latestMs = forgottenMs;
    }
    return latestMs;
  }

  async #describe(tx: Reader, rows: readonly SeriesRow[]): Promise<SeriesInfo[]> {
    const log = await this.#parts.logs.open(tx, await readProgress(tx));
    const infos: SeriesInfo[] = [];
    for (const row of rows) {
      const { organisation, seriesKey: key } = row;
      infos.push(await describeSeries(tx, row, await log.patchOf({ organisation, key })));
    }
    return infos;
  }

  async release(tx: Transaction, organisation: string, of: SeriesReference): Promise<void> {
    const row = await tx.get(series, keyOf(organisation, of));
    if (row === undefined || row.itemId === null) return;
    const provisional = await readProvisional(tx, row.seriesKey);
    const { timeseriesId, metric, itemId } = row;
    // As they are read: with the final samples of their times, which win.
    const shown = await this.read(tx, organisation, of, { fromMs: provisional.timeMs[0] ?? Infinity });
    await append(this.#parts, tx, organisation, [{ timeseriesId, metric, ...shown }], { itemId });
    await tx.delete(provisionalSamples, [['seriesKey', '=', row.seriesKey]]);
    await tx.put(series, { ...row, itemId: null });
    // What caches knew of it is as wrong as if it had been dropped.
    await writeProgress(tx, { ...(await readProgress(tx)), droppedCommit: tx.commit });
  }

  async drop(tx: Transaction, organisation: string, of: SeriesReference): Promise<boolean> {
    const row = await tx.get(series, keyOf(organisation, of));
    if (row === undefined) return false;
    const { seriesKey: key, timeseriesId, metric } = row;
    await tx.delete(series, [
      ['organisation', '=', organisation],
      ['timeseriesId', '=', timeseriesId],
      ['metric', '=', metric],
    ]);
    await tx.delete(segments, [['seriesKey', '=', key]]);
    await tx.delete(provisionalSamples, [['seriesKey', '=', key]]);
    const deleted = { fromMs: TIME_MS_MIN, untilMs: TIME_MS_END };
    await logChanges(this.#parts.logs, tx, organisation, [
      { ...NO_COLUMNS, key, deleted, name: { timeseriesId, metric } },
    ]);
    await writeProgress(tx, { ...(await readProgress(tx)), droppedCommit: tx.commit });
    return true;
  }

  changesAfter(tx: Reader, afterCommit: number, limit = Infinity): Promise<LoggedChange[]> {
    return changesAfter(this.#parts.catalogue, tx, afterCommit, limit);
  }

  compact(tx: Transaction, untilCommit: number, { isEager = false }: { isEager?: boolean } = {}): Promise<boolean> {
    return this.#compaction.compact(tx, untilCommit, isEager);
  }
}

function keyOf(organisation: string, { timeseriesId, metric }: SeriesReference) {
  return { organisation, timeseriesId, metric };
}

/** The changes of the commits after this one; see `SampleStore.changesAfter`. */
async function changesAfter(
  catalogue: Catalogue,
  tx: Reader,
  afterCommit: number,
  limit: number,
): Promise<LoggedChange[]> {
  const progress = await readProgress(tx);
  if (afterCommit < progress.forgottenCommit) throw new ForgottenChangesError(afterCommit, progress.forgottenCommit);
  const changes: LoggedChange[] = [];
  for await (const row of logRows(tx, afterCommit, Number.MAX_SAFE_INTEGER)) {
    if (changes.length >= limit && row.commit > changes.at(-1)!.commit) break;
    changes.push(...(await named(catalogue, tx, progress, row)));
  }
  return changes;
}

const CHANGES_A_TURN = 1000;

async function named(catalogue: Catalogue, tx: Reader, progress: Progress, row: SampleLogRow): Promise<LoggedChange[]> {
  const { organisation, commit, changes: bytes } = row;
  const { heads, damage } = inspectRow(row);
  const known = await catalogue.findByKeys(tx, progress, heads.keys);
  const changes: LoggedChange[] = [];
  for await (const [i, key] of inTurns(heads.keys.entries(), CHANGES_A_TURN)) {
    const { name, timeMs, value, deleted } =
      damage === undefined ? readChange(bytes, heads, i) : { ...NO_COLUMNS, name: undefined, deleted: undefined };
    const series = name ?? known.get(key);
    // Dropped meanwhile: a later change says so.
    if (series === undefined) continue;
    const { timeseriesId, metric } = series;
    changes.push({
      organisation,
      commit,
      timeseriesId,
      metric,
      timeMs,
      value,
      ...(deleted === undefined ? {} : { deleted }),
      ...(damage === undefined ? {} : { damage }),
    });
  }
  return changes;
}
