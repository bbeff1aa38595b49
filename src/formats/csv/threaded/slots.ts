import type { ColumnRows } from '../read/rows.js';

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

/** Where a thread puts rows, to send them as a slot. */
export class SlotWriter {
  readonly #memories: SharedArrayBuffer[] = [];
  readonly #sent = new Set<SharedArrayBuffer>();
  readonly #lengthMin: number;
  #memory: SharedArrayBuffer | undefined;
  #column: Float64Array = new Float64Array(0);
  #length = 0;
  #chunks: Slot['chunks'][number][] = [];

  /** @param lengthMin numbers that most slots have room for; memory is taken as it is used. */
  constructor(lengthMin: number) {
    this.#lengthMin = lengthMin;
  }

  readonly add = ({ timeMs, values, series }: ColumnRows): void => {
    this.#chunks.push([timeMs.length, values.length, series !== undefined, this.#length]);
    this.#append(timeMs);
    for (const value of values) this.#append(value);
    if (series !== undefined) this.#append(series);
  };

  /** The rows added since the last slot. */
  take(): Slot {
    const memory = this.#memory ?? this.#makeRoom(0);
    const isNew = !this.#sent.has(memory);
    const slot = {
      number: this.#memories.indexOf(memory),
      memory: isNew ? memory : undefined,
      chunks: this.#chunks,
    };
    Atomics.store(new Int32Array(memory, 0, 1), 0, 1);
    this.#sent.add(memory);
    this.#memory = undefined;
    this.#column = new Float64Array(0);
    this.#length = 0;
    this.#chunks = [];
    return slot;
  }

  #append(values: Float64Array | Int32Array): void {
    const end = this.#length + values.length;
    if (end > this.#column.length) this.#makeRoom(end);
    this.#column.set(values, this.#length);
    this.#length = end;
  }

  #makeRoom(needed: number): SharedArrayBuffer {
    const isFit = (one: SharedArrayBuffer): boolean => one.byteLength >= HEAD_BYTES + 8 * needed && !isInUse(one);
    let memory = this.#memories.find(isFit);
    if (memory === undefined) {
      memory = new SharedArrayBuffer(HEAD_BYTES + 8 * Math.max(this.#lengthMin, 2 * needed));
      this.#memories.push(memory);
    }
    const column = new Float64Array(memory, HEAD_BYTES);
    column.set(this.#column.subarray(0, this.#length));
    this.#column = column;
    this.#memory = memory;
    return memory;
  }
}

function isInUse(memory: SharedArrayBuffer): boolean {
  return Atomics.load(new Int32Array(memory, 0, 1), 0) === 1;
}

/** Takes rows out of slots. */
export class SlotReader {
  readonly #memories = new Map<string, SharedArrayBuffer>();

  /** Hands over the rows as they were added, and gives their memory back to the thread. */
  empty(thread: number, slot: Slot, onRows: (rows: ColumnRows) => void): void {
    const key = `${thread}/${slot.number}`;
    if (slot.memory !== undefined) this.#memories.set(key, slot.memory);
    const memory = this.#memories.get(key);
    if (memory === undefined) throw new Error('assertion failed: a slot was never sent');
    for (const [rowCount, columnCount, hasSeries, from] of slot.chunks) {
      const column = (index: number): Float64Array =>
        new Float64Array(memory, HEAD_BYTES + 8 * (from + index * rowCount), rowCount);
      onRows({
        timeMs: column(0),
        values: Array.from({ length: columnCount }, (_, index) => column(1 + index)),
        series: hasSeries ? Int32Array.from(column(1 + columnCount)) : undefined,
      });
    }
    Atomics.store(new Int32Array(memory, 0, 1), 0, 0);
  }
}
