import { nextDouble } from '../../../core/next-double.js';
import { type SeriesReference, seriesKey } from '../../../core/series.js';
import { firstAtOrAfter } from '../../../kernels/search.js';
import { sliceColumns } from '../../../storage/samples/patch.js';
import { type Columns, concatenate, NO_COLUMNS } from '../../../storage/samples/samples.js';
import type { Transaction } from '../../../storage/storage.js';
import type { ServiceContext } from '../../context.js';
import { lastTimeMs } from '../compute/columns.js';

export interface SourceSession {
  readonly context: ServiceContext;
  readonly tx: Transaction;
  /** The time up to which retention deleted samples of a series; see `SampleStore.forgottenMs`. */
  forgottenMs(organisation: string, source: SeriesReference): Promise<number | undefined>;
}

/** The next final samples of a source, at most `limit`. */
export interface SourceRange {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly limit: number;
}

/** The final samples of a series within `[fromMs, untilMs)`. */
interface Run {
  readonly shard: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly columns: Columns;
  readonly forgottenMs: number | undefined;
}

/**
 * Caches recently read samples of sources, so that a series with many readers is read once for all of them, as far as
 * there is space. The worker reports every change but deletions by retention.
 */
export class SourceCache {
  readonly #samplesMax: number;
  /** By shard (a series may have a replica), organisation and series; least recently used first. */
  readonly #runs = new Map<string, Run>();
  #sampleCount = 0;

  constructor(samplesMax: number) {
    this.#samplesMax = samplesMax;
  }

  async read(
    session: SourceSession,
    organisation: string,
    source: SeriesReference,
    range: SourceRange,
  ): Promise<Columns> {
    const { context, tx } = session;
    const key = keyOf(tx.shard, organisation, source);
    const forgottenMs = await session.forgottenMs(organisation, source);
    const known = this.#runs.get(key);
    const none = { shard: tx.shard, fromMs: range.fromMs, untilMs: range.fromMs, columns: NO_COLUMNS, forgottenMs };
    let run: Run = known !== undefined && isWithin(known, range.fromMs, forgottenMs) ? known : none;
    const missing = range.limit - cut(run, range).timeMs.length;
    if (missing > 0 && run.untilMs < range.untilMs) {
      const rest = { fromMs: run.untilMs, untilMs: range.untilMs, limit: missing, isFinalOnly: true };
      const read = await context.samples.read(tx, organisation, source, rest);
      // If fewer came than were requested, there are no more.
      const untilMs = read.timeMs.length < missing ? range.untilMs : nextDouble(lastTimeMs(read)!);
      run = { ...run, untilMs, columns: concatenate([run.columns, read]) };
    }
    this.#add(key, run);
    return cut(run, range);
  }

  /** Called when a series has changed from an instant on. */
  changed(shard: number, organisation: string, series: SeriesReference, fromMs: number): void {
    const key = keyOf(shard, organisation, series);
    const run = this.#runs.get(key);
    if (run === undefined || run.untilMs <= fromMs) return;
    this.#drop(key);
    const left = { ...run, untilMs: fromMs };
    if (run.fromMs < fromMs) this.#add(key, { ...left, columns: cut(left, { ...left, limit: Infinity }) });
  }

  /** Drops the series of a shard. */
  clear(shard: number): void {
    for (const [key, run] of this.#runs) if (run.shard === shard) this.#drop(key);
  }

  // Adds it as the most recently used, and drops the least recently used ones beyond the limits.
  #add(key: string, run: Run): void {
    this.#drop(key);
    this.#runs.set(key, run);
    this.#sampleCount += run.columns.timeMs.length;
    for (const oldest of this.#runs.keys()) {
      if (this.#sampleCount <= this.#samplesMax && this.#runs.size <= RUNS_MAX) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#sampleCount -= this.#runs.get(key)?.columns.timeMs.length ?? 0;
    this.#runs.delete(key);
  }
}

const RUNS_MAX = 10_000;

function isWithin(run: Run, fromMs: number, forgottenMs: number | undefined): boolean {
  return run.forgottenMs === forgottenMs && run.fromMs <= fromMs && fromMs <= run.untilMs;
}

function cut({ columns }: Run, { fromMs, untilMs, limit }: SourceRange): Columns {
  const { timeMs } = columns;
  const start = firstAtOrAfter(timeMs, 0, timeMs.length, fromMs);
  const end = firstAtOrAfter(timeMs, start, timeMs.length, untilMs);
  return sliceColumns(columns, start, Math.min(end, start + limit));
}

function keyOf(shard: number, organisation: string, series: SeriesReference): string {
  return `${shard}:${organisation.length}:${organisation}${seriesKey(series)}`;
}
