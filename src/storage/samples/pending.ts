import { countWork, nextTurn } from '../next-turn.js';
import type { Reader, Transaction } from '../storage.js';
import { type SampleLogRow, sampleLog } from '../tables/samples.js';
import { isDeletion, readChange, timesOf } from './log-bytes.js';
import { firstAfter, LogIndex, type LogRow, logRowOf, type Places } from './log-index.js';
import { type FoundChange, inspectRow, patchOfFound } from './log-row.js';
import type { Patch } from './patch.js';
import { compactedOf, type Progress } from './progress.js';
import type { TimeRange } from './samples.js';

/** A series as the log identifies it. */
export interface SeriesOfLog {
  readonly organisation: string;
  readonly key: number;
}

/** The log as one reader sees it. */
export interface PendingLog {
  /** The log's changes of a series that are not in its segments, as a patch; only its part in the range is complete. */
  patchOf(series: SeriesOfLog, range?: TimeRange): Promise<Patch>;
  /**
   * The beginning of a range, or its end if descending, to which the log adds at least `sampleCount` samples of a
   * series, if it adds as many to the range; most likely not many more, as samples mostly come in order.
   */
  partOf(series: SeriesOfLog, range: TimeRange, sampleCount: number, isDescending: boolean): TimeRange;
  /** Like `patchOf`, only for the commits `(after, until]`. */
  patchWithin(series: SeriesOfLog, after: number, until: number): Promise<Patch>;
  /** The rows of the commits `(after, until]`, in order. */
  rowsWithin(after: number, until: number): LogRow[];
  /** An upper bound on the number of series in it. */
  readonly seriesCount: number;
}

/** The part of the log that a transaction sees but that is not on the disk. */
interface Tail {
  /** Rows that this transaction wrote; indexed only if it reads the log, which few do. */
  readonly own: SampleLogRow[];
  /** Rows of commits that are not on the disk yet, and the transaction's own. */
  index: LogIndex | undefined;
}

const BYTES_CACHED_MAX = 64 * 1024 * 1024;
const ROWS_READ = 64;
/** What one reader loads: some milliseconds of work, for which writers wait. */
const ROWS_LOADED_MAX = 64;
const BYTES_LOADED_MAX = 4 * 1024 * 1024;
/** Of rows that were cut to their most samples. */
const ROW_BYTES_USUAL_MAX = 512 * 1024;
/** Changes of series to index before yielding: some milliseconds of work. */
const CHANGES_PER_TURN = 5000;
/** The checksum of as many bytes takes as long as a change. */
const BYTES_PER_CHANGE = 512;

/**
 * Keeps the log's uncompacted rows in memory, by shard: where the changes of each series are and, within a bound, the
 * rows' bytes. Shared is only what is on the disk; everything else belongs to one transaction.
 */
export class PendingLogs {
  readonly #indexes = new Map<number, LogIndex>();
  /** By shard: the index is being replaced by one without old rows. */
  readonly #renewals = new Map<number, Promise<void>>();
  readonly #tails = new WeakMap<Reader, Tail>();
  /** The rows whose bytes are in memory, in the order in which they were read. */
  readonly #kept = new Set<LogRow>();
  #keptBytes = 0;
  readonly #bytesCachedMax: number;

  constructor(bytesCachedMax = BYTES_CACHED_MAX) {
    this.#bytesCachedMax = bytesCachedMax;
  }

  /** The place in its commit of the next row that a transaction writes. */
  nextPart(tx: Transaction): number {
    return this.#tailOf(tx).own.length;
  }

  wrote(tx: Transaction, row: SampleLogRow): void {
    const tail = this.#tailOf(tx);
    tail.own.push(row);
    tail.index?.addRow(logRowOf(row));
  }

  async open(tx: Reader, progress: Progress): Promise<PendingLog> {
    const durable = await this.#durable(tx, progress);
    const durableUntil = Math.min(durable.untilCommit, tx.lastCommit);
    const tail = await this.#loadTail(tx, durableUntil);
    // The first index is shared: rows that others add during this transaction are in the tail, or not of its state.
    const indexes = [
      { index: durable, lastCommit: durableUntil },
      { index: tail, lastCommit: Infinity },
    ];
    const patchWithin = async (
      { organisation, key }: SeriesOfLog,
      after: number,
      until: number,
      range = ALL_TIMES,
    ): Promise<Patch> => {
      const found: FoundChange[] = [];
      for (const { index, lastCommit } of indexes) {
        const places = index.placesOf(organisation, key);
        if (places === undefined) continue;
        await this.#collect(tx, places, { after, until: Math.min(until, lastCommit), range }, found);
      }
      return patchOfFound(found);
    };
    return {
      seriesCount: durable.seriesCount + tail.seriesCount,
      partOf: ({ organisation, key }, range, sampleCount, isDescending) => {
        const after = compactedOf(progress, key);
        const places = indexes.flatMap(({ index, lastCommit }) => {
          const ofIndex = index.placesOf(organisation, key);
          return ofIndex === undefined ? [] : [{ ...ofIndex, after, until: lastCommit }];
        });
        return partWithin(isDescending ? places.reverse() : places, range, sampleCount, isDescending);
      },
      patchOf: (series, range) => patchWithin(series, compactedOf(progress, series.key), Infinity, range),
      patchWithin,
      rowsWithin: (after, until) =>
        indexes.flatMap(({ index: { rows }, lastCommit }) =>
          rows.slice(firstAfter(rows, after), firstAfter(rows, Math.min(until, lastCommit))),
        ),
    };
  }

  /**
   * Loads the log's next rows into memory.
   *
   * @returns whether there are more, up to a commit if one is given.
   */
  async loadNext(
    tx: Reader,
    progress: Progress,
    { untilCommit = Infinity, rowCountMax }: { readonly untilCommit?: number; readonly rowCountMax?: number } = {},
  ): Promise<boolean> {
    if (progress.commit > tx.durableCommit) return false;
    const index = await this.#indexAfter(tx.shard, progress.compactedCommit);
    if (index === undefined) return false;
    const limit = rowCountMax ?? rowsToLoad(index);
    const rows = await rowsFrom(tx, index.end, tx.durableCommit, limit);
    const isAll = rows.length < limit;
    // The last commit may have more rows.
    await this.#extend(tx.shard, index, rows, isAll ? tx.durableCommit : index.untilCommit);
    return !isAll && index.untilCommit < untilCommit;
  }

  /** Drops the rows that are in segments from memory, as whoever reads does. */
  async dropCompacted(tx: Reader, progress: Progress): Promise<void> {
    const isSettled = progress.commit <= tx.durableCommit;
    if (isSettled && this.#indexes.has(tx.shard)) await this.#indexAfter(tx.shard, progress.compactedCommit);
  }

  /** Whether the log has rows up to a commit that are not in segments. */
  async hasRows(tx: Reader, { compactedCommit }: Progress, untilCommit: number): Promise<boolean> {
    return (await rowsFrom(tx, endOf(compactedCommit), untilCommit, 1)).length > 0;
  }

  /** The shard's index, extended to what this reader sees on the disk; a separate index for an older state. */
  async #durable(tx: Reader, progress: Progress): Promise<LogIndex> {
    const { compactedCommit } = progress;
    const isSettled = progress.commit <= tx.durableCommit;
    const known = this.#indexes.get(tx.shard);
    const untilCommit = Math.min(tx.durableCommit, tx.lastCommit);
    if (known === undefined && !isSettled) return new LogIndex(compactedCommit);
    // Do not drop rows for a compaction that may still be undone: they would be missing.
    if (known !== undefined && known.fromCommit <= compactedCommit && !isSettled) return known;
    const index = await this.#indexAfter(tx.shard, compactedCommit);
    if (index === undefined) return loadOlder(tx, compactedCommit, untilCommit);
    if (index.untilCommit < untilCommit) {
      await this.#extend(tx.shard, index, rowsAfter(tx, index.end, untilCommit), untilCommit);
    }
    return index;
  }

  /** Extends a shared index. */
  #extend(
    shard: number,
    index: LogIndex,
    rows: Iterable<SampleLogRow> | AsyncIterable<SampleLogRow>,
    untilCommit: number,
  ) {
    return extend(index, rows, untilCommit, (row) => this.#cacheBytes(shard, row));
  }

  /** The shard's index of the commits after this one; drops what is before. Undefined if that was dropped, too. */
  async #indexAfter(shard: number, commit: number): Promise<LogIndex | undefined> {
    for (;;) {
      const known = this.#indexes.get(shard);
      if (known === undefined) this.#indexes.set(shard, new LogIndex(commit));
      else if (known.fromCommit >= commit) return known.fromCommit === commit ? known : undefined;
      else await (this.#renewals.get(shard) ?? this.#renew(shard, known, commit));
    }
  }

  /** Others use the known index meanwhile, and may extend it. */
  #renew(shard: number, known: LogIndex, commit: number): Promise<void> {
    const renew = async (): Promise<void> => {
      const index = new LogIndex(commit);
      for (const _ of index.takeRest(known)) await nextTurn();
      this.#indexes.set(shard, index);
      for (const row of known.rows.slice(0, firstAfter(known.rows, commit))) this.#dropBytes(row);
    };
    const renewal = renew().finally(() => this.#renewals.delete(shard));
    this.#renewals.set(shard, renewal);
    return renewal;
  }

  async #loadTail(tx: Reader, afterCommit: number): Promise<LogIndex> {
    const tail = this.#tailOf(tx);
    if (tail.index === undefined || tail.index.fromCommit > afterCommit) {
      const index = new LogIndex(afterCommit);
      await extend(index, afterCommit < tx.lastCommit ? logRows(tx, afterCommit, tx.lastCommit) : [], tx.lastCommit);
      for (const row of tail.own) index.addRow(logRowOf(row));
      tail.index = index;
    } else if (tail.index.fromCommit < afterCommit) {
      tail.index = tail.index.after(afterCommit);
    }
    return tail.index;
  }

  async #collect(tx: Reader, places: Places, wanted: Wanted, found: FoundChange[]): Promise<void> {
    const { rows, indexes } = places;
    const end = firstAfter(rows, wanted.until);
    for (let i = firstAfter(rows, wanted.after); i < end; i++) {
      if (addsElsewhere(places, i, wanted.range)) continue;
      const row = rows[i]!;
      const bytes = row.bytes ?? (await this.#reread(tx, row));
      if (wanted.range !== ALL_TIMES && isUnclear(places, i)) {
        places.ranges[i] = timesOf([readChange(bytes, row.heads, indexes[i]!)]);
        if (addsElsewhere(places, i, wanted.range)) continue;
      }
      found.push({ bytes, heads: row.heads, index: indexes[i]!, damage: row.damage });
    }
  }

  async #reread(tx: Reader, row: LogRow): Promise<Uint8Array> {
    const { commit, part } = row;
    const found = await tx.get(sampleLog, { commit, part });
    if (found === undefined) throw new Error(`the log of shard ${tx.shard} lacks part ${part} of commit ${commit}`);
    row.damage = inspectRow(found, row.heads).damage;
    row.bytes = found.changes;
    this.#cacheBytes(tx.shard, row);
    return found.changes;
  }

  #cacheBytes(shard: number, row: LogRow): void {
    // Rows of an index that has been replaced go with the readers that still use it.
    if (this.#indexes.get(shard)?.has(row) !== true) return;
    this.#kept.add(row);
    this.#keptBytes += row.byteCount;
    for (const oldest of this.#kept) {
      if (this.#keptBytes <= this.#bytesCachedMax || oldest === row) return;
      this.#dropBytes(oldest);
    }
  }

  #dropBytes(row: LogRow): void {
    if (!this.#kept.delete(row)) return;
    row.bytes = undefined;
    this.#keptBytes -= row.byteCount;
  }

  #tailOf(tx: Reader): Tail {
    let tail = this.#tails.get(tx);
    if (tail === undefined) {
      tail = { own: [], index: undefined };
      this.#tails.set(tx, tail);
    }
    return tail;
  }
}

/** Which changes of a series to collect: of the commits `(after, until]`, with an effect within a range of times. */
interface Wanted {
  readonly after: number;
  readonly until: number;
  readonly range: TimeRange;
}

const ALL_TIMES: TimeRange = { fromMs: -Infinity, untilMs: Infinity };

/** Whether a change only adds samples, none of them in the range. */
function addsElsewhere({ rows, indexes, ranges }: Places, at: number, { fromMs, untilMs }: TimeRange): boolean {
  const { heads, damage } = rows[at]!;
  const { fromMs: firstMs, untilMs: endMs } = ranges[at] ?? heads;
  if (damage !== undefined || (firstMs < untilMs && endMs > fromMs)) return false;
  return !isDeletion(heads, indexes[at]!);
}

/**
 * Whether the times of a series in a row may be worth finding: the row has others, and overlaps the row before or
 * after. One sample of another series, far from the rest, makes a row look as if it were about all times up to there.
 */
function isUnclear({ rows, indexes, ranges }: Places, at: number): boolean {
  const { heads, damage } = rows[at]!;
  if (ranges[at] !== undefined || damage !== undefined || heads.keys.length === 1) return false;
  if (isDeletion(heads, indexes[at]!) || heads.counts[indexes[at]!]! < UNCLEAR_SAMPLES_MIN) return false;
  const [before, after] = [rows[at - 1]?.heads, rows[at + 1]?.heads];
  return (before?.untilMs ?? -Infinity) > heads.fromMs || (after?.fromMs ?? Infinity) < heads.untilMs;
}

/** A range takes as much memory as so many samples. */
const UNCLEAR_SAMPLES_MIN = 4;

/** See `PendingLog.partOf`. Takes rows in their order, or from the last one on, until they have enough samples. */
function partWithin(
  places: readonly (Places & { readonly after: number; readonly until: number })[],
  range: TimeRange,
  sampleCount: number,
  isDescending: boolean,
): TimeRange {
  let [startMs, endMs, count] = [Infinity, -Infinity, 0];
  for (const { rows, indexes, ranges, after, until } of places) {
    const [first, end] = [firstAfter(rows, after), firstAfter(rows, until)];
    for (let n = 0; n < end - first; n++) {
      const at = isDescending ? end - 1 - n : first + n;
      const { heads } = rows[at]!;
      const { fromMs, untilMs } = ranges[at] ?? heads;
      if (!(fromMs < range.untilMs && untilMs > range.fromMs)) continue;
      startMs = Math.min(startMs, fromMs);
      endMs = Math.max(endMs, untilMs);
      count += heads.counts[indexes[at]!] ?? 0;
      if (count < sampleCount) continue;
      return isDescending
        ? { fromMs: Math.max(startMs, range.fromMs), untilMs: range.untilMs }
        : { fromMs: range.fromMs, untilMs: Math.min(endMs, range.untilMs) };
    }
  }
  return range;
}

/** How many rows to load next; they are most likely as large as the last one. */
function rowsToLoad({ rows }: LogIndex): number {
  const byteCount = rows.at(-1)?.byteCount ?? ROW_BYTES_USUAL_MAX;
  return Math.max(1, Math.min(ROWS_LOADED_MAX, Math.floor(BYTES_LOADED_MAX / byteCount)));
}

// For a reader of an older state, whose rows the shared index may have dropped.
async function loadOlder(tx: Reader, afterCommit: number, untilCommit: number): Promise<LogIndex> {
  const index = new LogIndex(afterCommit);
  await extend(index, logRows(tx, afterCommit, untilCommit), untilCommit);
  return index;
}

/**
 * Adds rows to an index, and yields in between: whoever uses the index meanwhile finds whole commits, and may extend it
 * too.
 */
async function extend(
  index: LogIndex,
  rows: Iterable<SampleLogRow> | AsyncIterable<SampleLogRow>,
  untilCommit: number,
  onAdded: (row: LogRow) => void = () => {},
): Promise<void> {
  const afterWork = countWork(CHANGES_PER_TURN);
  for await (const row of rows) {
    index.reach(row.commit - 1);
    const read = logRowOf(row);
    if (index.addNext(read)) onAdded(read);
    await afterWork(1 + read.heads.keys.length + read.byteCount / BYTES_PER_CHANGE);
  }
  index.reach(untilCommit);
}

const LOG_ORDER = [{ column: 'commit' }, { column: 'part' }] as const;

/** The log's rows of the commits `(afterCommit, untilCommit]`, read some at a time. */
export function logRows(tx: Reader, afterCommit: number, untilCommit: number): AsyncGenerator<SampleLogRow> {
  return rowsAfter(tx, endOf(afterCommit), untilCommit);
}

async function* rowsAfter(tx: Reader, place: Place, untilCommit: number): AsyncGenerator<SampleLogRow> {
  for (let after = place; ; ) {
    const rows = await rowsFrom(tx, after, untilCommit, ROWS_READ);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_READ) return;
    after = [last.commit, last.part];
  }
}

type Place = readonly [commit: number, part: number];

function endOf(commit: number): Place {
  return [commit, Number.MAX_SAFE_INTEGER];
}

function rowsFrom(tx: Reader, after: Place, untilCommit: number, limit: number): Promise<SampleLogRow[]> {
  return tx.find(sampleLog, { where: [['commit', '<=', untilCommit]], orderBy: LOG_ORDER, after, limit });
}
