import { CHUNK_LENGTH } from '../core/chunk.js';
import { COLUMN_STRIDE, COLUMNS_FROM, PAGE_BYTES, PAGE_COUNT, WINDOW_BORDERS_FROM } from './memory-layout.js';
import { openKernels, type SimdKernels } from './simd-kernels.js';

/**
 * A place to work in: one WebAssembly memory of fixed size, so that views stay valid, with scratch columns and, behind
 * them, room for whole columns of series, which kernels can then read where they lie. Without a memory its columns are
 * ordinary arrays.
 *
 * A call into the engine runs to its end before another begins, so all plans that work in an arena use the same scratch
 * columns: what has the number k in any plan writes to column k.
 */
export class Arena {
  readonly memory: WebAssembly.Memory | undefined;
  readonly buffer: ArrayBufferLike | undefined;
  readonly #scratch: Float64Array[] = [];
  #borders: Uint32Array | undefined;
  #kernels: SimdKernels | undefined;
  #isOpened = false;

  constructor(memory: WebAssembly.Memory | undefined) {
    this.memory = memory;
    this.buffer = memory?.buffer;
  }

  /** What works on its columns; undefined where there is no WebAssembly SIMD. */
  get kernels(): SimdKernels | undefined {
    if (!this.#isOpened) {
      this.#isOpened = true;
      this.#kernels = this.memory === undefined ? undefined : openKernels(this.memory);
    }
    return this.#kernels;
  }

  /** The scratch column of a number from 0, one chunk long. Its contents last until the call ends. */
  scratchColumn(index: number): Float64Array {
    const scratch = this.#scratch;
    while (scratch.length <= index) scratch.push(this.#newColumn(scratch.length));
    return scratch[index]!;
  }

  /** For the borders of the windows in a chunk, indices of samples: shared by all plans, as the scratch columns are. */
  get borders(): Uint32Array {
    const { buffer } = this;
    const length = CHUNK_LENGTH + 1;
    this.#borders ??=
      buffer === undefined ? new Uint32Array(length) : new Uint32Array(buffer, WINDOW_BORDERS_FROM, length);
    return this.#borders;
  }

  #newColumn(index: number): Float64Array {
    const offset = COLUMNS_FROM + index * COLUMN_STRIDE;
    const isRoom = this.buffer !== undefined && offset + COLUMN_STRIDE <= PAGE_COUNT * PAGE_BYTES;
    return isRoom ? new Float64Array(this.buffer, offset, CHUNK_LENGTH) : new Float64Array(CHUNK_LENGTH);
  }
}

/** A memory with room for so many pages behind the scratch columns; undefined where there is none to be had. */
function openMemory(pageCount: number): WebAssembly.Memory | undefined {
  const pages = PAGE_COUNT + pageCount;
  if (typeof WebAssembly === 'undefined' || pages > PAGES_MAX) return undefined;
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** 4 GiB: what 32-bit addresses reach. */
const PAGES_MAX = 65_536;
/** Columns do not begin at the same place of a 4 KiB page, where loads of one would wait for stores to another. */
const PAGE_SHIFT_BYTES = 832;
const SMALL_PAGE_BYTES = 4096;

/**
 * Room for whole columns of series of these lengths: in an arena of their own, or in ordinary arrays beside the home
 * arena where they are few or no memory is to be had.
 */
export function openArena(lengths: readonly number[]): { readonly arena: Arena; readonly columns: Float64Array[] } {
  const from = PAGE_COUNT * PAGE_BYTES;
  let end = from;
  const offsets = lengths.map((length, index) => {
    const offset = end + (((index + 1) * PAGE_SHIFT_BYTES) % SMALL_PAGE_BYTES);
    end = SMALL_PAGE_BYTES * Math.ceil((offset + 8 * length) / SMALL_PAGE_BYTES);
    return offset;
  });
  const isMany = lengths.reduce((sum, length) => sum + length, 0) >= CHUNK_LENGTH;
  const memory = isMany ? openMemory(Math.ceil((end - from) / PAGE_BYTES)) : undefined;
  if (memory === undefined) return { arena: homeArena(), columns: lengths.map((length) => new Float64Array(length)) };
  const columns = lengths.map((length, index) => new Float64Array(memory.buffer, offsets[index], length));
  return { arena: new Arena(memory), columns };
}

let home: Arena | undefined;
let current: Arena | undefined;

/** The arena that all work is done in whose series lie elsewhere. */
export function homeArena(): Arena {
  home ??= new Arena(openMemory(0));
  return home;
}

/** The arena of the work that is being done. */
export function currentArena(): Arena {
  return current ?? homeArena();
}

/** Does some work in an arena. */
export function workIn<T>(arena: Arena, work: () => T): T {
  const before = current;
  current = arena;
  try {
    return work();
  } finally {
    current = before;
  }
}
