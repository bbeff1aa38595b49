import { groupBy } from '../../../core/group.js';
import { CsvError } from '../../../formats/csv/errors.js';
import { StorageError, StorageFullError, UnknownCommitError } from '../../../storage/errors.js';
import { type Origin, ResultSeriesError, type SampleChange } from '../../../storage/samples/samples.js';
import type { Placement } from '../../../storage/shard.js';
import type { Transaction } from '../../../storage/storage.js';
import type { ServiceContext } from '../../context.js';
import { describeWindrowError, messageForBody, ServiceError, unavailable } from '../../http/errors.js';
import { type BatchCounts, createSampleBatch, takeChanges } from './batch.js';
import { type CsvSettings, withMends } from './csv-query.js';
import { writtenByItem } from './delete.js';
import { describeStored, type SampleDefaults, SampleIssues } from './json.js';
import { prepareSeries } from './prepare-series.js';

export interface Ingested extends BatchCounts {
  /** Whether the offset was stored before, so that nothing was done. */
  isRepeated: boolean;
  /** How many rows of a CSV body were left out. */
  rejected?: number;
  /** How a CSV body was read, where that is not plain: columns and rows left out, decimal commas. */
  notes?: string[];
}

/** Whose samples are stored, and where. */
export interface Ingest {
  readonly organisation: string;
  readonly placement: Placement;
  readonly defaults: SampleDefaults;
  readonly origin?: Origin | undefined;
  /** How to read a CSV. */
  readonly csv?: CsvSettings | undefined;
  /** Shards in which an attempt before may have stored the samples. */
  readonly mayBeStored?: ReadonlySet<number> | undefined;
  /** Over what the body came, to tell whether one caller writes alone. */
  readonly connection?: object | undefined;
  /** Called within each transaction that stored samples: work that it starts shares the commit. */
  readonly onStored: (shard: number) => void;
}

/** How many samples of a streamed body share a commit. */
const PART_SAMPLES = 50_000;
/** Beyond this many faults, the rest of a streamed body is not read. */
const ISSUES_MAX = 1000;

/** Collects the samples of one body in a batch, and stores them. */
export class Sink {
  readonly batch = createSampleBatch();
  readonly issues = new SampleIssues();
  readonly total: Ingested = { samples: 0, missing: 0, duplicate: 0, isRepeated: false };
  readonly #context: ServiceContext;
  readonly #job: Ingest;

  constructor(context: ServiceContext, job: Ingest) {
    this.#context = context;
    this.#job = job;
  }

  /** Stores the batch. @throws ServiceError 400 if there were faults. */
  async flush(): Promise<void> {
    const { issues, total } = this;
    issues.refuse(total.samples);
    this.checkSize();
    const { changes, counts } = await takeChanges(this.batch);
    // A body without samples takes its offset, too, so that the same again is told as repeated.
    const isWrite = changes.length > 0 || this.#job.origin !== undefined;
    if (isWrite && !(await store(this.#context, this.#job, changes, total.samples))) {
      total.isRepeated = true;
      return;
    }
    this.#context.metrics.samplesIngested.inc(counts.samples);
    total.samples += counts.samples;
    total.missing += counts.missing;
    total.duplicate += counts.duplicate;
  }

  /** Stores what is enough for a commit of its own; a body from a queue has a single commit. */
  async flushWhenFull(): Promise<void> {
    this.checkSize();
    const isFull = this.batch.rowCount >= PART_SAMPLES && this.#job.origin === undefined;
    if (isFull || this.issues.count >= ISSUES_MAX) await this.flush();
  }

  /** @throws ServiceError 413 for more than may be in memory at once. */
  checkSize(): void {
    const { bodySeriesMax, queuedSamplesMax } = this.#context.settings;
    if (this.batch.series.length > bodySeriesMax) throw tooLarge(`${bodySeriesMax} series`);
    if (this.#job.origin !== undefined && this.batch.rowCount > queuedSamplesMax) {
      throw tooLarge(`${queuedSamplesMax} samples from a queue`);
    }
  }
}

function tooLarge(most: string): ServiceError {
  return new ServiceError(413, `the body is too large: expected at most ${most}; send it in parts`);
}

/** What became of the changes of one shard: all are stored, or none and why. */
interface PartOutcome {
  readonly stored: readonly SampleChange[];
  readonly failures: readonly unknown[];
}

/**
 * Stores changes, with a commit for each of their shards; those from a queue in one commit over all, as they are
 * stored as a whole or not at all.
 *
 * @param samplesBefore how many samples of the body are stored already, for the error if only some of these are.
 * @returns whether they are stored now; false if the offset of the queue was stored before.
 */
async function store(
  context: ServiceContext,
  job: Ingest,
  changes: readonly SampleChange[],
  samplesBefore: number,
): Promise<boolean> {
  const { organisation, placement, origin } = job;
  const parts = groupBy(changes, ({ timeseriesId }) => placement.shardOf(timeseriesId));
  try {
    for (const [shard, part] of parts) await prepareSeries(context, shard, organisation, part);
    if (origin !== undefined) return await storeDelivered(context, { ...job, origin }, parts);
    const storePart = async (shard: number, part: readonly SampleChange[]): Promise<PartOutcome> => {
      try {
        await context.storage.transaction(shard, async (tx) => {
          await context.samples.append(tx, organisation, part);
          job.onStored(shard);
        });
        return { stored: part, failures: [] };
      } catch (error) {
        return { stored: [], failures: [job.mayBeStored?.has(shard) === true ? asUnknown(error) : error] };
      }
    };
    const outcomes = await Promise.all([...parts].map(([shard, part]) => storePart(shard, part)));
    const failures = outcomes.flatMap((outcome) => outcome.failures);
    if (failures.length === 0) return true;
    const stored = outcomes.flatMap((outcome) => outcome.stored);
    const worst = failures.find((failure) => failure instanceof UnknownCommitError) ?? failures[0];
    throw storedInPart(worst, samplesBefore, stored, changes);
  } catch (error) {
    throw error instanceof ResultSeriesError ? writtenByItem(error) : error;
  }
}

/** A failure of the store, where an attempt before may have taken effect. */
function asUnknown(error: unknown): unknown {
  return error instanceof StorageError ? new UnknownCommitError(error.message, { cause: error }) : error;
}

const SERIES_LISTED_MAX = 100;

/** An error that says which of the changes are stored nevertheless, and which are not or may not be. */
function storedInPart(
  error: unknown,
  samplesBefore: number,
  stored: readonly SampleChange[],
  changes: readonly SampleChange[],
): unknown {
  const cause = error instanceof ResultSeriesError ? writtenByItem(error) : error;
  const samplesStored = stored.reduce((sum, { timeMs }) => sum + timeMs.length, samplesBefore);
  if (samplesStored === 0) return cause;
  const storedChanges = new Set(stored);
  const notStored = changes.filter((change) => !storedChanges.has(change));
  const series = notStored.slice(0, SERIES_LISTED_MAX).map(({ timeseriesId, metric }) => ({ timeseriesId, metric }));
  const isUnknown = error instanceof UnknownCommitError;
  const { statusCode, message, headers, details } = describedFailure(cause);
  return new ServiceError(
    statusCode,
    `${message}; ${samplesStored} samples are stored, those of ${notStored.length} series ` +
      `${isUnknown ? 'may not be' : 'are not'}; sending all again is safe`,
    {
      details: { ...Object(details), samplesStored, [isUnknown ? 'seriesUnknown' : 'seriesNotStored']: series },
      headers: { ...headers },
      cause,
    },
  );
}

function describedFailure(cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  return cause instanceof StorageError ? describeWindrowError(cause) : unavailable('the store failed', { cause });
}

async function storeDelivered(
  { storage, samples }: ServiceContext,
  { organisation, placement, origin, onStored }: Ingest & { readonly origin: Origin },
  parts: ReadonlyMap<number, readonly SampleChange[]>,
): Promise<boolean> {
  // All shards, even those without samples: bodies over the same shards share commits, and a store may keep a writer
  // for each set of shards.
  return storage.transactionOver(placement.shards, async (txs) => {
    const append = (tx: Transaction, options = {}) =>
      samples.append(tx, organisation, parts.get(tx.shard) ?? [], options);
    // The offset lies in the home of the organisation.
    const home = txs.find(({ shard }) => shard === placement.home)!;
    if (!(await append(home, { origin }))) return false;
    for (const tx of txs) if (tx !== home && parts.has(tx.shard)) await append(tx);
    for (const shard of parts.keys()) onStored(shard);
    return true;
  });
}

/** The error of a body that was stored in parts, with how much of it is stored. */
export function withStoredCount(error: unknown, samplesStored: number, { defaults }: Ingest): unknown {
  const storedText = describeStored(samplesStored);
  if (error instanceof CsvError) {
    const details = { code: error.code, ...(error.line === undefined ? {} : { line: error.line }), samplesStored };
    const mended = withMends(messageForBody(error), error.options, defaults.timeseriesId !== undefined);
    const message = `${mended}; ${storedText}`;
    return new ServiceError(400, message, { details, cause: error });
  }
  if (samplesStored === 0) return error;
  if (error instanceof StorageFullError) {
    return unavailable(`the disk of the service is full; ${storedText}`, { details: { samplesStored }, cause: error });
  }
  const described = error instanceof StorageError ? describeWindrowError(error) : error;
  if (!(described instanceof ServiceError)) return error;
  const { statusCode, message, headers } = described;
  const details = Object(described.details);
  // Such an error already says how much is stored.
  if ('samplesStored' in details) return error;
  const options = { details: { ...details, samplesStored }, headers: { ...headers }, cause: error };
  return new ServiceError(statusCode, `${message}; ${storedText}`, options);
}
