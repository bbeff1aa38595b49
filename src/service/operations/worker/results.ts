import { nextDouble } from '../../../core/next-double.js';
import { areSameColumns, type SeriesReference, TIME_MS_END, TIME_MS_MIN } from '../../../core/series.js';
import { DamagedSamplesError } from '../../../storage/errors.js';
import { between } from '../../../storage/samples/patch.js';
import { type Columns, NO_COLUMNS, type SampleChange, type SampleRange } from '../../../storage/samples/samples.js';
import type { Transaction } from '../../../storage/storage.js';
import type { ServiceContext } from '../../context.js';
import { lastTimeMs, resultChange } from '../compute/columns.js';
import type { Progress } from './checkpoints.js';

export type ResultChange = Omit<SampleChange, 'timeseriesId' | 'metric'>;

export interface ResultSession {
  readonly context: ServiceContext;
  readonly tx: Transaction;
  readonly writer: Transaction;
  /** Changes a result in the store, and for the items that read it. */
  publish(result: Results, change: ResultChange): Promise<void>;
  /** Writes the published changes if they are of these series, which are about to be read. */
  flush(organisation: string, read: readonly SeriesReference[]): Promise<void>;
  /** Tells the readers of a result that its preview has changed from an instant on. */
  notifyPreviewReaders(organisation: string, result: SeriesReference, firstMs: number): Promise<void>;
}

const PREVIEW_KEPT_MAX = 65_536;

/** The result series of an item: its final samples, followed by its preview. */
export class Results {
  readonly organisation: string;
  readonly itemId: string;
  readonly series: SeriesReference;
  /** The stored preview; undefined if unknown. */
  #preview: Columns | undefined;

  constructor(organisation: string, itemId: string, series: SeriesReference) {
    this.organisation = organisation;
    this.itemId = itemId;
    this.series = series;
  }

  /** Replaces the results after this progress: up to the last computed one, or up to the end. */
  async replace(session: ResultSession, from: Progress, computed: Columns, isEnd: boolean): Promise<void> {
    await session.flush(this.organisation, [this.series]);
    const afterMs = await this.#fixedUntil(session, from);
    const results = afterMs === null ? computed : between(computed, nextDouble(afterMs), Number.POSITIVE_INFINITY);
    const startMs = afterMs ?? Number.NEGATIVE_INFINITY;
    const lastMs = lastTimeMs(results);
    if (lastMs !== undefined) {
      const stored = await this.#readStored(session, rangeAfter(startMs, nextDouble(lastMs)));
      const fromMs = afterMs === null ? TIME_MS_MIN : nextDouble(afterMs);
      const whole = { ...results, deleted: { fromMs, untilMs: nextDouble(lastMs) } };
      const change = stored === undefined ? whole : resultChange(stored, results);
      if (change !== undefined) await session.publish(this, change);
    }
    if (!isEnd) return;
    const afterLast = rangeAfter(lastMs ?? startMs, undefined);
    const left = await this.#readStored(session, { ...afterLast, limit: 1 });
    const leftMs = left === undefined ? (afterLast.fromMs ?? TIME_MS_MIN) : left.timeMs[0];
    if (leftMs === undefined) return;
    await session.publish(this, { ...NO_COLUMNS, deleted: { fromMs: leftMs, untilMs: TIME_MS_END } });
  }

  /**
   * Results up to here stay as they are: those that are final, and those that are stored and may rest on samples which
   * retention has deleted meanwhile, for nothing could be computed in their place.
   */
  async #fixedUntil(session: ResultSession, { emittedMs, lacksUntilMs }: Progress): Promise<number | null> {
    if (lacksUntilMs === null) return emittedMs;
    const storedMs = (await this.#readStored(session, { limit: 1, isDescending: true }))?.timeMs[0];
    if (storedMs === undefined) return emittedMs;
    const keptMs = Math.min(lacksUntilMs, storedMs);
    return Math.max(emittedMs ?? keptMs, keptMs);
  }

  /** Whether no final results are stored. */
  async isEmpty(session: ResultSession): Promise<boolean> {
    await session.flush(this.organisation, [this.series]);
    return session.context.samples.isEmpty(session.tx, this.organisation, this.series, { isFinalOnly: true });
  }

  /** Undefined if they are damaged: all of them are then replaced. */
  async #readStored({ context, tx }: ResultSession, range: SampleRange): Promise<Columns | undefined> {
    try {
      return await context.samples.read(tx, this.organisation, this.series, { ...range, isFinalOnly: true });
    } catch (error) {
      if (error instanceof DamagedSamplesError) return undefined;
      throw error;
    }
  }

  /** Stores the preview after the final results, and tells its readers. */
  async setPreview(session: ResultSession, preview: Columns): Promise<void> {
    const before = this.#preview;
    if (before !== undefined && areSameColumns(before, preview)) return;
    const { context, writer } = session;
    await context.samples.setProvisional(writer, this.organisation, { ...this.series, ...preview });
    this.#preview = preview.timeMs.length > PREVIEW_KEPT_MAX ? undefined : preview;
    const firstMs = preview.timeMs[0] ?? Number.POSITIVE_INFINITY;
    await session.notifyPreviewReaders(this.organisation, this.series, Math.min(firstMs, this.#firstMs(before)));
  }

  /** Whether the preview may have samples up to an instant. */
  hasPreviewUntil(timeMs: number): boolean {
    return this.#firstMs(this.#preview) <= timeMs;
  }

  #firstMs(preview: Columns | undefined): number {
    return preview === undefined ? Number.NEGATIVE_INFINITY : (preview.timeMs[0] ?? Number.POSITIVE_INFINITY);
  }
}

/** The range after an instant. */
export function rangeAfter(afterMs: number, untilMs: number | undefined) {
  return {
    ...(afterMs === Number.NEGATIVE_INFINITY ? {} : { fromMs: nextDouble(afterMs) }),
    ...(untilMs === undefined ? {} : { untilMs }),
  };
}
