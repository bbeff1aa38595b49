import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip, type Gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AFTER_END, BEHIND_ZEROS, followPacked } from '../../../formats/gzip.js';
import { countWork } from '../../../storage/next-turn.js';
import type { ServiceContext } from '../../context.js';
import { checkCharset } from '../../http/bodies.js';
import { ServiceError } from '../../http/errors.js';
import { COLUMNS_TYPE, CSV_TYPE, contentTypeOf, JSON_TYPE, NDJSON_TYPE } from '../../http/media-types.js';

/** Bytes of a body to take before yielding: some milliseconds of work. */
const BYTES_PER_TURN = 131_072;

/** Any body may unpack to this many bytes, however small it was. */
const UNPACKED_BYTES_FREE = 16 * 1024 * 1024;

const NOT_GZIP = 'the body is not whole gzip';

type BodySettings = Pick<ServiceContext, 'settings' | 'clock'>;

/** A body as it arrives, unpacked, of at most `bytesMax` bytes. */
export class StreamedBody {
  readonly #payload: Readable;
  readonly #gunzip: Gunzip | undefined;
  readonly #parts: BodySettings;
  readonly #startMs: number;
  /** Set once somebody reads a packed body. */
  #isAllUnpacked: (() => Promise<boolean>) | undefined;

  constructor(payload: Readable, gunzip: Gunzip | undefined, parts: BodySettings) {
    this.#payload = payload;
    this.#gunzip = gunzip;
    this.#parts = parts;
    this.#startMs = parts.clock.monotonicMs();
  }

  /**
   * A packed body is unpacked from the first call on: Node itself drops what is left of a refused one that nobody began
   * to read, and one that waits for its reader would block the connection.
   */
  get stream(): Readable {
    const [payload, gunzip] = [this.#payload, this.#gunzip];
    if (gunzip === undefined) return payload;
    if (this.#isAllUnpacked !== undefined) return gunzip;
    this.#isAllUnpacked = followPacked(payload, gunzip);
    // Not a pipeline, which would destroy the connection at its end, before the answer is sent.
    payload.on('error', (error) => gunzip.destroy(error));
    // It may fail before its reader listens, which must not end the process; the stream keeps the error for it.
    gunzip.on('error', () => {});
    payload.pipe(gunzip);
    return gunzip;
  }

  get bytesMax(): number {
    return this.#parts.settings.streamedBodyBytesMax;
  }

  /** How many unpacked bytes are allowed so far; for a packed body it grows with the packed bytes read. */
  get unpackedMax(): number {
    if (this.#gunzip === undefined) return this.bytesMax;
    return UNPACKED_BYTES_FREE + this.#parts.settings.unpackRatioMax * this.#gunzip.bytesWritten;
  }

  /** Whether the body has taken longer than allowed. */
  get isLate(): boolean {
    const { clock, settings } = this.#parts;
    return clock.monotonicMs() > this.#startMs + settings.bodyMsMax;
  }

  /** To be called at the end of `stream`. @throws ServiceError 400 if not all of a packed body was unpacked. */
  async checkEnd(): Promise<void> {
    if (this.#isAllUnpacked === undefined || (await this.#isAllUnpacked())) return;
    throw new ServiceError(400, `${NOT_GZIP}: ${BEHIND_ZEROS}`);
  }

  /** The whole body, as `stream` would give it, if all of it is here: small ones come with their heads. */
  takeWhole(): Buffer | null {
    const payload = this.#payload;
    if (this.#gunzip !== undefined || !(payload instanceof IncomingMessage) || payload.destroyed) return null;
    if (payload.readableLength !== Number(payload.headers['content-length'])) return null;
    const whole: Buffer | null = payload.read();
    // Its end may not have come yet.
    payload.resume();
    return whole;
  }

  /**
   * Drops the rest of the body. It is still read from the connection: unread, it would block the answer to this request
   * and the caller's next one.
   */
  abandon(): void {
    if (this.#gunzip !== undefined) {
      this.#payload.unpipe(this.#gunzip);
      this.#gunzip.destroy();
    }
    this.#payload.resume();
  }
}

/** Passes bodies to the routes of this scope as streams. */
export function addStreamedBodies(app: FastifyInstance, parts: BodySettings): void {
  const types = [JSON_TYPE, NDJSON_TYPE, 'application/ndjson', 'application/jsonl', CSV_TYPE, COLUMNS_TYPE];
  // A host of the plugin may have parsers for these, too.
  app.removeContentTypeParser([...types, 'text/plain'].filter((type) => app.hasContentTypeParser(type)));
  // Without Fastify's limit, which would hold the body in memory: bytes are counted as they arrive.
  app.addContentTypeParser(types, { bodyLimit: Number.MAX_SAFE_INTEGER }, (request, payload, done) => {
    try {
      // A CSV may be in another charset, as files are.
      if (contentTypeOf(request) !== CSV_TYPE) checkCharset(request);
      done(null, new StreamedBody(payload, gunzipOf(request), parts));
    } catch (error) {
      done(error as Error); // of the checks
    }
  });
}

function gunzipOf({ headers }: FastifyRequest): Gunzip | undefined {
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity') return undefined;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new ServiceError(415, `Content-Encoding: expected gzip or none, received ${JSON.stringify(encoding)}`);
  }
  return createGunzip();
}

/** Yields the parts of a body as they arrive. */
export async function* partsOf(body: StreamedBody): AsyncGenerator<Uint8Array> {
  const { stream, bytesMax } = body;
  const afterWork = countWork(BYTES_PER_TURN);
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
      if (taken > body.unpackedMax) {
        throw new ServiceError(
          413,
          `the body unpacks to more than ${body.unpackedMax} bytes; send it in parts, or as it is`,
        );
      }
      if (body.isLate) throw new ServiceError(413, 'the body takes too long; send it in parts');
      yield part;
      // What has come already is passed on without a turn of the event loop in between, up to 32 parts.
      await afterWork(part.length);
    }
    await body.checkEnd();
    isWhole = true;
  } catch (error) {
    throw bodyError(error);
  } finally {
    if (!isWhole) body.abandon();
  }
}

// A damaged gzip body is the caller's fault. So is one that breaks off, of which the caller hears nothing.
export function bodyError(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  const code = String(error.code);
  if (code.startsWith('Z_')) return new ServiceError(400, `${NOT_GZIP}: ${error.message}`, { cause: error });
  if (code === AFTER_END) return new ServiceError(400, `${NOT_GZIP}: ${BEHIND_ZEROS}`, { cause: error });
  const isBroken = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED', 'ABORT_ERR'].includes(code);
  return isBroken ? new ServiceError(400, 'the body broke off before its end', { cause: error }) : error;
}
