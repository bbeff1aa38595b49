import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import type { Series, SeriesReference } from '../../../core/series.js';
import { shareTurns } from '../../../storage/next-turn.js';
import { aroundRecords } from '../../http/envelope.js';
import { badRequest, ServiceError } from '../../http/errors.js';
import { JSON_TYPE } from '../../http/media-types.js';
import { continuationTokenOf } from '../../http/paging.js';
import type { RouteParts } from '../../http/route.js';
import { addVary } from '../../http/vary.js';
import { principalOf } from '../../identity/principal.js';
import { jsonObjects, type StreamedForm, streamedForms, TEXT_SAMPLES } from './forms.js';
import { PAGE_SAMPLES_MAX, readSamplesQuery, type SamplesQuery, type SamplesRequest } from './query.js';
import { checkSeries, type Place, readPage, readPieces, type SampleReading } from './samples.js';

const PAGE_SAMPLES = 10_000;

/** Samples that are written as text in one turn of the event loop, for all answers together: some 4 ms. */
const TURN_SAMPLES = 10_000;

interface Reading extends SampleReading {
  readonly tokens: RouteParts['tokens'];
}

/** Answers with samples of the series, in the form that the caller prefers. */
export function createAnswerSamples({ context, tokens }: RouteParts) {
  const reading: Reading = { context, tokens, turnOf: shareTurns(TURN_SAMPLES) };
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    references: readonly SeriesReference[],
    query: SamplesQuery,
  ): Promise<unknown> => {
    const { organisation } = principalOf(request);
    await checkSeries(context, organisation, references);
    const form = formOf(request);
    const samplesRequest = readSamplesQuery(query);
    addVary(reply, 'accept');
    if (form === undefined) return answerPage(reading, request, reply, references, samplesRequest);
    if (continuationTokenOf(request) !== undefined) {
      throw badRequest(`header continuationToken: expected only with ${JSON_TYPE}; ${form.contentType} has no pages`);
    }
    const pieces = readPieces(reading, organisation, references, samplesRequest);
    // Read before the answer begins, so that it can still say what fails.
    const first = await pieces.next();
    reply.type(form.contentType);
    if (request.method === 'HEAD') {
      // Fastify would read the stream to its end.
      await pieces.return(undefined);
      return reply.send(Readable.from([]));
    }
    return reply.send(streamOf(streamed(first, pieces, form, reading.turnOf)));
  };
}

async function answerPage(
  reading: Reading,
  request: FastifyRequest,
  reply: FastifyReply,
  references: readonly SeriesReference[],
  samplesRequest: SamplesRequest,
): Promise<unknown> {
  const { tokens, turnOf } = reading;
  const principal = principalOf(request);
  const { limit = PAGE_SAMPLES, ...unlimited } = samplesRequest;
  if (limit > PAGE_SAMPLES_MAX) {
    throw badRequest(
      `limit: expected at most ${PAGE_SAMPLES_MAX} in JSON, received ${limit}; other forms have no limit`,
    );
  }
  const binding = { list: 'samples', principal, query: [references, { ...unlimited, limit: null }] };
  const token = continuationTokenOf(request);
  const from = token !== undefined ? ((await tokens.open(binding, token)).place as Place) : undefined; // sealed below
  const page = await readPage(reading, principal.organisation, references, samplesRequest, limit, from);
  const next = page.next === undefined ? null : await tokens.seal(binding, page.next);
  const bytes = pageBytes(page.series, aroundRecords({ continuationToken: next }), turnOf);
  reply.type(`${JSON_TYPE}; charset=utf-8`);
  const sampleCount = page.series.reduce((sum, { timeMs }) => sum + timeMs.length, 0);
  // Of long pages only a part is in memory as text.
  return reply.send(sampleCount > TURN_SAMPLES ? streamOf(bytes) : Buffer.concat(await allOf(bytes)));
}

/** As much work as a series takes besides its samples. */
const SERIES_WORK = 40;

async function* pageBytes(
  page: readonly Series[],
  [head, tail]: readonly [string, string],
  turnOf: SampleReading['turnOf'],
): AsyncGenerator<Uint8Array> {
  const write = jsonObjects(',');
  yield Buffer.from(head);
  let written: Uint8Array | undefined;
  for (const series of page) {
    for (const part of partsOf(series, TEXT_SAMPLES)) {
      if (written !== undefined) yield written;
      await turnOf(SERIES_WORK + part.timeMs.length);
      written = write(part);
    }
  }
  // Without the comma after the last object.
  if (written !== undefined) yield written.subarray(0, -1);
  yield Buffer.from(tail);
}

async function allOf(parts: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

function streamOf(parts: AsyncGenerator<Uint8Array>): Readable {
  return Readable.from(parts, { objectMode: false, highWaterMark: 1 << 16 });
}

async function* streamed(
  first: IteratorResult<Series>,
  others: AsyncIterator<Series>,
  form: StreamedForm,
  turnOf: SampleReading['turnOf'],
): AsyncGenerator<Uint8Array> {
  const write = form.createWriter();
  if (form.head !== '') yield Buffer.from(form.head);
  for (let piece = first; !piece.done; piece = await others.next()) {
    for (const part of partsOf(piece.value, form.partSamples)) {
      await turnOf(part.timeMs.length * form.workPerSample);
      yield write(part);
    }
  }
}

function* partsOf(series: Series, partSamples: number): Generator<Series> {
  const { timeMs, value } = series;
  for (let from = 0; from < timeMs.length; from += partSamples) {
    const until = from + partSamples;
    yield { ...series, timeMs: timeMs.subarray(from, until), value: value.subarray(from, until) };
  }
}

const TYPES = [JSON_TYPE, ...streamedForms.map(({ contentType }) => contentType)];

// A parameter of a type that Accept names, except its weight (q): each form is there in one version, in UTF-8.
const PARAMETER = /;(?!\s*q\s*=)(?:"(?:[^"\\]|\\.)*"|[^";,])*/gi;

// The form that the caller prefers; undefined is JSON, the default.
function formOf({ headers }: FastifyRequest): StreamedForm | undefined {
  const accept = headers.accept?.replaceAll(PARAMETER, '');
  const type = new Negotiator({ headers: accept === undefined ? {} : { accept } }).mediaType(TYPES);
  if (type !== undefined) return streamedForms.find(({ contentType }) => contentType === type);
  throw new ServiceError(
    406,
    `Accept: expected one of ${TYPES.join(', ')}, received ${JSON.stringify(headers.accept)}`,
  );
}
