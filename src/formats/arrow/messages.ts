// The messages of an Arrow stream, as https://arrow.apache.org/docs/format/Columnar.html describes them: the length of
// a head, the head, which is a FlatBuffer (Message.fbs, Schema.fbs), and a body. apache-arrow takes lengths and places
// in a head as they are, and a stream for ended where one is damaged.

import { joinedBytes } from '../joined-bytes.js';

/** A head beyond this length is none. */
const HEAD_LENGTH_MAX = 67_108_864;
/** A column of a schema takes more bytes. */
const FIELD_BYTES_MIN = 8;
const CONTINUATION = -1;
const [SCHEMA, DICTIONARY_BATCH, RECORD_BATCH] = [1, 2, 3];
/** How many buffers a column of each type has, without those within it, by the number of the type. */
const BUFFER_COUNTS = [0, 0, 2, 2, 3, 3, 2, 2, 2, 2, 2, 2, 2, 1, Number.NaN, 2, 1, 2, 2, 3, 3, 2];

/** How many columns and buffers a column of a schema has, with those within it; NaN buffers where that is open. */
interface Column {
  readonly columnCount: number;
  readonly bufferCount: number;
}

/** Passes streams on, one or several joined, and checks that their messages follow each other up to the end. */
export class Messages {
  /** How many rows the record batches have. */
  #rowCount = 0;
  /** Whether the last stream has no mark at its end: cut off between two batches, it looks whole. */
  lacksEnd = false;
  /** Of the schema. */
  #columns: readonly Column[] = [];
  #rest: Uint8Array = new Uint8Array();
  /** What has not come yet of the body of the last message. */
  #bodyRest = 0;

  /** What was wrong, as apache-arrow may take an error for the end. */
  #fault: unknown;
  #isOver = true;

  /** @throws Error for a damaged head, and for an end within a message. */
  async *pass(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    this.#isOver = false;
    try {
      yield* this.#checked(blocks);
      this.#isOver = true;
    } catch (error) {
      this.#fault = error;
      throw error;
    }
  }

  /**
   * Checks, after reading, that nothing was wrong, and nothing was left.
   *
   * @param rowCount how many rows were read.
   * @throws Error if not.
   */
  checkEnd(rowCount: number): void {
    if (this.#fault !== undefined) throw this.#fault;
    if (!this.#isOver || rowCount < this.#rowCount) throw new Error(`only ${rowCount} of its rows can be read`);
  }

  async *#checked(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const block of blocks) {
      this.#rest = joinedBytes([this.#rest, block]);
      for (let count = this.#next(); count > 0; count = this.#next()) {
        yield this.#rest.slice(0, count);
        this.#rest = this.#rest.subarray(count);
      }
    }
    if (this.#rest.length > 0 || this.#bodyRest > 0) throw new Error('it ends within a message, so it is cut off');
  }

  /** How many bytes can be passed on: those of a head or of a body; 0 if more have to come. */
  #next(): number {
    const rest = this.#rest;
    if (this.#bodyRest > 0) {
      const count = Math.min(this.#bodyRest, rest.length);
      this.#bodyRest -= count;
      return count;
    }
    if (rest.length < 4) return 0;
    const view = new DataView(rest.buffer, rest.byteOffset, rest.length);
    // Before version 0.15, the length came first.
    const headAt = view.getInt32(0, true) === CONTINUATION ? 8 : 4;
    if (rest.length < headAt) return 0;
    const headLength = view.getInt32(headAt - 4, true);
    this.lacksEnd = headLength !== 0;
    if (headLength === 0) return headAt;
    if (headLength < 0 || headLength > HEAD_LENGTH_MAX) throw damaged();
    if (rest.length < headAt + headLength) return 0;
    const head = rest.subarray(headAt, headAt + headLength);
    try {
      this.#bodyRest = this.#takeHead(new DataView(head.buffer, head.byteOffset, head.length));
    } catch (error) {
      // A place that lies outside of it.
      throw error instanceof RangeError ? damaged() : error;
    }
    return headAt + headLength;
  }

  /** Checks the head of a message, and returns how many bytes its body has. */
  #takeHead(view: DataView): number {
    const message = new Table(view, view.getUint32(0, true));
    const bodyLength = message.int64(3);
    const header = message.table(2);
    if (header === undefined || bodyLength < 0) throw damaged();
    const type = message.uint8(1);
    if (type === SCHEMA) this.#columns = columnsOf(header, 1, { left: view.byteLength / FIELD_BYTES_MIN });
    else if (type === RECORD_BATCH) this.#rowCount += checkBatch(header, this.#columns, bodyLength);
    else {
      const dictionary = type === DICTIONARY_BATCH ? header.table(1) : undefined;
      if (dictionary === undefined) throw damaged();
      checkParts(dictionary, bodyLength);
    }
    return bodyLength;
  }
}

function damaged(): Error {
  return new Error('the head of a message is damaged');
}

/** Checks a RecordBatch, and returns how many rows it has. */
function checkBatch(batch: Table, columns: readonly Column[], bodyLength: number): number {
  const rowCount = batch.int64(0);
  const { lengths, bufferCount } = checkParts(batch, bodyLength);
  let at = 0;
  for (const { columnCount } of columns) {
    if (lengths[at] !== rowCount) throw damaged();
    at += columnCount;
  }
  const expected = columns.reduce((sum, column) => sum + column.bufferCount, 0);
  if (at !== lengths.length || !(Number.isNaN(expected) || bufferCount === expected)) throw damaged();
  return rowCount;
}

/** Checks the parts of a RecordBatch, or of one in a DictionaryBatch; returns the length of each column. */
function checkParts(batch: Table, bodyLength: number) {
  const [columns, buffers] = [batch.structs(1), batch.structs(2)];
  if (columns.some(([length, nullCount]) => nullCount < 0 || nullCount > length)) throw damaged();
  if (buffers.some(([from, length]) => from < 0 || length < 0 || from + length > bodyLength)) throw damaged();
  return { lengths: columns.map(([length]) => length), bufferCount: buffers.length };
}

/**
 * The columns of a Schema, or those within a Field.
 *
 * @param budget how many more there can be.
 */
function columnsOf(parent: Table, index: number, budget: { left: number }): Column[] {
  return parent.tables(index).map((field) => {
    if (--budget.left < 0) throw damaged();
    field.table(3);
    const within = columnsOf(field, 5, budget);
    // A dictionary has the columns within it; here are places in it.
    if (field.table(4) !== undefined) return { columnCount: 1, bufferCount: 2 };
    const own = BUFFER_COUNTS[field.uint8(2)] ?? Number.NaN;
    return within.reduce(
      (sum, { columnCount, bufferCount }) => ({
        columnCount: sum.columnCount + columnCount,
        bufferCount: sum.bufferCount + bufferCount,
      }),
      { columnCount: 1, bufferCount: own },
    );
  });
}

/** A table of a FlatBuffer. Reading outside of the bytes throws a RangeError. */
class Table {
  readonly #view: DataView;
  readonly #at: number;
  readonly #slotsAt: number;

  constructor(view: DataView, at: number) {
    this.#view = view;
    this.#at = at;
    this.#slotsAt = at - view.getInt32(at, true);
    const length = view.getUint16(this.#slotsAt, true);
    if (length < 4) throw damaged();
    view.getUint8(this.#slotsAt + length - 1);
  }

  uint8(index: number): number {
    const at = this.#place(index);
    return at === 0 ? 0 : this.#view.getUint8(at);
  }

  /** A number that a double holds; others are damaged. */
  int64(index: number): number {
    const at = this.#place(index);
    return at === 0 ? 0 : safe(this.#view.getBigInt64(at, true));
  }

  table(index: number): Table | undefined {
    const at = this.#place(index);
    return at === 0 ? undefined : new Table(this.#view, at + this.#view.getUint32(at, true));
  }

  tables(index: number): Table[] {
    const { at, count } = this.#vector(index, 4);
    return Array.from({ length: count }, (_, i) => {
      const place = at + 4 * i;
      return new Table(this.#view, place + this.#view.getUint32(place, true));
    });
  }

  /** Structs of two numbers. */
  structs(index: number): (readonly [number, number])[] {
    const { at, count } = this.#vector(index, 16);
    const numberAt = (place: number): number => safe(this.#view.getBigInt64(place, true));
    return Array.from({ length: count }, (_, i) => [numberAt(at + 16 * i), numberAt(at + 16 * i + 8)] as const);
  }

  #vector(index: number, itemBytes: number) {
    const place = this.#place(index);
    if (place === 0) return { at: 0, count: 0 };
    const at = place + this.#view.getUint32(place, true);
    const count = this.#view.getUint32(at, true);
    if (at + 4 + count * itemBytes > this.#view.byteLength) throw damaged();
    return { at: at + 4, count };
  }

  /** Where a field lies; 0 if it is absent. */
  #place(index: number): number {
    const slot = 4 + 2 * index;
    const isThere = slot + 2 <= this.#view.getUint16(this.#slotsAt, true);
    const offset = isThere ? this.#view.getUint16(this.#slotsAt + slot, true) : 0;
    return offset === 0 ? 0 : this.#at + offset;
  }
}

function safe(number: bigint): number {
  const value = Number(number);
  if (!Number.isSafeInteger(value)) throw damaged();
  return value;
}
