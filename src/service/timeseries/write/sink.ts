import { CsvError } from '../../../formats/csv/errors.js';
import { StorageFullError } from '../../../storage/errors.js';
import { type Origin, ResultSeriesError, type SampleChange } from '../../../storage/samples/samples.js';
import { shardOf } from '../../../storage/shard.js';
import type { ServiceContext } from '../../context.js';
import { ServiceError, unavailable } from '../../http/errors.js';
import { type BatchCounts, createSampleBatch, takeChanges } from './batch.js';
import { writtenByItem } from './delete.js';
import { describeStored, type SampleDefaults, SampleIssues } from './json.js';

export interface Ingested extends BatchCounts {
  /** Whether an offset that was taken before came again, so that nothing was done. */
  isRepeated: boolean;
}

/** Whom samples are taken for, and where they go. */
export interface Ingest {
  readonly organisation: string;
  readonly defaults: SampleDefaults;
  readonly origin?: Origin;
  /** Called within the work of each transaction that stored samples: what waits for them shares its commit. */
  readonly onStored: (shard: number) => void;
}

/** A streamed body is stored in parts of so many samples, each with a commit of its own. */
const PART_SAMPLES = 50_000;
/** A streamed body with so many faults is not read on. */
const ISSUES_MAX = 1000;

export type Sink = ReturnType<typeof createSink>;

/** Takes rows into its batch, and stores what has come. */
export function createSink(context: ServiceContext, job: Ingest) {
  const batch = createSampleBatch();
  const issues = new SampleIssues();
  const total: Ingested = { samples: 0, missing: 0, duplicate: 0, isRepeated: false };
  /** @throws ServiceError 400 where there were faults. */
  const flush = async (): Promise<void> => {
    issues.refuse(total.samples);
    const { changes, counts } = takeChanges(batch);
    if (changes.length > 0 && !(await store(context, job, changes))) {
      total.isRepeated = true;
      return;
    }
    context.metrics.samplesIngested.inc(counts.samples);
    total.samples += counts.samples;
    total.missing += counts.missing;
    total.duplicate += counts.duplicate;
  };
  /** @throws ServiceError 413 for more than is held at once. */
  const checkSize = (): void => {
    const { bodySeriesMax, queuedSamplesMax } = context.settings;
    if (batch.series.length > bodySeriesMax) throw tooLarge(`${bodySeriesMax} series`);
    if (job.origin !== undefined && batch.rowCount > queuedSamplesMax) {
      throw tooLarge(`${queuedSamplesMax} samples where a queue delivered it`);
    }
  };
  /** Stores what is enough for a commit of its own; what a queue delivered has one for all. */
  const flushWhenFull = async (): Promise<void> => {
    checkSize();
    const isFull = batch.rowCount >= PART_SAMPLES && job.origin === undefined;
    if (isFull || issues.count >= ISSUES_MAX) await flush();
  };
  return { batch, issues, total, flush, flushWhenFull, checkSize };
}

function tooLarge(most: string): ServiceError {
  return new ServiceError(413, `the body is too large: expected at most ${most}; send it in parts`);
}

async function store(context: ServiceContext, job: Ingest, changes: readonly SampleChange[]): Promise<boolean> {
  const shard = shardOf(job.organisation);
  const options = job.origin === undefined ? {} : { origin: job.origin };
  try {
    return await context.storage.transaction(shard, async (tx) => {
      const isNew = await context.samples.append(tx, job.organisation, changes, options);
      if (isNew) job.onStored(shard);
      return isNew;
    });
  } catch (error) {
    throw error instanceof ResultSeriesError ? writtenByItem(error) : error;
  }
}

/** An error of a body that is stored in parts, saying how much of it is. */
export function tellStored(error: unknown, samplesStored: number): unknown {
  const kept = describeStored(samplesStored);
  if (error instanceof CsvError) {
    const details = { code: error.code, ...(error.line === undefined ? {} : { line: error.line }), samplesStored };
    return new ServiceError(400, `${error.message}; ${kept}`, { details, cause: error });
  }
  if (samplesStored === 0) return error;
  if (error instanceof StorageFullError) {
    return unavailable(`the disk of the service is full; ${kept}`, { details: { samplesStored }, cause: error });
  }
  if (!(error instanceof ServiceError)) return error;
  const { statusCode, message, headers } = error;
  // The faults of rows are told with it already.
  const details = Object(error.details);
  if ('samplesStored' in details) return error;
  const options = { details: { ...details, samplesStored }, headers: { ...headers }, cause: error };
  return new ServiceError(statusCode, `${message}; ${kept}`, options);
}
