import { type SeriesReference, seriesKey, TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { DamagedSamplesError } from '../errors.js';
import { countWork, inTurns } from '../next-turn.js';
import { equal, type Reader, type Transaction } from '../storage.js';
import {
  provisionalHeads,
  provisionalSamples,
  type SampleLogRow,
  type SeriesRow,
  segments,
  series,
} from '../tables/samples.js';
import { type AppendOptions, type AppendParts, append, createSeries, logChanges } from './append.js';
import { Catalogue, type KnownSeries, seriesNamed } from './catalogue.js';
import { Compaction, type CompactOptions } from './compaction/compact.js';
import type { Move } from './compaction/move.js';
import { defaultSizes, type Sizes } from './compaction/rewrite.js';
import { naming } from './damage.js';
import { readChange } from './log-bytes.js';
import { LogLoading } from './log-loading.js';
import { inspectRow } from './log-row.js';
import { LookedUp } from './looked-up.js';
import { logRows, PendingLogs } from './pending.js';
import { type Progress, readProgress, writeProgress } from './progress.js';
import {
  checkSamples,
  countSamples,
  describeSeries,
  type FoundSeries,
  type OpenSeries,
  readInParts,
  readProvisional,
} from './read.js';
import {
  type Columns,
  ForgottenChangesError,
  type IsWanted,
  type LoggedChange,
  type LoggedChanges,
  NO_COLUMNS,
  type Preview,
  type SampleChange,
  type SampleRange,
  type SeriesInfo,
  type TimeRange,
} from './samples.js';
import { packProvisional, unpackProvisional } from './segments.js';
import { WrittenCommits } from './written.js';

export interface SampleStoreOptions {
  readonly clock: { nowMs(): number };
  readonly sizes?: Partial<Sizes>;
  /** The fewest samples that a read with a limit takes from the log at a time, if it has as many; 4096 by default. */
  readonly partSamplesMin?: number;
}

/** Creates the store of samples; its memory is only a cache. */
export function createSampleStore({ clock, sizes, partSamplesMin }: SampleStoreOptions): SampleStore {
  const logs = new PendingLogs();
  const compaction = new Compaction(logs, { ...defaultSizes, ...sizes }, clock);
  return new SampleStore({ logs, catalogue: new Catalogue(), clock }, compaction, partSamplesMin);
}

const PART_SAMPLES_MIN = 4096;

const CHANGES_PER_TURN = 1000;
/** For how long one reader describes series, for each of which segments that the log touches may be unpacked. */
const DESCRIBING_MS_MAX = 5;
const RESULTS_READ = 500;
/** The most samples of changes in memory, beyond those of a commit: 16 MB. */
const SAMPLES_READ_MAX = 1_000_000;
/** Bytes of the log to look through before yielding: some milliseconds of work. */
const BYTES_PER_TURN = 4 * 1024 * 1024;

/**
 * The samples of a shard's series: a log that takes changes fast, and segments for each series, into which the log is
 * compacted in the background. Reads merge both. Later changes win: each (series, time) has one sample.
 */
export class SampleStore {
  readonly #parts: AppendParts;
  readonly #compaction: Compaction;
  readonly #partSamplesMin: number;
  readonly #written = new WrittenCommits();
  readonly #lookedUp = new LookedUp();
  /** What of the log is in memory. */
  readonly log: LogLoading;

  constructor(parts: AppendParts, compaction: Compaction, partSamplesMin = PART_SAMPLES_MIN) {
    this.#parts = parts;
    this.log = new LogLoading(parts.logs);
    this.#compaction = compaction;
    this.#partSamplesMin = partSamplesMin;
  }

  /**
   * Writes all the changes as one log row; creates missing series, even for empty changes.
   *
   * @param options.itemId marks new series as results of this item.
   * @returns false if `origin` was stored before: nothing was written.
   * @throws ResultSeriesError for the result of an item, unless `itemId` is given.
   */
  append(
    tx: Transaction,
    organisation: string,
    changes: readonly SampleChange[],
    options: AppendOptions = {},
  ): Promise<boolean> {
    this.#written.note(tx, organisation, changes);
    this.#lookedUp.forgetMissing(tx, organisation, changes);
    return append(this.#parts, tx, organisation, changes, options);
  }

  /**
   * Looks series up, many at once, for what the transaction does with each of them afterwards: it must be one that does
   * not compact.
   *
   * @returns the rows of those that exist, by name.
   */
  async lookUp(
    tx: Reader,
    organisation: string,
    of: readonly SeriesReference[],
  ): Promise<ReadonlyMap<string, SeriesRow>> {
    const unknown = of.filter((one) => this.#lookedUp.of(tx, organisation, one) === undefined);
    const found = await seriesNamed(tx, organisation, unknown);
    const keys = [...found.values()].flatMap(({ itemId, seriesKey: key }) => (itemId === null ? [] : [key]));
    const previewed = new Set<number>();
    for (let from = 0; from < keys.length; from += RESULTS_READ) {
      const where = [['seriesKey', 'in', keys.slice(from, from + RESULTS_READ)]] as const;
      for (const { seriesKey: key } of await tx.find(provisionalHeads, { where })) previewed.add(key);
    }
    this.#lookedUp.keep(tx, organisation, unknown, found, previewed);
    if (found.size > 0) this.#parts.catalogue.keep(tx, await readProgress(tx), found.values());
    const rows = new Map<string, SeriesRow>();
    for (const one of of) {
      const row = this.#lookedUp.of(tx, organisation, one)?.row;
      if (row != null) rows.set(seriesKey(one), row);
    }
    return rows;
  }

  /** Creates series, none of which exists, as the results of items. */
  async createResults(
    tx: Transaction,
    organisation: string,
    results: readonly (SeriesReference & { readonly itemId: string })[],
  ): Promise<void> {
    this.#written.note(tx, organisation, results);
    this.#lookedUp.forgetMissing(tx, organisation, results);
    await createSeries(tx, organisation, results, this.#parts.clock.nowMs());
  }

  /**
   * Replaces the provisional samples of a result: those after its final ones. If both have a time, reads give the
   * final sample. Throws unless the series is a result: `append` with `itemId` makes it one.
   */
  async setProvisional(tx: Transaction, organisation: string, samples: SeriesReference & Columns): Promise<void> {
    const { catalogue } = this.#parts;
    const [known] = await catalogue.find(tx, await readProgress(tx), organisation, [samples]);
    if (known === undefined || known.itemId === null) {
      throw new Error(`provisional samples of ${seriesKey(samples)}, which is not the result of an item`);
    }
    const { key } = known;
    const isEmpty = samples.timeMs.length === 0;
    if (isEmpty && this.#lookedUp.of(tx, organisation, samples)?.isPreviewed === false) return;
    this.#lookedUp.forget(tx, organisation, [samples]);
    if (isEmpty) await tx.delete(provisionalSamples, equal({ seriesKey: key }));
    else await tx.put(provisionalSamples, { commit: tx.commit, ...packProvisional(key, samples) });
  }

  /**
   * The provisional samples of those series that are results, with the commit that wrote them; commit 0 if there are
   * none.
   */
  async provisionalOf(tx: Reader, organisation: string, of: readonly SeriesReference[]): Promise<readonly Preview[]> {
    const known = await this.#parts.catalogue.find(tx, await readProgress(tx), organisation, of);
    const results = known.filter((one) => one?.itemId != null) as KnownSeries[]; // `as`: the others are filtered out
    const previews: Preview[] = [];
    for (let from = 0; from < results.length; from += RESULTS_READ) {
      const some = results.slice(from, from + RESULTS_READ);
      const where = [['seriesKey', 'in', some.map(({ key }) => key)]] as const;
      const rows = new Map((await tx.find(provisionalSamples, { where })).map((row) => [row.seriesKey, row]));
      for (const { timeseriesId, metric, key } of some) {
        const row = rows.get(key);
        const columns = row === undefined ? NO_COLUMNS : unpackProvisional(row);
        previews.push({ timeseriesId, metric, ...columns, commit: row?.commit ?? 0 });
      }
    }
    return previews;
  }

  /** The item whose result each series is; null for one that clients write, undefined for an unknown one. */
  async itemIdsOf(
    tx: Reader,
    organisation: string,
    of: readonly SeriesReference[],
  ): Promise<readonly (string | null | undefined)[]> {
    const known = await this.#parts.catalogue.find(tx, await readProgress(tx), organisation, of);
    return known.map((one) => one?.itemId);
  }

  /** Samples in time order; if descending, still in time order, but taken from the end. Empty for an unknown series. */
  async read(tx: Reader, organisation: string, of: SeriesReference, range: SampleRange = {}): Promise<Columns> {
    const found = await this.#find(tx, organisation, of);
    return found === undefined ? NO_COLUMNS : naming(of, readInParts(tx, found, range, this.#partSamplesMin));
  }

  /** The number of final samples in a range. Most are not read: damage is found by `check`. */
  async count(tx: Reader, organisation: string, of: SeriesReference, range: TimeRange): Promise<number> {
    const opened = await this.#open(tx, organisation, of, range);
    return opened === undefined ? 0 : countSamples(tx, opened, range);
  }

  /**
   * Checks some of the final samples in a range.
   *
   * @returns where to go on, in another reader; undefined at the end of the range.
   * @throws DamagedSamplesError if some of them are damaged.
   */
  async check(tx: Reader, organisation: string, of: SeriesReference, range: TimeRange): Promise<number | undefined> {
    const opened = await this.#open(tx, organisation, of, range);
    return opened === undefined ? undefined : naming(of, checkSamples(tx, opened, range));
  }

  async #open(
    tx: Reader,
    organisation: string,
    of: SeriesReference,
    range: TimeRange,
  ): Promise<OpenSeries | undefined> {
    const found = await this.#find(tx, organisation, of);
    return found === undefined ? undefined : { ...found, patch: await found.log.patchOf(found, range) };
  }

  async #find(tx: Reader, organisation: string, of: SeriesReference): Promise<FoundSeries | undefined> {
    const { catalogue, logs } = this.#parts;
    const progress = await readProgress(tx);
    const seen = this.#lookedUp.of(tx, organisation, of);
    if (seen?.row === null) return undefined;
    const [known] = await catalogue.find(tx, progress, organisation, [of]);
    if (known === undefined) return undefined;
    this.log.noteRead(tx.shard);
    const log = await logs.open(tx, progress);
    const { key, itemId } = known;
    const isPreviewed = itemId !== null && seen?.isPreviewed !== false;
    return { organisation, key, log, isPreviewed, hasSegments: seen?.row.sampleCount !== 0 };
  }

  /**
   * The series of an organisation with their time ranges, in order of (timeseriesId, metric), after a place; fewer than
   * asked for if it takes long to describe them, as writers wait meanwhile.
   *
   * @returns `isAll` unless more may follow.
   */
  async list(
    tx: Reader,
    organisation: string,
    options: { readonly timeseriesId?: string; readonly after?: SeriesReference; readonly limit?: number } = {},
  ): Promise<{ readonly infos: readonly SeriesInfo[]; readonly isAll: boolean }> {
    const { timeseriesId, after, limit = Infinity } = options;
    const rows = await tx.find(series, {
      where: [...equal({ organisation }), ...(timeseriesId === undefined ? [] : equal({ timeseriesId }))],
      orderBy: [{ column: 'timeseriesId' }, { column: 'metric' }],
      ...(after === undefined ? {} : { after: [after.timeseriesId, after.metric] }),
      ...(limit === Infinity ? {} : { limit }),
    });
    const infos = await this.#describe(tx, rows);
    return { infos, isAll: infos.length === rows.length && rows.length < limit };
  }

  async info(tx: Reader, organisation: string, of: SeriesReference): Promise<SeriesInfo | undefined> {
    const row = await this.#rowOf(tx, organisation, of);
    return row === undefined ? undefined : (await this.#describe(tx, [row]))[0];
  }

  async #rowOf(tx: Reader, organisation: string, of: SeriesReference): Promise<SeriesRow | undefined> {
    const seen = this.#lookedUp.of(tx, organisation, of);
    return seen === undefined ? tx.get(series, keyOf(organisation, of)) : (seen.row ?? undefined);
  }

  /** Describes the first of these series: at least one, and as many as there is time for. */
  async #describe(tx: Reader, rows: readonly SeriesRow[]): Promise<SeriesInfo[]> {
    this.log.noteRead(tx.shard);
    const { logs, clock } = this.#parts;
    const log = await logs.open(tx, await readProgress(tx));
    const startMs = clock.nowMs();
    const infos: SeriesInfo[] = [];
    for (const row of rows) {
      const { organisation, seriesKey: key } = row;
      infos.push(await describeSeries(tx, row, await log.patchOf({ organisation, key })));
      // The clock may be set back.
      if (Math.abs(clock.nowMs() - startMs) >= DESCRIBING_MS_MAX) break;
    }
    return infos;
  }

  /** The latest time up to which retention deleted samples of one of these series; undefined if it deleted none. */
  async forgottenMs(tx: Reader, organisation: string, of: readonly SeriesReference[]): Promise<number | undefined> {
    let latestMs: number | undefined;
    for (const reference of of) {
      const forgottenMs = (await this.#rowOf(tx, organisation, reference))?.forgottenMs ?? undefined;
      if (forgottenMs !== undefined && !(latestMs !== undefined && latestMs >= forgottenMs)) latestMs = forgottenMs;
    }
    return latestMs;
  }

  /** Turns an item's result into a series that clients write; its provisional samples become final. */
  async release(tx: Transaction, organisation: string, of: SeriesReference): Promise<void> {
    const row = await tx.get(series, keyOf(organisation, of));
    if (row === undefined || row.itemId === null) return;
    const provisional = await readProvisional(tx, row.seriesKey);
    const { timeseriesId, metric, itemId } = row;
    // As they are read: merged with the final samples, which win.
    const shown = await this.read(tx, organisation, of, { fromMs: provisional.timeMs[0] ?? Infinity });
    // Whoever waits for the name of a result to be free looks at deletions.
    const emptied = (await this.isEmpty(tx, organisation, of))
      ? { deleted: { fromMs: TIME_MS_MIN, untilMs: TIME_MS_END } }
      : {};
    await this.append(tx, organisation, [{ timeseriesId, metric, ...shown, ...emptied }], { itemId });
    this.#lookedUp.forget(tx, organisation, [of]);
    await tx.delete(provisionalSamples, equal({ seriesKey: row.seriesKey }));
    await tx.put(series, { ...row, itemId: null });
    // Caches of the series are as wrong as after a drop.
    await writeProgress(tx, { ...(await readProgress(tx)), droppedCommit: tx.commit });
  }

  /** Whether a series has no samples, not even damaged ones. */
  async isEmpty(
    tx: Reader,
    organisation: string,
    of: SeriesReference,
    range: Pick<SampleRange, 'isFinalOnly'> = {},
  ): Promise<boolean> {
    try {
      return (await this.read(tx, organisation, of, { ...range, limit: 1 })).timeMs.length === 0;
    } catch (error) {
      if (error instanceof DamagedSamplesError) return false;
      throw error;
    }
  }

  /** Sets the item whose result a replica is in its source shard, or null; creates the series if it is missing. */
  async mark(tx: Transaction, organisation: string, of: SeriesReference, itemId: string | null): Promise<void> {
    const row = await tx.get(series, keyOf(organisation, of));
    if (row === undefined) {
      await this.append(tx, organisation, [{ ...of, ...NO_COLUMNS }], itemId === null ? {} : { itemId });
    } else if (row.itemId !== itemId) {
      this.#lookedUp.forget(tx, organisation, [of]);
      await tx.delete(provisionalSamples, equal({ seriesKey: row.seriesKey }));
      await tx.put(series, { ...row, itemId });
      await writeProgress(tx, { ...(await readProgress(tx)), droppedCommit: tx.commit });
    }
  }

  /** Deletes a series and all its samples. The log gets its name, with a change that deletes everything. */
  async drop(tx: Transaction, organisation: string, of: SeriesReference): Promise<boolean> {
    const row = await this.#rowOf(tx, organisation, of);
    if (row === undefined) return false;
    const { seriesKey: key, timeseriesId, metric } = row;
    this.#written.note(tx, organisation, [of]);
    this.#lookedUp.forget(tx, organisation, [of]);
    await tx.delete(series, equal(keyOf(organisation, of)));
    await tx.delete(segments, equal({ seriesKey: key }));
    await tx.delete(provisionalSamples, equal({ seriesKey: key }));
    const deleted = { fromMs: TIME_MS_MIN, untilMs: TIME_MS_END };
    const change = { ...NO_COLUMNS, key, deleted, name: { timeseriesId, metric } };
    await logChanges(this.#parts.logs, tx, organisation, [change]);
    await writeProgress(tx, { ...(await readProgress(tx)), droppedCommit: tx.commit });
    return true;
  }

  /**
   * Changes after `afterCommit` in order, for items to absorb, up to the first commit that makes them as many as
   * `limit`, or a million samples. A commit may have several changes of a series.
   *
   * @param isWanted skips the changes of other series without decoding them.
   * @throws ForgottenChangesError if that part of the log is deleted.
   */
  async changesAfter(tx: Reader, afterCommit: number, limit = Infinity, isWanted = all): Promise<LoggedChanges> {
    const progress = await readProgress(tx);
    if (afterCommit < progress.forgottenCommit) throw new ForgottenChangesError(afterCommit, progress.forgottenCommit);
    const changes: LoggedChange[] = [];
    let sampleCount = 0;
    let lastCommit = afterCommit;
    const afterWork = countWork(BYTES_PER_TURN);
    for await (const row of logRows(tx, afterCommit, Number.MAX_SAFE_INTEGER)) {
      const isEnough = changes.length >= limit || sampleCount >= SAMPLES_READ_MAX;
      if (isEnough && row.commit > lastCommit) return { changes, lastCommit, isAll: false };
      lastCommit = row.commit;
      for (const change of await this.#withNames(tx, progress, row, isWanted)) {
        changes.push(change);
        sampleCount += change.timeMs.length;
      }
      await afterWork(row.changes.length);
    }
    return { changes, lastCommit: Math.max(lastCommit, tx.lastCommit), isAll: true };
  }

  /** Whether it is known, without a look into the log, that a commit of this process changed none of these series. */
  isOfOthers(shard: number, commit: number, isWanted: IsWanted): boolean {
    return this.#written.isOfOthers(shard, commit, isWanted);
  }

  async #withNames(tx: Reader, progress: Progress, row: SampleLogRow, isWanted: IsWanted): Promise<LoggedChange[]> {
    const { organisation, commit, changes: bytes } = row;
    const { heads, damage } = inspectRow(row);
    const known = await this.#parts.catalogue.findByKeys(tx, progress, heads.keys);
    const changes: LoggedChange[] = [];
    for await (const [i, key] of inTurns(heads.keys.entries(), CHANGES_PER_TURN)) {
      const now = known.get(key);
      if (now !== undefined && !isWanted(organisation, now)) continue;
      const whole = damage === undefined ? readChange(bytes, heads, i) : { key, ...NO_COLUMNS, damage };
      const { name, key: _, ...change } = { name: undefined, ...whole };
      const series = name ?? now;
      // The series was dropped meanwhile, and a later change says so.
      if (series === undefined || !isWanted(organisation, series)) continue;
      const { timeseriesId, metric } = series;
      changes.push({ organisation, commit, timeseriesId, metric, ...change });
    }
    return changes;
  }

  /**
   * Prepares to move some of the log up to `untilCommit` into segments, a bounded amount of work.
   *
   * @returns undefined if none is due.
   */
  prepareMove(tx: Reader, untilCommit: number, options: CompactOptions = {}): Promise<Move | undefined> {
    return this.#compaction.prepare(tx, untilCommit, options);
  }
}

function keyOf(organisation: string, { timeseriesId, metric }: SeriesReference) {
  return { organisation, timeseriesId, metric };
}

const all: IsWanted = () => true;
