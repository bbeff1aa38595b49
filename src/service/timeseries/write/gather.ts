import { groupBy } from '../../../core/group.js';
import { nextTurn } from '../../../storage/next-turn.js';
import type { SampleChange } from '../../../storage/samples/samples.js';
import type { ServiceContext } from '../../context.js';
import { type BatchCounts, createSampleBatch, isSound, type SampleBatch, takeRows } from './batch.js';
import type { Ingest } from './sink.js';

export interface Gathered {
  readonly counts: BatchCounts;
  /** Resolves once the samples are on the disk. What it rejects with may be the fault of another body. */
  readonly stored: Promise<void>;
}

/** Bodies of an organisation that will be stored together. */
interface Gathering {
  /** Takes no more bodies; gives what came. */
  close(): readonly SampleChange[];
  readonly stored: Promise<void>;
}

/** The samples of an organisation that wait; the series that it has had keep their indexes. */
interface Waiting {
  readonly batch: SampleBatch;
  open: Gathering | undefined;
}

/** Bodies of more samples gain nothing by company. */
const BODY_SAMPLES_MAX = 1000;
/** So many samples are a row of the log that is worth its commit; those that come after them get the next one. */
const SAMPLES_ENOUGH = 50_000;
/** However fast more of them come. */
const COMPANY_MS_MAX = 5;
const SERIES_KEPT_MAX = 50_000;
const ORGANISATIONS_KEPT_MAX = 100;

type GatherContext = Pick<ServiceContext, 'storage' | 'samples' | 'clock'>;

/** Gathers small bodies that come together: they are one row of the log, one transaction, one change a series. */
export class Gatherer {
  readonly #context: GatherContext;
  readonly #waiting = new Map<string, Waiting>();

  constructor(context: GatherContext) {
    this.#context = context;
  }

  /**
   * @param read adds the samples of a body to a batch; false where it is not to be gathered.
   * @returns undefined, and has taken nothing, for such a body, for a large one, and one that goes back in time.
   */
  take(job: Ingest, read: (batch: SampleBatch) => boolean): Gathered | undefined {
    const waiting = this.#waitingOf(job.organisation);
    const { batch } = waiting;
    const { rowCount } = batch;
    if (!read(batch) || batch.rowCount - rowCount > BODY_SAMPLES_MAX || !isSound(batch, rowCount)) {
      batch.rowCount = rowCount;
      return undefined;
    }
    const counts = { samples: batch.rowCount - rowCount, missing: 0, duplicate: 0 };
    if (counts.samples === 0) return { counts, stored: Promise.resolve() };
    waiting.open ??= this.#begin(job, waiting);
    const { stored, close } = waiting.open;
    if (batch.rowCount >= SAMPLES_ENOUGH) close();
    return { counts, stored };
  }

  #waitingOf(organisation: string): Waiting {
    const known = this.#waiting.get(organisation);
    // What is open goes on with the batch that it has.
    if (known !== undefined && known.batch.series.length <= SERIES_KEPT_MAX) return known;
    if (this.#waiting.size >= ORGANISATIONS_KEPT_MAX) this.#waiting.clear();
    const waiting: Waiting = { batch: createSampleBatch(), open: undefined };
    this.#waiting.set(organisation, waiting);
    return waiting;
  }

  #begin(job: Ingest, waiting: Waiting): Gathering {
    let changes: readonly SampleChange[] | undefined;
    const close = (): readonly SampleChange[] => {
      if (changes === undefined) {
        changes = takeRows(waiting.batch).changes;
        waiting.open = undefined;
      }
      return changes;
    };
    const size = () => (changes === undefined ? waiting.batch.rowCount : 0);
    return { close, stored: this.#store(job, size, close) };
  }

  async #store(
    { organisation, placement, onStored }: Ingest,
    size: () => number,
    close: () => readonly SampleChange[],
  ): Promise<void> {
    const { storage, samples } = this.#context;
    const { home, shards } = placement;
    const append = (shard: number, part: () => readonly SampleChange[]) =>
      storage.transaction(shard, async (tx) => {
        await samples.append(tx, organisation, part());
        onStored(shard);
      });
    try {
      await this.#company(size);
      // What comes until this work has its turn is of it; work that is run again finds the same.
      if (shards.length === 1) return await append(home, close);
      const parts = groupBy(close(), ({ timeseriesId }) => placement.shardOf(timeseriesId));
      await Promise.all([...parts].map(([shard, part]) => append(shard, () => part)));
    } finally {
      close();
    }
  }

  /**
   * Ends with the first turn of the event loop that brings no more bodies, or when no more are taken: clients that were
   * answered together send their next ones while those of others are read, and a commit costs more than a turn.
   */
  async #company(size: () => number): Promise<void> {
    const { clock } = this.#context;
    const untilMs = clock.monotonicMs() + COMPANY_MS_MAX;
    let rowCount: number;
    do {
      rowCount = size();
      await nextTurn();
    } while (size() > rowCount && clock.monotonicMs() < untilMs);
  }
}
