import type { ColumnRows } from '../formats/csv/read/rows.js';

/**
 * The rows of a range on their way to another thread: columns one behind the other in shared memory, which goes back
 * to the thread that it came from when they are used.
 */
export interface Slot {
  /** Which of the thread's memories. */
  readonly number: number;
  /** Sent once: each time that it arrives costs as if it were new. */
  readonly memory: SharedArrayBuffer | undefined;
  /** Of each chunk: how many rows and columns it has, whether a column tells their series, and where it starts. */
  readonly chunks: readonly (readonly [rowCount: number, columnCount: number, hasSeries: boolean, from: number])[];
}

/** Before the columns stands whether the memory is in use. */
const HEAD_BYTES = 8;

export interface SlotWriter {
  readonly add: (rows: ColumnRows) => void;
  readonly take: () => Slot;
}

/** @param lengthMin numbers that most slots have room for; memory is taken as it is used. */
export function createSlotWriter(lengthMin: number): SlotWriter {
  const pool: SharedArrayBuffer[] = [];
  const sent = new Set<SharedArrayBuffer>();
  let memory: SharedArrayBuffer | undefined;
  let column = new Float64Array(0) as Float64Array;
  let length = 0;
  let chunks: Slot['chunks'][number][] = [];

  function add({ timeMs, values, series }: ColumnRows): void {
    chunks.push([timeMs.length, values.length, series !== undefined, length]);
    append(timeMs);
    for (const value of values) append(value);
    if (series !== undefined) append(series);
  }

  function append(values: Float64Array | Int32Array): void {
    if (length + values.length > column.length) makeRoom(length + values.length);
    column.set(values, length);
    length += values.length;
  }

  function makeRoom(needed: number): SharedArrayBuffer {
    const free = pool.find((one) => one.byteLength >= HEAD_BYTES + 8 * needed && !isInUse(one));
    const roomy = free ?? new SharedArrayBuffer(HEAD_BYTES + 8 * Math.max(lengthMin, 2 * needed));
    if (free === undefined) pool.push(roomy);
    const roomyColumn = new Float64Array(roomy, HEAD_BYTES);
    roomyColumn.set(column.subarray(0, length));
    column = roomyColumn;
    memory = roomy;
    return roomy;
  }

  function take(): Slot {
    const used = memory ?? makeRoom(0);
    const slot = { number: pool.indexOf(used), memory: sent.has(used) ? undefined : used, chunks };
    Atomics.store(new Int32Array(used, 0, 1), 0, 1);
    sent.add(used);
    memory = undefined;
    column = new Float64Array(0);
    length = 0;
    chunks = [];
    return slot;
  }

  return { add, take };
}

function isInUse(memory: SharedArrayBuffer): boolean {
  return Atomics.load(new Int32Array(memory, 0, 1), 0) === 1;
}

/** Hands over rows as they were added, and gives their memory back. */
export interface SlotReader {
  readonly empty: (thread: number, slot: Slot, onRows: (rows: ColumnRows) => void) => void;
}

export function createSlotReader(): SlotReader {
  const memories = new Map<string, SharedArrayBuffer>();
  return {
    empty: (thread, slot, onRows) => {
      const key = `${thread}/${slot.number}`;
      if (slot.memory !== undefined) memories.set(key, slot.memory);
      const memory = memories.get(key);
      if (memory === undefined) throw new Error('assertion failed: a slot was never sent');
      readChunks(memory, slot.chunks, onRows);
      Atomics.store(new Int32Array(memory, 0, 1), 0, 0);
    },
  };
}

function readChunks(memory: SharedArrayBuffer, chunks: Slot['chunks'], onRows: (rows: ColumnRows) => void): void {
  for (const [rowCount, columnCount, hasSeries, from] of chunks) {
    const column = (index: number): Float64Array =>
      new Float64Array(memory, HEAD_BYTES + 8 * (from + index * rowCount), rowCount);
    onRows({
      timeMs: column(0),
      values: Array.from({ length: columnCount }, (_, index) => column(1 + index)),
      series: hasSeries ? Int32Array.from(column(1 + columnCount)) : undefined,
    });
  }
}
