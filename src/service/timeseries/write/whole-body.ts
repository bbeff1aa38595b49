import { BodyMemory } from '../../http/bodies.js';
import { ServiceError } from '../../http/errors.js';
import { COLUMNS_TYPE, CSV_TYPE, NDJSON_TYPE } from '../../http/media-types.js';
import { bodyError, type StreamedBody } from './bodies.js';
import { FreeList } from './free-list.js';

const BLOCK_BYTES = 262_144;
const freeBlocks = new FreeList<Uint8Array>(128);
/** Shorter bodies are read at once, so the collector soon has their parts. */
const COPIED_BYTES_MIN = 131_072;

/** A body in memory, in parts that are not joined. A large one is copied into blocks, which later bodies use again. */
export class WholeBody {
  #byteCount = 0;
  readonly #parts: Uint8Array[] = [];
  readonly #blocks: Uint8Array[] = [];
  /** How much of the last block is free. */
  #room = 0;
  readonly #memory = new BodyMemory();

  get byteCount(): number {
    return this.#byteCount;
  }

  /** What was added; not to be used after `release`. */
  get parts(): readonly Uint8Array[] {
    if (this.#blocks.length === 0) return this.#parts;
    const last = this.#blocks.length - 1;
    return this.#blocks.map((block, n) => (n < last ? block : block.subarray(0, BLOCK_BYTES - this.#room)));
  }

  /** @throws ServiceError 503 if the bodies of all requests take too much memory. */
  add(part: Uint8Array): void {
    this.#byteCount += part.length;
    this.#memory.reach(this.#byteCount);
    this.#parts.push(part);
    if (this.#byteCount < COPIED_BYTES_MIN) return;
    for (const one of this.#parts) this.#copy(one);
    this.#parts.length = 0;
  }

  #copy(part: Uint8Array): void {
    for (let from = 0; from < part.length; ) {
      if (this.#room === 0) {
        this.#blocks.push(freeBlocks.take() ?? new Uint8Array(BLOCK_BYTES));
        this.#room = BLOCK_BYTES;
      }
      const until = Math.min(part.length, from + this.#room);
      this.#blocks.at(-1)!.set(part.subarray(from, until), BLOCK_BYTES - this.#room);
      this.#room -= until - from;
      from = until;
    }
  }

  /** Gives the memory to later bodies. */
  release(): void {
    this.#memory.release();
    for (const block of this.#blocks) freeBlocks.give(block);
    this.#blocks.length = 0;
    this.#parts.length = 0;
    this.#room = 0;
  }
}

/** Reads a whole body, for formats that are stored at once. The caller releases it. No promise if all of it is here. */
export function readWhole(body: StreamedBody, wholeBytesMax: number): WholeBody | Promise<WholeBody> {
  const whole = new WholeBody();
  const bytesMax = Math.min(wholeBytesMax, body.bytesMax);
  const all = body.takeWhole();
  if (all === null) return readParts(body, whole, bytesMax);
  if (all.length > bytesMax) throw tooLarge(bytesMax);
  whole.add(all);
  return whole;
}

function tooLarge(bytesMax: number): ServiceError {
  const hint = `send it in parts, or as ${NDJSON_TYPE}, ${CSV_TYPE} or ${COLUMNS_TYPE}, which are not held in memory`;
  return new ServiceError(413, `a JSON body may have at most ${bytesMax} bytes; ${hint}`);
}

// By events, as iterating a stream costs more.
function readParts(body: StreamedBody, whole: WholeBody, bytesMax: number): Promise<WholeBody> {
  const { stream } = body;
  return new Promise((resolve, reject) => {
    if (stream.errored !== null) {
      body.abandon();
      reject(bodyError(stream.errored));
      return;
    }
    const refuse = (error: unknown): void => {
      stream.removeAllListeners('data');
      whole.release();
      body.abandon();
      reject(bodyError(error));
    };
    stream.on('data', (part: Buffer) => {
      try {
        if (whole.byteCount + part.length > bytesMax) throw tooLarge(bytesMax);
        whole.add(part);
      } catch (error) {
        refuse(error);
      }
    });
    stream.on('end', () => body.checkEnd().then(() => resolve(whole), refuse));
    stream.on('error', refuse);
  });
}
