import type { Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServiceContext } from '../../context.js';
import { ServiceError } from '../../http/errors.js';

export const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';
export const CSV_TYPE = 'text/csv';
export const COLUMNS_TYPE = 'application/vnd.windrow.columns';

/** A body as it comes, unpacked, that no more than so many bytes are taken of. */
export interface StreamedBody {
  readonly stream: Readable;
  readonly bytesMax: number;
  /** How many bytes it may have by now, as it came: of a packed body so many times what was unpacked. */
  readonly unpackedMax: () => number;
  /** Whether it has taken longer than a body may. */
  readonly isLate: () => boolean;
  /**
   * Lets go of the rest, which is taken from the connection and dropped: unread, it would stand before the caller's
   * next request, and hinder the answer to this one.
   */
  readonly abandon: () => void;
}

/** A body may unpack to so much, however small it was. */
const UNPACKED_BYTES_FREE = 16 * 1024 * 1024;

/** Gives routes of this scope bodies as streams. */
export function addStreamedBodies(app: FastifyInstance, { settings, clock }: ServiceContext): void {
  const { streamedBodyBytesMax: bytesMax, unpackRatioMax, bodyMsMax } = settings;
  app.removeContentTypeParser([JSON_TYPE, 'text/plain']);
  const types = [JSON_TYPE, NDJSON_TYPE, 'application/ndjson', 'application/jsonl', CSV_TYPE, COLUMNS_TYPE];
  // No limit of Fastify's, which would hold the body in memory: the bytes are counted as they come.
  app.addContentTypeParser(types, { bodyLimit: Number.MAX_SAFE_INTEGER }, (request, payload, done) => {
    try {
      const gunzip = gunzipOf(request);
      const body = gunzip === undefined ? plainBody(payload) : packedBody(payload, gunzip);
      const unpackedMax = () =>
        gunzip === undefined ? bytesMax : UNPACKED_BYTES_FREE + unpackRatioMax * gunzip.bytesWritten;
      const endMs = clock.monotonicMs() + bodyMsMax;
      const isLate = () => clock.monotonicMs() > endMs;
      done(null, { ...body, bytesMax, unpackedMax, isLate } satisfies StreamedBody);
    } catch (error) {
      done(error as Error); // of `gunzipOf`
    }
  });
}

function plainBody(payload: Readable): Pick<StreamedBody, 'stream' | 'abandon'> {
  return { stream: payload, abandon: () => void payload.resume() };
}

// Not a pipeline, whose end would destroy the connection before its answer is out.
function packedBody(payload: Readable, gunzip: Gunzip): Pick<StreamedBody, 'stream' | 'abandon'> {
  payload.on('error', (error) => gunzip.destroy(error));
  // It may fail before anybody reads it, which must not end the process: the stream keeps its error for who does.
  gunzip.on('error', () => {});
  payload.pipe(gunzip);
  const abandon = (): void => {
    payload.unpipe(gunzip);
    gunzip.destroy();
    payload.resume();
  };
  return { stream: gunzip, abandon };
}

function gunzipOf({ headers }: FastifyRequest): Gunzip | undefined {
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity') return undefined;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new ServiceError(415, `Content-Encoding: expected gzip or none, received ${JSON.stringify(encoding)}`);
  }
  return createGunzip();
}

/** A body that has come to its end, not joined yet. */
export interface WholeBody {
  readonly parts: readonly Uint8Array[];
  readonly byteCount: number;
}

/** The whole body, for a form that is stored at once. */
export function readWhole(body: StreamedBody, wholeBytesMax: number): Promise<WholeBody> {
  const { stream, bytesMax, abandon } = body;
  const hint = `send it in parts, or as ${NDJSON_TYPE}, ${CSV_TYPE} or ${COLUMNS_TYPE}, which are not held in memory`;
  // By events: for the many small bodies, iterating a stream costs more than all else.
  return new Promise((resolve, reject) => {
    if (stream.errored !== null) {
      abandon();
      reject(explain(stream.errored));
      return;
    }
    const parts: Uint8Array[] = [];
    let length = 0;
    stream.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= Math.min(wholeBytesMax, bytesMax)) {
        parts.push(part);
        return;
      }
      stream.removeAllListeners('data');
      parts.length = 0;
      abandon();
      reject(new ServiceError(413, `a JSON body may have at most ${wholeBytesMax} bytes; ${hint}`));
    });
    stream.on('end', () => resolve({ parts, byteCount: length }));
    stream.on('error', (error) => {
      abandon();
      reject(explain(error));
    });
  });
}

/** The parts of a body as they come. */
export async function* partsOf(body: StreamedBody): AsyncGenerator<Uint8Array> {
  const { stream, bytesMax, unpackedMax, isLate, abandon } = body;
  let taken = 0;
  let isWhole = false;
  try {
    const parts: AsyncIterable<Buffer> = stream.iterator({ destroyOnReturn: false });
    for await (const part of parts) {
      // Counted unpacked, so that a small packed body cannot unpack without end.
      taken += part.length;
      if (taken > bytesMax) {
        throw new ServiceError(413, `the body is larger than ${bytesMax} bytes, unpacked; send it in parts`);
      }
      if (taken > unpackedMax()) {
        throw new ServiceError(
          413,
          `the body unpacks to more than ${unpackedMax()} bytes; send it in parts, or as it is`,
        );
      }
      if (isLate()) throw new ServiceError(413, 'the body takes too long; send it in parts');
      yield part;
    }
    isWhole = true;
  } catch (error) {
    throw explain(error);
  } finally {
    if (!isWhole) abandon();
  }
}

// A packed body that is damaged is the caller's fault, and so is one that breaks off; nobody hears of that one.
function explain(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  const code = String(error.code);
  if (code.startsWith('Z_')) {
    return new ServiceError(400, `the body is not whole gzip: ${error.message}`, { cause: error });
  }
  const isBroken = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'ABORT_ERR'].includes(code);
  return isBroken ? new ServiceError(400, 'the body broke off before its end', { cause: error }) : error;
}
