import type { Reader, Transaction } from '../storage.js';
import { type SampleLogRow, sampleLog } from '../tables/samples.js';
import { firstAfter, LogIndex, type LogRow, logRowOf, type Places } from './log-index.js';
import { type FoundChange, inspectRow, patchOfFound } from './log-row.js';
import type { Patch } from './patch.js';
import { compactedOf, type Progress } from './progress.js';

/** A series as the log knows it. */
export interface SeriesOfLog {
  readonly organisation: string;
  readonly key: number;
}

/** The log as one reader sees it. */
export interface PendingLog {
  /** What the log's changes of a series come to that are not in its segments. */
  patchOf(series: SeriesOfLog): Promise<Patch>;
  /** The same of the changes of the commits `(after, until]` alone. */
  patchWithin(series: SeriesOfLog, after: number, until: number): Promise<Patch>;
  /** The rows of these commits, in their order. */
  rowsWithin(after: number, until: number): LogRow[];
  /** How many series it tells of, at most. */
  readonly seriesCount: number;
}

/** What a transaction has to know of the log beyond what is on the disk. */
interface Tail {
  /** Rows that this transaction has written itself. They are looked into when it asks for the log, which few do. */
  readonly own: SampleLogRow[];
  /** The rows of commits that are not on the disk yet, and its own. */
  index: LogIndex | undefined;
}

const BYTES_CACHED_MAX = 64 * 1024 * 1024;
const ROWS_READ = 64;
const ROWS_ADVANCED = 256;

/**
 * The log's rows that are not compacted yet, kept in memory by shard: where the changes of each series are, and, up
 * to a bound, the rows' bytes. Only what is on the disk is kept: all else is a transaction's own.
 */
export class PendingLogs {
  readonly #indexes = new Map<number, LogIndex>();
  readonly #tails = new WeakMap<Reader, Tail>();
  /** The rows whose bytes are kept, the longest unused first. */
  readonly #kept = new Set<LogRow>();
  #keptBytes = 0;
  readonly #bytesCachedMax: number;

  constructor(bytesCachedMax = BYTES_CACHED_MAX) {
    this.#bytesCachedMax = bytesCachedMax;
  }

  /** Called for each row that a transaction writes; it gets the row's place in its commit. */
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
    const tail = await this.#loadTail(tx, durable.untilCommit);
    // The first is shared: what comes to it while this reader is at work is not of its state.
    const indexes = [
      { index: durable, lastCommit: tx.lastCommit },
      { index: tail, lastCommit: Infinity },
    ];
    const patchWithin = async ({ organisation, key }: SeriesOfLog, after: number, until: number): Promise<Patch> => {
      const found: FoundChange[] = [];
      for (const { index, lastCommit } of indexes) {
        const places = index.placesOf(organisation, key);
        if (places !== undefined) await this.#collect(tx, places, after, Math.min(until, lastCommit), found);
      }
      return patchOfFound(found);
    };
    return {
      seriesCount: durable.seriesCount + tail.seriesCount,
      patchOf: (series) => patchWithin(series, compactedOf(progress, series.key), Infinity),
      patchWithin,
      rowsWithin: (after, until) =>
        indexes.flatMap(({ index: { rows }, lastCommit }) =>
          rows.slice(firstAfter(rows, after), firstAfter(rows, Math.min(until, lastCommit))),
        ),
    };
  }

  /**
   * Takes some of the log into memory: who needs it next has less to read while others wait.
   *
   * @returns whether there is more.
   */
  async advance(tx: Reader, progress: Progress, rowCountMax = ROWS_ADVANCED): Promise<boolean> {
    const { compactedCommit } = progress;
    if (progress.commit > tx.durableCommit) return false;
    if ((this.#indexes.get(tx.shard)?.fromCommit ?? 0) > compactedCommit) return false;
    const index = this.#indexAfter(tx.shard, compactedCommit);
    const where = [['commit', '<=', tx.durableCommit]] as const;
    const after = [index.untilCommit, Number.MAX_SAFE_INTEGER];
    const rows = await tx.find(sampleLog, { where, orderBy: LOG_ORDER, after, limit: rowCountMax });
    // Of the last commit there may be more.
    const untilCommit = rows.length < rowCountMax ? tx.durableCommit : rows.at(-1)!.commit - 1;
    if (untilCommit <= index.untilCommit) return false;
    const whole = rows.filter(({ commit }) => commit <= untilCommit);
    for (const row of index.add(whole.map(logRowOf), untilCommit)) this.#keep(row);
    return rows.length === rowCountMax;
  }

  /** The shard's index, brought up to what this reader sees on the disk; or one of its own for an older state. */
  async #durable(tx: Reader, progress: Progress): Promise<LogIndex> {
    const { compactedCommit } = progress;
    const isSettled = progress.commit <= tx.durableCommit;
    const known = this.#indexes.get(tx.shard);
    const untilCommit = Math.min(tx.durableCommit, tx.lastCommit);
    if (known === undefined && !isSettled) return new LogIndex(compactedCommit);
    if (known !== undefined && (known.fromCommit > compactedCommit || known.untilCommit > untilCommit)) {
      return loadOlder(tx, compactedCommit, untilCommit);
    }
    // Where the compaction itself may yet be undone, the log is not cut: its rows would be missed.
    if (known !== undefined && !isSettled) return known;
    const index = this.#indexAfter(tx.shard, compactedCommit);
    if (index.untilCommit < untilCommit) {
      const rows = await readRows(tx, index.untilCommit, untilCommit);
      for (const row of index.add(rows, untilCommit)) this.#keep(row);
    }
    return index;
  }

  /** The shard's index of the commits after this one: what is before is let go of. */
  #indexAfter(shard: number, commit: number): LogIndex {
    const known = this.#indexes.get(shard);
    if (known?.fromCommit === commit) return known;
    for (const row of known?.rows.slice(0, firstAfter(known.rows, commit)) ?? []) this.#release(row);
    const index = known?.after(commit) ?? new LogIndex(commit);
    this.#indexes.set(shard, index);
    return index;
  }

  async #loadTail(tx: Reader, afterCommit: number): Promise<LogIndex> {
    const tail = this.#tailOf(tx);
    if (tail.index === undefined || tail.index.fromCommit > afterCommit) {
      const index = new LogIndex(afterCommit);
      index.add(afterCommit < tx.lastCommit ? await readRows(tx, afterCommit, tx.lastCommit) : [], tx.lastCommit);
      for (const row of tail.own) index.addRow(logRowOf(row));
      tail.index = index;
    } else if (tail.index.fromCommit < afterCommit) {
      tail.index = tail.index.after(afterCommit);
    }
    return tail.index;
  }

  async #collect(tx: Reader, places: Places, after: number, until: number, found: FoundChange[]): Promise<void> {
    const { rows, indexes } = places;
    const end = firstAfter(rows, until);
    for (let i = firstAfter(rows, after); i < end; i++) {
      const row = rows[i]!;
      const bytes = row.bytes ?? (await this.#readAgain(tx, row));
      found.push({ bytes, heads: row.heads, index: indexes[i]!, damage: row.damage });
    }
  }

  async #readAgain(tx: Reader, row: LogRow): Promise<Uint8Array> {
    const { commit, part } = row;
    const found = await tx.get(sampleLog, { commit, part });
    if (found === undefined) throw new Error(`the log of shard ${tx.shard} lacks part ${part} of commit ${commit}`);
    row.damage = inspectRow(found, row.heads).damage;
    row.bytes = found.changes;
    this.#keep(row);
    return found.changes;
  }

  #keep(row: LogRow): void {
    this.#kept.add(row);
    this.#keptBytes += row.byteCount;
    for (const oldest of this.#kept) {
      if (this.#keptBytes <= this.#bytesCachedMax || oldest === row) return;
      this.#release(oldest);
    }
  }

  #release(row: LogRow): void {
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

// A reader of a state before that of the index: what it needs may have been forgotten there.
async function loadOlder(tx: Reader, afterCommit: number, untilCommit: number): Promise<LogIndex> {
  const index = new LogIndex(afterCommit);
  index.add(await readRows(tx, afterCommit, untilCommit), untilCommit);
  return index;
}

async function readRows(tx: Reader, afterCommit: number, untilCommit: number): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  for await (const row of logRows(tx, afterCommit, untilCommit)) rows.push(logRowOf(row));
  return rows;
}

const LOG_ORDER = [{ column: 'commit' }, { column: 'part' }] as const;

/** The log's rows of the commits `(afterCommit, untilCommit]`, some at a time. */
export async function* logRows(tx: Reader, afterCommit: number, untilCommit: number): AsyncGenerator<SampleLogRow> {
  const where = [['commit', '<=', untilCommit]] as const;
  for (let after: readonly number[] = [afterCommit, Number.MAX_SAFE_INTEGER]; ; ) {
    const rows = await tx.find(sampleLog, { where, orderBy: LOG_ORDER, after, limit: ROWS_READ });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_READ) return;
    after = [last.commit, last.part];
  }
}
