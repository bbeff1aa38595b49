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
  /** Up to when samples of a series were forgotten by retention; see `SampleStore.forgottenMs`. */
  forgottenMs(organisation: string, source: SeriesReference): Promise<number | undefined>;
}

/** The next final samples of a source, at most so many. */
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
 * The samples of sources that were read last, for the items that go over them: a series that many items read is read
 * once for all of them, as far as there is room. The worker tells what has changed, all but what retention deletes.
 */
export class SourceCache {
  readonly #samplesMax: number;
  /** By shard (as a series may have a replica), organisation and series, the longest unused first. */
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
      // Where fewer came than were asked for, there are no more.
      const untilMs = read.timeMs.length < missing ? range.untilMs : nextDouble(lastTimeMs(read)!);
      run = { ...run, untilMs, columns: concatenate([run.columns, read]) };
    }
    this.#keep(key, run);
    return cut(run, range);
  }

  /** A series has changed from an instant on. */
  changed(shard: number, organisation: string, series: SeriesReference, fromMs: number): void {
    const key = keyOf(shard, organisation, series);
    const run = this.#runs.get(key);
    if (run === undefined || run.untilMs <= fromMs) return;
    this.#drop(key);
    const left = { ...run, untilMs: fromMs };
    if (run.fromMs < fromMs) this.#keep(key, { ...left, columns: cut(left, { ...left, limit: Infinity }) });
  }

  /** Forgets what is known of a shard. */
  clear(shard: number): void {
    for (const [key, run] of this.#runs) if (run.shard === shard) this.#drop(key);
  }

  // To the end of the line; where there are too many samples, the longest unused are let go of.
  #keep(key: string, run: Run): void {
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
