import { nextDouble } from '../../../core/next-double.js';
import { type Series, type SeriesReference, seriesKey } from '../../../core/series.js';
import type { Plan } from '../../../index.js';
import type { Columns } from '../../../storage/samples/samples.js';
import { cutSlice, type Positions, type Slice } from '../compute/slice.js';
import { type ResultSession, rangeAfter } from './results.js';
import type { WorkerSizes } from './sizes.js';
import type { SourceCache, SourceSession } from './source-cache.js';

export interface SourcesSession extends SourceSession, ResultSession {
  readonly sizes: WorkerSizes;
  readonly sources: SourceCache;
}

/** What an item reads beside clients' series. */
export interface Producers {
  /** Sources that are results: they may end with samples that the next input changes. */
  readonly resultSources: readonly number[];
  /** 0, or one more than the greatest of the items whose results it reads. */
  readonly rank: number;
}

/** The series that an item reads. */
export class Sources {
  /** As of the commit of the catalogue at which the item was last looked up. */
  producers: Producers = { resultSources: [], rank: 0 };
  readonly series: readonly SeriesReference[];
  readonly #organisation: string;
  readonly #indexes: ReadonlyMap<string, number>;

  constructor(organisation: string, { sources }: Plan) {
    this.series = sources;
    this.#organisation = organisation;
    this.#indexes = new Map(sources.map((source, index) => [seriesKey(source), index]));
  }

  indexOf(series: SeriesReference): number {
    const index = this.#indexes.get(seriesKey(series));
    if (index === undefined) throw new Error('assertion failed: the item does not read the series');
    return index;
  }

  /** The next samples behind these positions, at most about so many. */
  async readSlice(session: SourcesSession, positions: Positions, limit: number, untilMs = Infinity): Promise<Slice> {
    const { sizes, sources } = session;
    // Results of this transaction are samples too.
    await session.flush();
    const ofSource = Math.max(sizes.sourceSamplesMin, Math.ceil(limit / Math.max(1, this.series.length)));
    const read: Columns[] = [];
    for (const [index, source] of this.series.entries()) {
      const range = { fromMs: nextDouble(positions[index]!), untilMs, limit: ofSource };
      read.push(await sources.read(session, this.#organisation, source, range));
    }
    return cutSlice(this.series, positions, read, ofSource);
  }

  /** Samples of results behind their final ones: the next input may change them, so no state rests on them. */
  async readTail(session: SourcesSession, positions: Positions, untilMs?: number): Promise<Series[]> {
    const { resultSources } = this.producers;
    const tail: Series[] = [];
    if (resultSources.length === 0) return tail;
    await session.flush();
    const { context, tx } = session;
    for (const index of resultSources) {
      const source = this.series[index]!;
      const range = rangeAfter(positions[index]!, untilMs);
      tail.push({ ...source, ...(await context.samples.read(tx, this.#organisation, source, range)) });
    }
    return tail;
  }

  /** Up to when samples that results rest on were deleted by retention: nothing could be computed in their place. */
  async forgottenMs(session: SourceSession): Promise<number | null> {
    let latestMs = Number.NEGATIVE_INFINITY;
    for (const source of this.series) {
      latestMs = Math.max(latestMs, (await session.forgottenMs(this.#organisation, source)) ?? latestMs);
    }
    return latestMs === Number.NEGATIVE_INFINITY ? null : latestMs;
  }
}
