import { CHUNK_LENGTH } from '../core/chunk.js';
import {
  ARENA_SAMPLES_MIN,
  COLUMN_GAP_BYTES,
  COLUMNS_FROM,
  PAGE_BYTES,
  SCRATCH_PAGE_COUNT,
  WINDOW_BORDERS_FROM,
} from './memory-layout.js';
import { openKernels, type SimdKernels } from './simd-kernels.js';

const SCRATCH_END = SCRATCH_PAGE_COUNT * PAGE_BYTES;

/**
 * A WebAssembly memory with scratch columns and, behind them, room for whole columns of series, which kernels read in
 * place. Its size is fixed, so views of it stay valid. Without WebAssembly its columns are ordinary arrays.
 *
 * A call into the engine runs to its end before another begins, so all plans that work in an arena share the memory for
 * scratch columns: the fewer columns a plan takes, the longer they are.
 */
export class Arena {
  readonly memory: WebAssembly.Memory | undefined;
  readonly buffer: ArrayBufferLike | undefined;
  /** The scratch columns by their length. */
  readonly #scratch = new Map<number, Float64Array[]>();
  #borders: Uint32Array | undefined;
  #kernels: SimdKernels | undefined;
  #isOpened = false;

  constructor(memory: WebAssembly.Memory | undefined) {
    this.memory = memory;
    this.buffer = memory?.buffer;
  }

  /** The kernels bound to its memory; undefined without WebAssembly SIMD. */
  get kernels(): SimdKernels | undefined {
    if (!this.#isOpened) {
      this.#isOpened = true;
      this.#kernels = this.memory === undefined ? undefined : openKernels(this.memory);
    }
    return this.#kernels;
  }

  /** `count` columns, each one chunk long. Their contents last until the call into the engine ends. */
  scratchColumns(count: number): readonly Float64Array[] {
    const length = chunkLengthFor(count, SCRATCH_END - COLUMNS_FROM);
    const scratch = this.#scratch.get(length) ?? [];
    this.#scratch.set(length, scratch);
    while (scratch.length < count) scratch.push(this.#newColumn(scratch.length, length));
    return scratch;
  }

  /** For the borders of windows in a chunk, as indices of samples. All plans share it, like the scratch columns. */
  get borders(): Uint32Array {
    const { buffer } = this;
    const length = CHUNK_LENGTH + 1;
    this.#borders ??=
      buffer === undefined ? new Uint32Array(length) : new Uint32Array(buffer, WINDOW_BORDERS_FROM, length);
    return this.#borders;
  }

  #newColumn(index: number, length: number): Float64Array {
    const offset = COLUMNS_FROM + index * (8 * length + COLUMN_GAP_BYTES);
    const isRoom = this.buffer !== undefined && offset + 8 * length <= SCRATCH_END;
    return isRoom ? new Float64Array(this.buffer, offset, length) : new Float64Array(length);
  }
}

/** Shorter chunks are not worth their calls. If thousands of columns find no room, the rest are ordinary arrays. */
const CHUNK_LENGTH_MIN = 512;

/** How long the chunks of a plan with this many columns are. */
function chunkLengthFor(columnCount: number, roomBytes: number): number {
  const bytes = roomBytes / columnCount - COLUMN_GAP_BYTES;
  const fitting = CHUNK_LENGTH_MIN * Math.floor(bytes / (8 * CHUNK_LENGTH_MIN));
  return Math.min(CHUNK_LENGTH, Math.max(CHUNK_LENGTH_MIN, fitting));
}

/** A memory of fixed size; undefined if the system gives none. */
function openMemory(pages: number): WebAssembly.Memory | undefined {
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
const SMALL_PAGE_BYTES = 4096;

// Columns begin at different offsets of a 4 KiB page, because loads wait for stores at the same offset.
function columnAfter(end: number, index: number): number {
  return SMALL_PAGE_BYTES * Math.ceil(end / SMALL_PAGE_BYTES) + ((index * COLUMN_GAP_BYTES) % SMALL_PAGE_BYTES);
}

/**
 * Allocates whole columns of these lengths: in an arena of their own or, if they are short or the system gives no
 * memory, as ordinary arrays that go with the home arena.
 */
export function openArena(lengths: readonly number[]): { readonly arena: Arena; readonly columns: Float64Array[] } {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const pages = Math.ceil((8 * total + 2 * SMALL_PAGE_BYTES * (lengths.length + 1)) / PAGE_BYTES);
  const memory = total < ARENA_SAMPLES_MIN ? undefined : openMemory(SCRATCH_PAGE_COUNT + pages);
  if (memory === undefined) return { arena: homeArena(), columns: lengths.map((length) => new Float64Array(length)) };
  let end = SCRATCH_END;
  const columns = lengths.map((length, index) => {
    const offset = columnAfter(end, index + 1);
    end = offset + 8 * length;
    return new Float64Array(memory.buffer, offset, length);
  });
  return { arena: new Arena(memory), columns };
}

let home: Arena | undefined;
let current: Arena | undefined;

/** The arena for everything but loaded series. */
export function homeArena(): Arena {
  home ??= new Arena(openMemory(SCRATCH_PAGE_COUNT));
  return home;
}

/** The arena of the call that is running. */
export function currentArena(): Arena {
  return current ?? homeArena();
}

/** Runs `work` in an arena. */
export function workIn<T>(arena: Arena, work: () => T): T {
  const before = current;
  current = arena;
  try {
    return work();
  } finally {
    current = before;
  }
}
