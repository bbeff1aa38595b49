import { groupBy } from '../../../core/group.js';
import { UnknownCommitError } from '../../../storage/errors.js';
import { nextTurn } from '../../../storage/next-turn.js';
import type { SampleChange } from '../../../storage/samples/samples.js';
import type { ServiceContext } from '../../context.js';
import { type BatchCounts, createSampleBatch, isSound, type SampleBatch, takeRows } from './batch.js';
import type { Ingest } from './sink.js';

export interface Gathered {
  readonly counts: BatchCounts;
  /** Resolves once the samples are on disk. A rejection may be the fault of another body. */
  readonly stored: Promise<void>;
}

/** Some of the shards of a gathering failed. */
export class GatheringError extends Error {
  /** Those whose samples are stored, or may be. */
  readonly mayBeStored: ReadonlySet<number>;

  constructor(mayBeStored: ReadonlySet<number>, options: { cause: unknown }) {
    super('not all bodies that were gathered are stored', options);
    this.name = new.target.name;
    this.mayBeStored = mayBeStored;
  }
}

/** Bodies of an organisation that are stored together. */
interface Gathering {
  /** Closes the batch to more bodies; returns its changes. */
  close(): readonly SampleChange[];
  readonly stored: Promise<void>;
  bodyCount: number;
}

/** The waiting samples of an organisation; series seen before keep their indexes. */
interface Waiting {
  readonly batch: SampleBatch;
  open: Gathering | undefined;
  /** How many bodies were stored together the last time. */
  lastBodyCount: number;
}

/** Larger bodies gain nothing from being gathered. */
const BODY_SAMPLES_MAX = 1000;
/** This many samples are worth a commit of their own; later ones go into the next. */
const SAMPLES_ENOUGH = 50_000;
/** The longest wait for more bodies, in ms. */
const WAIT_MS_MAX = 5;
/** After this many bodies in a row over one connection, whose caller waits for each answer, others hardly come. */
const ALONE_MIN = 16;
const SERIES_KEPT_MAX = 50_000;
const ORGANISATIONS_KEPT_MAX = 100;

type GatherContext = Pick<ServiceContext, 'storage' | 'samples' | 'clock'>;

/** Gathers small bodies that arrive together into one row of the log, one transaction and one change per series. */
export class Gatherer {
  readonly #context: GatherContext;
  readonly #waiting = new Map<string, Waiting>();
  /** Over which connection the last body came, and how many did so before it. */
  #connection: object | undefined;
  #inARow = 0;

  constructor(context: GatherContext) {
    this.#context = context;
  }

  /**
   * @param read adds the samples of a body to a batch; returns false if the body cannot be gathered.
   * @returns undefined, with nothing taken, for such a body, a large one, and one that goes back in time.
   */
  take(job: Ingest, read: (batch: SampleBatch) => boolean): Gathered | undefined {
    this.#inARow = job.connection === this.#connection ? this.#inARow + 1 : 0;
    this.#connection = job.connection;
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
    waiting.open.bodyCount++;
    if (batch.rowCount >= SAMPLES_ENOUGH) close();
    return { counts, stored };
  }

  #waitingOf(organisation: string): Waiting {
    const known = this.#waiting.get(organisation);
    // A gathering that is open goes on with its own batch.
    if (known !== undefined && known.batch.series.length <= SERIES_KEPT_MAX) return known;
    if (this.#waiting.size >= ORGANISATIONS_KEPT_MAX) this.#waiting.clear();
    const waiting: Waiting = { batch: createSampleBatch(), open: undefined, lastBodyCount: 0 };
    this.#waiting.set(organisation, waiting);
    return waiting;
  }

  #begin(job: Ingest, waiting: Waiting): Gathering {
    let changes: readonly SampleChange[] | undefined;
    const close = (): readonly SampleChange[] => {
      if (changes === undefined) {
        changes = takeRows(waiting.batch).changes;
        waiting.lastBodyCount = waiting.open?.bodyCount ?? 0;
        waiting.open = undefined;
      }
      return changes;
    };
    const size = () => (changes === undefined ? waiting.batch.rowCount : 0);
    // A caller who sends one body after the other need not wait for others.
    const mayBeMore = waiting.lastBodyCount !== 1;
    return { close, bodyCount: 0, stored: this.#store(job, size, close, mayBeMore) };
  }

  async #store(
    { organisation, placement, onStored, connection }: Ingest,
    size: () => number,
    close: () => readonly SampleChange[],
    mayBeMore: boolean,
  ): Promise<void> {
    const { storage, samples } = this.#context;
    const { home, shards } = placement;
    const isAlone = connection !== undefined && this.#inARow >= ALONE_MIN;
    const append = (shard: number, part: () => readonly SampleChange[]) =>
      storage.transaction(
        shard,
        async (tx) => {
          await samples.append(tx, organisation, part());
          onStored(shard);
        },
        { isAlone },
      );
    try {
      // Even where nobody waits, the batch is not closed before `take` has counted the body.
      await (mayBeMore ? this.#waitForMore(size) : undefined);
      // Bodies are taken until the transaction begins; where it runs again, it finds the same ones.
      if (shards.length === 1) return await append(home, close);
      const parts = groupBy(close(), ({ timeseriesId }) => placement.shardOf(timeseriesId));
      const ends = await Promise.allSettled([...parts].map(([shard, part]) => append(shard, () => part)));
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed === undefined) return;
      const mayBeStored = [...parts.keys()].filter((_, index) => mayHaveTakenEffect(ends[index]!));
      throw new GatheringError(new Set(mayBeStored), { cause: failed.reason });
    } finally {
      close();
    }
  }

  /**
   * Waits for more bodies, until a turn of the event loop brings none or the batch is closed. Clients that were
   * answered together send their next bodies at about the same time, and a commit costs more than a turn.
   */
  async #waitForMore(size: () => number): Promise<void> {
    const { clock } = this.#context;
    const untilMs = clock.monotonicMs() + WAIT_MS_MAX;
    let rowCount: number;
    do {
      rowCount = size();
      await nextTurn();
    } while (size() > rowCount && clock.monotonicMs() < untilMs);
  }
}

function mayHaveTakenEffect(end: PromiseSettledResult<void>): boolean {
  return end.status === 'fulfilled' || end.reason instanceof UnknownCommitError;
}
