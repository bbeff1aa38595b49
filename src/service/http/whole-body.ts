import { FreeList } from '../free-list.js';
import { unavailable } from './errors.js';

/** Bodies up to this take no memory to speak of. */
export const SMALL_BYTES_MAX = 64 * 1024;
/** How much of the bodies of all requests may be in memory. */
const HELD_BYTES_MAX = 512 * 1024 * 1024;
let heldBytes = 0;

/** The memory that a body takes from its first byte until it is done with: the bodies of all requests share it. */
export class BodyMemory {
  #byteCount = 0;

  /** Counts the bytes that there are now. @throws ServiceError 503 if there is no room. */
  reach(byteCount: number): void {
    if (byteCount <= SMALL_BYTES_MAX) return;
    const added = byteCount - this.#byteCount;
    if (heldBytes + added > HELD_BYTES_MAX) {
      const told = 'the large JSON bodies of all requests take too much memory; nothing of this one was stored';
      throw unavailable(`${told}; try again later, or send smaller ones`);
    }
    heldBytes += added;
    this.#byteCount = byteCount;
  }

  release(): void {
    heldBytes -= this.#byteCount;
    this.#byteCount = 0;
  }
}

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
