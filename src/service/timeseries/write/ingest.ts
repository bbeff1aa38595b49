import { TIME_MS_END, TIME_MS_MIN } from '../../../core/series.js';
import { inTurns, nextTurn } from '../../../storage/next-turn.js';
import { ResultSeriesError } from '../../../storage/samples/samples.js';
import type { ServiceContext } from '../../context.js';
import { decodeParts, parseInTurn } from '../../http/bodies.js';
import { ServiceError } from '../../http/errors.js';
import { COLUMNS_TYPE, CSV_TYPE, JSON_TYPE } from '../../http/media-types.js';
import { WholeBody } from '../../http/whole-body.js';
import { type FramePart, FrameReader } from '../columns-format.js';
import { addColumns, releaseColumns, seriesIndexOf } from './batch.js';
import { partsOf, type StreamedBody } from './bodies.js';
import { takeCsv } from './csv.js';
import { type Gathered, type Gatherer, GatheringError } from './gather.js';
import { checkNames, parseSamples, readSamples, SampleIssues } from './json.js';
import { takeLines } from './lines.js';
import { readWhole } from './read-whole.js';
import { type Ingest, type Ingested, Sink, withStoredCount } from './sink.js';
import { UsualSamples } from './usual-json.js';

/** How many samples to read before yielding: some milliseconds of work. */
const SAMPLES_PER_TURN = 5000;

/** Longer bodies gain nothing from being gathered. */
const GATHERED_BYTES_MAX = 131_072;

/** A head is JSON: some milliseconds of work while its code is cold. */
const FRAMES_PER_TURN = 200;

/** The most frames without samples, which cost as much to read as others. */
const EMPTY_FRAMES_MAX = 10_000;

/** Reads a body of samples in any format and stores it; resolves once it is on disk. */
export function ingest(
  context: ServiceContext,
  gatherer: Gatherer,
  job: Ingest,
  contentType: string,
  body: StreamedBody,
): Promise<Ingested> {
  if (contentType === JSON_TYPE) return ingestJson(context, gatherer, job, body);
  return ingestAlone(context, job, async (sink) => {
    if (contentType === CSV_TYPE) await takeCsv(context.settings, job, body, sink);
    else if (contentType === COLUMNS_TYPE) await takeColumns(job, body, sink);
    else await takeLines(job, body, sink);
  });
}

// Whole, so that a fault anywhere leaves nothing stored.
async function ingestJson(
  context: ServiceContext,
  gatherer: Gatherer,
  job: Ingest,
  body: StreamedBody,
): Promise<Ingested> {
  const reading = readWhole(body, context.settings.bodyBytesMax);
  const whole = reading instanceof WholeBody ? reading : await reading;
  let failure: Pick<GatheringError, 'mayBeStored'> | undefined;
  try {
    // A delivery of a queue is stored by itself, once or not at all.
    const mayGather = job.origin === undefined && whole.byteCount <= GATHERED_BYTES_MAX;
    const gathering = mayGather ? gather(gatherer, job, whole) : undefined;
    const gathered = gathering instanceof Promise ? await gathering : gathering;
    if (gathered !== undefined) {
      try {
        await gathered.stored;
        const { samples, missing, duplicate } = gathered.counts;
        context.metrics.samplesIngested.inc(samples);
        return { samples, missing, duplicate, isRepeated: false };
      } catch (error) {
        failure = failureOf(error);
      }
    }
    return await ingestAlone(context, { ...job, mayBeStored: failure?.mayBeStored }, async (sink) => {
      if (!(await takeUsual(whole, job, sink))) await takeParsed(whole, job, sink);
    });
  } finally {
    whole.release();
  }
}

/** @returns no promise for a body in the usual form, as there are thousands a second. */
function gather(
  gatherer: Gatherer,
  job: Ingest,
  whole: WholeBody,
): Gathered | undefined | Promise<Gathered | undefined> {
  const reader = new UsualSamples(whole.parts, job.defaults);
  const gathered = gatherer.take(job, (batch) => {
    while (reader.state === 'more') reader.read(batch);
    return reader.state === 'done';
  });
  return gathered !== undefined || reader.state === 'done' ? gathered : gatherParsed(gatherer, job, whole);
}

async function gatherParsed(gatherer: Gatherer, job: Ingest, whole: WholeBody): Promise<Gathered | undefined> {
  const issues = new SampleIssues();
  const samples = await parseWhole(whole, issues);
  issues.refuse(0);
  return gatherer.take(job, (batch) => {
    for (let from = 0; from < samples.length; ) {
      from = readSamples(samples, from, samples.length, batch, issues, job.defaults);
    }
    return issues.count === 0;
  });
}

function parseWhole({ byteCount, parts }: WholeBody, issues: SampleIssues): Promise<readonly unknown[]> {
  return parseInTurn(byteCount, async () => parseSamples(await decodeParts(parts), issues));
}

/** @returns false, with nothing taken, for a body in another form. */
async function takeUsual({ parts }: WholeBody, { defaults }: Ingest, sink: Sink): Promise<boolean> {
  const reader = new UsualSamples(parts, defaults);
  while (reader.state === 'more') {
    reader.read(sink.batch);
    sink.checkSize();
    if (reader.state === 'more') await nextTurn();
  }
  if (reader.state === 'done') return true;
  sink.batch.rowCount = 0;
  return false;
}

async function takeParsed(whole: WholeBody, { defaults }: Ingest, sink: Sink): Promise<void> {
  const { batch, issues } = sink;
  const samples = await parseWhole(whole, issues);
  for (let from = 0; from < samples.length; ) {
    if (from > 0) await nextTurn();
    from = readSamples(samples, from, from + SAMPLES_PER_TURN, batch, issues, defaults);
    sink.checkSize();
  }
}

const NONE: ReadonlySet<number> = new Set();

/**
 * Why the bodies that were gathered are not all stored: one of them is refused, or a shard failed. Each is stored by
 * itself then, to tell which.
 */
function failureOf(error: unknown): Pick<GatheringError, 'mayBeStored'> {
  if (error instanceof GatheringError) return error;
  if (error instanceof ResultSeriesError) return { mayBeStored: NONE };
  throw error;
}

async function ingestAlone(
  context: ServiceContext,
  job: Ingest,
  take: (sink: Sink) => Promise<void>,
): Promise<Ingested> {
  const sink = new Sink(context, job);
  try {
    await take(sink);
    await sink.flush();
  } catch (error) {
    throw withStoredCount(error, sink.total.samples, job);
  } finally {
    releaseColumns(sink.batch);
  }
  return sink.total;
}

async function takeColumns(job: Ingest, body: StreamedBody, sink: Sink): Promise<void> {
  const { batch } = sink;
  const reader = new FrameReader();
  let emptyCount = 0;
  for await (const bytes of partsOf(body)) {
    for await (const part of inTurns(reader.push(bytes), FRAMES_PER_TURN)) {
      checkPart(job, part);
      // Of a series without samples nothing is kept, however many there are.
      if (part.timeMs.length === 0 && ++emptyCount > EMPTY_FRAMES_MAX) {
        throw new ServiceError(
          413,
          `the body is too large: expected at most ${EMPTY_FRAMES_MAX} frames without samples`,
        );
      }
      if (part.timeMs.length === 0) continue;
      addColumns(batch, seriesIndexOf(batch, part.timeseriesId, part.metric), part.timeMs, part.value);
      await sink.flushWhenFull();
    }
  }
  reader.end();
}

function checkPart({ defaults }: Ingest, { timeseriesId, metric, timeMs, frame, firstSample }: FramePart): void {
  checkNames(defaults, { timeseriesId, metric }, { text: `frame ${frame}`, details: { frame } });
  const bad = timeMs.findIndex((ms) => !(ms >= TIME_MS_MIN && ms < TIME_MS_END));
  if (bad < 0) return;
  const expected = 'epoch milliseconds within the years 0001 to 9999';
  const name = JSON.stringify(timeseriesId);
  throw new ServiceError(400, `${name}, sample ${firstSample + bad}: expected ${expected}, received ${timeMs[bad]}`);
}
