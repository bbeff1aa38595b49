import { nextDouble } from '../../../core/next-double.js';
import { type Series, type SeriesReference, seriesKey } from '../../../core/series.js';
import type { Plan } from '../../../plan/plan.js';
import type { Columns } from '../../../storage/samples/samples.js';
import { cutSlice, type Positions, type Slice } from '../compute/slice.js';
import { reachesOf } from './reach.js';
import { type ResultSession, rangeAfter } from './results.js';
import type { WorkerSizes } from './sizes.js';
import type { SourceCache, SourceSession } from './source-cache.js';

export interface SourcesSession extends SourceSession, ResultSession {
  readonly sizes: WorkerSizes;
  readonly sources: SourceCache;
}

/** How an item depends on other items. */
export interface Producers {
  /** Sources that are results, which may end with provisional samples. */
  readonly resultSources: readonly number[];
  /** 0, or one more than the greatest rank of the items whose results it reads. */
  readonly rank: number;
}

/** The series that an item reads. */
export class Sources {
  /** As of the catalogue's commit at which the item was last looked up. */
  producers: Producers = { resultSources: [], rank: 0 };
  readonly series: readonly SeriesReference[];
  readonly #organisation: string;
  readonly #plan: Plan;
  readonly #indexes: ReadonlyMap<string, number>;
  /** For each source; computed when retention deletes some of its samples. */
  #reaches: readonly number[] | undefined;

  constructor(organisation: string, plan: Plan) {
    this.series = plan.sources;
    this.#organisation = organisation;
    this.#plan = plan;
    this.#indexes = new Map(plan.sources.map((source, index) => [seriesKey(source), index]));
  }

  indexOf(series: SeriesReference): number {
    const index = this.#indexes.get(seriesKey(series));
    if (index === undefined) throw new Error('assertion failed: the item does not read the series');
    return index;
  }

  /** The next samples after these positions, about `limit` at most. */
  async readSlice(session: SourcesSession, positions: Positions, limit: number, untilMs = Infinity): Promise<Slice> {
    const { sizes, sources } = session;
    // The results of this transaction are sources too.
    await session.flush(this.#organisation, this.series);
    const ofSource = Math.max(sizes.sourceSamplesMin, Math.ceil(limit / Math.max(1, this.series.length)));
    const read: Columns[] = [];
    for (const [index, source] of this.series.entries()) {
      const range = { fromMs: nextDouble(positions[index]!), untilMs, limit: ofSource };
      read.push(await sources.read(session, this.#organisation, source, range));
    }
    return cutSlice(this.series, positions, read, ofSource);
  }

  /**
   * The provisional samples of sources that are results. The next input may change them, so they never enter a state.
   */
  async readTail(session: SourcesSession, positions: Positions, untilMs?: number): Promise<Series[]> {
    const { resultSources } = this.producers;
    const tail: Series[] = [];
    if (resultSources.length === 0) return tail;
    await session.flush(this.#organisation, this.series);
    const { context, tx } = session;
    for (const index of resultSources) {
      const source = this.series[index]!;
      const range = rangeAfter(positions[index]!, untilMs);
      tail.push({ ...source, ...(await context.samples.read(tx, this.#organisation, source, range)) });
    }
    return tail;
  }

  /** Whether retention has deleted samples of any source. */
  async haveForgotten(session: SourcesSession): Promise<boolean> {
    for (const source of this.series) {
      if ((await session.forgottenMs(this.#organisation, source)) !== undefined) return true;
    }
    return false;
  }

  /**
   * Up to where results may rest on samples that retention has deleted, if they are computed from these positions on;
   * null if none may.
   */
  async lacksUntilMs(session: SourcesSession, positions: Positions): Promise<number | null> {
    const { context, tx } = session;
    let untilMs = Number.NEGATIVE_INFINITY;
    for (const [index, source] of this.series.entries()) {
      const forgottenMs = await session.forgottenMs(this.#organisation, source);
      if (forgottenMs === undefined || forgottenMs <= positions[index]!) continue;
      const left = { fromMs: nextDouble(forgottenMs), limit: 1, isFinalOnly: true };
      const { timeMs } = await context.samples.read(tx, this.#organisation, source, left);
      this.#reaches ??= reachesOf(this.#plan);
      untilMs = Math.max(untilMs, (timeMs[0] ?? Number.POSITIVE_INFINITY) + this.#reaches[index]!);
    }
    return untilMs === Number.NEGATIVE_INFINITY ? null : Math.min(untilMs, Number.MAX_VALUE);
  }
}
