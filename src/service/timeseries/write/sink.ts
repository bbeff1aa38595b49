import { groupBy } from '../../../core/group.js';
import { CsvError } from '../../../formats/csv/errors.js';
import { StorageError, StorageFullError, UnknownCommitError } from '../../../storage/errors.js';
import { type Origin, ResultSeriesError, type SampleChange } from '../../../storage/samples/samples.js';
import type { Placement } from '../../../storage/shard.js';
import type { Transaction } from '../../../storage/storage.js';
import type { ServiceContext } from '../../context.js';
import { describeWindrowError, ServiceError, unavailable } from '../../http/errors.js';
import { type BatchCounts, createSampleBatch, takeChanges } from './batch.js';
import { writtenByItem } from './delete.js';
import { describeStored, type SampleDefaults, SampleIssues } from './json.js';

export interface Ingested extends BatchCounts {
  /** Whether the offset was stored before, so that nothing was done. */
  isRepeated: boolean;
}

/** Whose samples are stored, and where. */
export interface Ingest {
  readonly organisation: string;
  readonly placement: Placement;
  readonly defaults: SampleDefaults;
  readonly origin?: Origin | undefined;
  /** Shards in which an attempt before may have stored the samples. */
  readonly mayBeStored?: ReadonlySet<number> | undefined;
  /** Called within each transaction that stored samples: work that it starts shares the commit. */
  readonly onStored: (shard: number) => void;
}

/** How many samples of a streamed body share a commit. */
const PART_SAMPLES = 50_000;
/** Beyond this many faults, the rest of a streamed body is not read. */
const ISSUES_MAX = 1000;

export type Sink = ReturnType<typeof createSink>;

/** Collects rows in a batch, and stores them. */
export function createSink(context: ServiceContext, job: Ingest) {
  const batch = createSampleBatch();
  const issues = new SampleIssues();
  const total: Ingested = { samples: 0, missing: 0, duplicate: 0, isRepeated: false };
  /** @throws ServiceError 400 if there were faults. */
  const flush = async (): Promise<void> => {
    issues.refuse(total.samples);
    const { changes, counts } = await takeChanges(batch);
    if (changes.length > 0 && !(await store(context, job, changes, total.samples))) {
      total.isRepeated = true;
      return;
    }
    context.metrics.samplesIngested.inc(counts.samples);
    total.samples += counts.samples;
    total.missing += counts.missing;
    total.duplicate += counts.duplicate;
  };
  /** @throws ServiceError 413 for more than may be in memory at once. */
  const checkSize = (): void => {
    const { bodySeriesMax, queuedSamplesMax } = context.settings;
    if (batch.series.length > bodySeriesMax) throw tooLarge(`${bodySeriesMax} series`);
    if (job.origin !== undefined && batch.rowCount > queuedSamplesMax) {
      throw tooLarge(`${queuedSamplesMax} samples from a queue`);
    }
  };
  /** Stores what is enough for a commit of its own; a body from a queue has a single commit. */
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

/**
 * Stores changes, with a commit for each of their shards; those from a queue in one commit over all, as they are
 * stored as a whole or not at all.
 *
 * @param storedBefore how many samples of the body are stored already, for the error if only some of these are.
 */
async function store(
  context: ServiceContext,
  job: Ingest,
  changes: readonly SampleChange[],
  storedBefore: number,
): Promise<boolean> {
  const { organisation, placement, origin } = job;
  const parts = groupBy(changes, ({ timeseriesId }) => placement.shardOf(timeseriesId));
  try {
    if (origin !== undefined) return await storeDelivered(context, { ...job, origin }, parts);
    const works = [...parts].map(([shard, part]) =>
      context.storage.transaction(shard, async (tx) => {
        await context.samples.append(tx, organisation, part);
        job.onStored(shard);
      }),
    );
    const ends = await Promise.allSettled(works);
    const shards = [...parts.keys()];
    const failures = ends.flatMap((end, index) => {
      if (end.status === 'fulfilled') return [];
      return [job.mayBeStored?.has(shards[index]!) === true ? asUnknown(end.reason) : (end.reason as unknown)];
    });
    if (failures.length === 0) return true;
    const worst = failures.find((failure) => failure instanceof UnknownCommitError) ?? failures[0];
    const stored = [...parts.values()].filter((_, index) => ends[index]!.status === 'fulfilled').flat();
    throw storedInPart(worst, storedBefore, stored, changes);
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
  storedBefore: number,
  stored: readonly SampleChange[],
  changes: readonly SampleChange[],
): unknown {
  const cause = error instanceof ResultSeriesError ? writtenByItem(error) : error;
  const samplesStored = stored.reduce((sum, { timeMs }) => sum + timeMs.length, storedBefore);
  if (samplesStored === 0) return cause;
  const there = new Set(stored);
  const missing = changes.filter((change) => !there.has(change));
  const series = missing.slice(0, SERIES_LISTED_MAX).map(({ timeseriesId, metric }) => ({ timeseriesId, metric }));
  const isUnknown = error instanceof UnknownCommitError;
  const { statusCode, message, headers, details } = describedFailure(cause);
  return new ServiceError(
    statusCode,
    `${message}; ${samplesStored} samples are stored, those of ${missing.length} series ` +
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
  const shards = placement.shards.filter((shard) => shard === placement.home || parts.has(shard));
  return storage.transactionOver(shards, async (txs) => {
    const append = (tx: Transaction, options = {}) =>
      samples.append(tx, organisation, parts.get(tx.shard) ?? [], options);
    // The offset lies in the home of the organisation.
    const [home, others] = [txs.filter(isHome), txs.filter((tx) => !isHome(tx))];
    if (!(await append(home[0]!, { origin }))) return false;
    for (const tx of others) await append(tx);
    for (const shard of parts.keys()) onStored(shard);
    return true;
  });

  function isHome({ shard }: Transaction): boolean {
    return shard === placement.home;
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
  const told = error instanceof StorageError ? describeWindrowError(error) : error;
  if (!(told instanceof ServiceError)) return error;
  const { statusCode, message, headers } = told;
  // The faults of rows are told with it already.
  const details = Object(told.details);
  if ('samplesStored' in details) return error;
  const options = { details: { ...details, samplesStored }, headers: { ...headers }, cause: error };
  return new ServiceError(statusCode, `${message}; ${kept}`, options);
}
