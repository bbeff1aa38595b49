import { CHUNK_LENGTH } from '../core/chunk.js';
import {
  COLUMN_GAP_BYTES,
  COLUMNS_FROM,
  HOME_PAGE_COUNT,
  LOADED_PAGE_COUNT,
  PAGE_BYTES,
  WINDOW_BORDERS_FROM,
} from './memory-layout.js';
import { openKernels, type SimdKernels } from './simd-kernels.js';

/**
 * A place to work in: one WebAssembly memory of fixed size, so that views stay valid, with scratch columns and, behind
 * them, room for whole columns of series, which kernels can then read where they lie. Without a memory its columns are
 * ordinary arrays.
 *
 * A call into the engine runs to its end before another begins, so all plans that work in an arena lay their scratch
 * columns out over the same room: the fewer they are, the longer.
 */
export class Arena {
  readonly memory: WebAssembly.Memory | undefined;
  readonly buffer: ArrayBufferLike | undefined;
  /** By their length. */
  readonly #scratch = new Map<number, Float64Array[]>();
  #borders: Uint32Array | undefined;
  #kernels: SimdKernels | undefined;
  #isOpened = false;
  readonly #scratchEnd: number;
  /** Where whole columns end so far, and how many they are. */
  #end: number;
  #columnCount = 0;

  /** @param scratchPages how many pages of the memory are for scratch columns and what lies before them. */
  constructor(memory: WebAssembly.Memory | undefined, scratchPages: number) {
    this.memory = memory;
    this.buffer = memory?.buffer;
    this.#scratchEnd = scratchPages * PAGE_BYTES;
    this.#end = this.#scratchEnd;
  }

  /** A whole column behind the others; undefined where there is no room for it. */
  takeColumn(length: number): Float64Array | undefined {
    const { buffer } = this;
    const offset = columnAfter(this.#end, ++this.#columnCount);
    if (buffer === undefined || offset + 8 * length > buffer.byteLength) return undefined;
    this.#end = offset + 8 * length;
    return new Float64Array(buffer, offset, length);
  }

  /** What works on its columns; undefined where there is no WebAssembly SIMD. */
  get kernels(): SimdKernels | undefined {
    if (!this.#isOpened) {
      this.#isOpened = true;
      this.#kernels = this.memory === undefined ? undefined : openKernels(this.memory);
    }
    return this.#kernels;
  }

  /** A chunk long each, and as many as a plan takes: their contents last until the call ends. */
  scratchColumns(count: number): readonly Float64Array[] {
    const length = chunkLengthFor(count, this.#scratchEnd - COLUMNS_FROM);
    const scratch = this.#scratch.get(length) ?? [];
    this.#scratch.set(length, scratch);
    while (scratch.length < count) scratch.push(this.#newColumn(scratch.length, length));
    return scratch;
  }

  /** For the borders of the windows in a chunk, indices of samples: shared by all plans, as the scratch columns are. */
  get borders(): Uint32Array {
    const { buffer } = this;
    const length = CHUNK_LENGTH + 1;
    this.#borders ??=
      buffer === undefined ? new Uint32Array(length) : new Uint32Array(buffer, WINDOW_BORDERS_FROM, length);
    return this.#borders;
  }

  #newColumn(index: number, length: number): Float64Array {
    const offset = COLUMNS_FROM + index * (8 * length + COLUMN_GAP_BYTES);
    const isRoom = this.buffer !== undefined && offset + 8 * length <= this.#scratchEnd;
    return isRoom ? new Float64Array(this.buffer, offset, length) : new Float64Array(length);
  }
}

/** Shorter ones are not worth their calls; where thousands of them find no room, the rest are ordinary arrays. */
const CHUNK_LENGTH_MIN = 512;

/** How long the chunks of a plan are that takes so many columns, which share a room. */
function chunkLengthFor(columnCount: number, roomBytes: number): number {
  const bytes = roomBytes / columnCount - COLUMN_GAP_BYTES;
  const fitting = CHUNK_LENGTH_MIN * Math.floor(bytes / (8 * CHUNK_LENGTH_MIN));
  return Math.min(CHUNK_LENGTH, Math.max(CHUNK_LENGTH_MIN, fitting));
}

/** A memory of fixed size; undefined where there is none to be had. */
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

// Columns do not begin at the same place of a 4 KiB page, where loads of one would wait for stores to another.
function columnAfter(end: number, index: number): number {
  return SMALL_PAGE_BYTES * Math.ceil(end / SMALL_PAGE_BYTES) + ((index * COLUMN_GAP_BYTES) % SMALL_PAGE_BYTES);
}

/**
 * Room for whole columns of series of these lengths: in an arena of their own, or in ordinary arrays beside the home
 * arena where they are few or no memory is to be had.
 */
export function openArena(lengths: readonly number[]): { readonly arena: Arena; readonly columns: Float64Array[] } {
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const pages = Math.ceil((8 * total + 2 * SMALL_PAGE_BYTES * (lengths.length + 1)) / PAGE_BYTES);
  const memory = total < CHUNK_LENGTH ? undefined : openMemory(LOADED_PAGE_COUNT + pages);
  const arena = memory === undefined ? homeArena() : new Arena(memory, LOADED_PAGE_COUNT);
  return { arena, columns: lengths.map((length) => arena.takeColumn(length) ?? new Float64Array(length)) };
}

let home: Arena | undefined;
let current: Arena | undefined;

/** The arena that all work is done in whose series lie elsewhere. */
export function homeArena(): Arena {
  home ??= new Arena(openMemory(HOME_PAGE_COUNT), HOME_PAGE_COUNT);
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
