import type { FileHandle } from 'node:fs/promises';
import type * as Arrow from 'apache-arrow';
import type { Field, RecordBatch } from 'apache-arrow';
import { WindrowError } from '../../core/errors.js';
import type { Series } from '../../core/series.js';
import type { Format, FormatListener, FormatOptions, FormatSource, FormatWriter } from '../format.js';
import { joinedBytes } from '../joined-bytes.js';
import type { Cells } from '../table/cells.js';
import { microsOf } from '../table/epoch.js';
import type { TableReader } from '../table/table-reader.js';
import {
  checkTexts,
  clockTexts,
  decimals,
  localTimes,
  nestedNote,
  openTyped,
  SAMPLE_ROWS,
  type TypedColumn,
  wholeOf,
} from '../table/typed-columns.js';
import { openZstd } from '../zstd.js';
import { checkIndex, checkRows } from './check.js';
import { unpackLz4Frame } from './lz4-frame.js';
import { Messages } from './messages.js';
import { isText, textsOf } from './texts.js';

/** Arrow IPC, as a file (Feather 2) or a stream, or several streams joined, a record batch at a time. */
export const arrow: Format = {
  name: 'arrow',
  extensions: ['arrow', 'feather', 'ipc', 'arrows'],
  read,
  openWriter,
};

async function read(
  source: FormatSource,
  options: FormatOptions,
  { onChunk, isStopped }: FormatListener,
): ReturnType<Format['read']> {
  const [arrows, unpackZstd] = await Promise.all([import('apache-arrow'), openZstd()]);
  const { CompressionType, compressionRegistry } = arrows;
  const zstd = (packed: Uint8Array): Uint8Array => ofLength(packed, aligned(joinedBytes([...unpackZstd(packed)])));
  compressionRegistry.set(CompressionType.ZSTD, { decode: zstd });
  compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: (packed) => ofLength(packed, unpackLz4Frame(packed)) });
  let reader: TableReader | undefined;
  let rows = 0;
  let nested: readonly string[] = [];
  // The first batches may have few rows or none, too few to tell what the columns are.
  let waiting: Batch[] = [];
  const takeWaiting = (): void => {
    const taken = waiting;
    waiting = [];
    for (const { columns, cells, rowCount } of taken) {
      const first = rows;
      rows += rowCount;
      reader ??= openTyped(columns, firstCells(columns, taken), options);
      for (const column of reader.usedColumns()) checkTexts(columns[column]!, cells[column]);
      reader.take(cells, rowCount, (row) => ({ line: first + row + 1, text: '' }), onChunk);
    }
  };
  // Those of a stream.
  const messages = new Messages();
  try {
    const batches = await openBatches(source, arrows, messages);
    let schema: string | undefined;
    for await (const batch of batches) {
      schema ??= String(batch.schema);
      if (String(batch.schema) !== schema) throw new Error('of the streams in it, a later one has other columns');
      // Of columns of one name, the schema has the type of the last.
      const typeAt = (index: number): Arrow.DataType => batch.data.children[index]!.type;
      const fields = batch.schema.fields.map(({ name }, index) => [index, { name, type: typeAt(index) }] as const);
      const flat = fields.filter(([, { type }]) => !isNested(type, arrows));
      nested = fields.filter((field) => !flat.includes(field)).map(([, { name }]) => name);
      const columns = flat.map(([, field]) => typedColumn(field, options, arrows));
      const vectors = flat.map(([index]) => batch.getChildAt(index));
      const names = columns.map(({ name }) => name);
      const checked = checkRows(vectors, names, batch.numRows, arrows);
      const cells = checked.map((vector, place) => cellsOf(vector, columns[place]!, arrows));
      waiting.push({ columns, cells, rowCount: batch.numRows });
      const waitingRows = waiting.reduce((sum, { rowCount }) => sum + rowCount, 0);
      if (reader !== undefined || waitingRows >= SAMPLE_ROWS) takeWaiting();
      if (isStopped()) return undefined;
    }
    takeWaiting();
    messages.checkEnd(rows);
    (reader as TableReader | undefined)?.flush((chunk) => onChunk(chunk, rows));
    if (isStopped()) return undefined;
  } catch (error) {
    if (error instanceof WindrowError || !(error instanceof Error)) throw error;
    const problem = `cannot be read as an Arrow file (${error.message})`;
    throw new WindrowError('file.format', `${source.name}: ${problem}`, { cause: error });
  }
  if (reader === undefined) throw new WindrowError('file.format', `${source.name}: has no rows`);
  const summary = (reader as TableReader).summary();
  const notes = [...summary.notes];
  if (nested.length > 0) notes.push(nestedNote(nested));
  if (messages.lacksEnd) notes.push('no mark at its end, so it may be cut off');
  return { ...summary, notes };
}

/** A record batch, as cells. */
interface Batch {
  readonly columns: readonly TypedColumn[];
  readonly cells: readonly Cells[];
  readonly rowCount: number;
}

// The first cells of each column, over several batches.
function firstCells(columns: readonly TypedColumn[], batches: readonly Batch[]): Cells[] {
  return columns.map((_, column) => {
    return batches.flatMap(({ cells }) => Array.from(cells[column] ?? []).slice(0, SAMPLE_ROWS));
  });
}

// What fzstd unpacks may begin anywhere in its buffer, where arrays of 8 bytes a number cannot.
function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}

/** Compares what was unpacked with its length in the eight bytes before, which apache-arrow passes over. */
function ofLength({ buffer, byteOffset }: Uint8Array, bytes: Uint8Array): Uint8Array {
  const length = new DataView(buffer, byteOffset - 8, 8).getBigInt64(0, true);
  if (length !== BigInt(bytes.length)) throw new Error(`a buffer has ${bytes.length} bytes instead of ${length}`);
  return bytes;
}

/** Whether a cell is a list or a record, of which no sample can be made. */
function isNested(type: Arrow.DataType, { DataType }: Pick<typeof Arrow, 'DataType'>): boolean {
  const { isStruct, isList, isLargeList, isFixedSizeList, isMap, isUnion } = DataType;
  return [isStruct, isList, isLargeList, isFixedSizeList, isMap, isUnion].some((isKind) => isKind(type));
}

function typedColumn(
  { name, type: given }: Pick<Field, 'name' | 'type'>,
  { timezone }: FormatOptions,
  { DataType }: Pick<typeof Arrow, 'DataType'>,
): TypedColumn {
  // Of a dictionary, as pandas writes a column of categories, the values count.
  const type: Arrow.DataType = DataType.isDictionary(given) ? given.dictionary : given;
  const scale = DataType.isDecimal(type) ? type.scale : undefined;
  const isNumber = DataType.isFloat(type) || DataType.isInt(type) || DataType.isBool(type) || scale !== undefined;
  const isTime = DataType.isTimestamp(type) || DataType.isDate(type);
  const isLocal = timezone !== undefined && isTime && !(DataType.isTimestamp(type) && type.timezone);
  // Units are numbered from the second on, each a thousandth of the one before.
  const clockUnits = DataType.isTime(type) ? 1000 ** type.unit : undefined;
  const isDate = DataType.isDate(type);
  const told = { isLocal, isDate, clockUnits, scale, areTexts: isText(type, DataType) };
  return { name, type: isTime ? 'time' : isNumber ? 'number' : 'other', ...told };
}

// Times come as epoch milliseconds; local ones as texts.
function cellsOf(
  column: Arrow.Vector,
  { isLocal, clockUnits, scale }: TypedColumn,
  { DataType: types }: Pick<typeof Arrow, 'DataType'>,
): Cells {
  const type = types.isDictionary(column.type) ? column.type.dictionary : column.type;
  if (isText(type, types)) return textsOf(column, types);
  const cells = Array.from({ length: column.length }, (_, row): unknown => column.get(row));
  if (clockUnits !== undefined) return clockTexts(cells, clockUnits);
  if (scale !== undefined) return decimals(cells.map(bytesOf), scale);
  return isLocal ? localTimes(cells) : cells;
}

// A decimal comes as words, the least first.
function bytesOf(words: unknown): unknown {
  return words instanceof Uint32Array ? new Uint8Array(words.slice().buffer).reverse() : words;
}

const MAGIC = 'ARROW1';
// A file has its index at the end; a stream has none.
async function openBatches({ random, blocks }: FormatSource, { RecordBatchReader }: typeof Arrow, messages: Messages) {
  if (random !== undefined) {
    const head = new Uint8Array(MAGIC.length);
    random.readAt(head, 0);
    if (isMagic(head)) {
      const end = new Uint8Array(END_BYTES);
      random.readAt(end, Math.max(0, random.sizeBytes - END_BYTES));
      const indexAt = startOfIndex(end, random.sizeBytes);
      const reader = await RecordBatchReader.from(handleOf(random) as unknown as FileHandle);
      checkIndex((await reader.open()).footer, indexAt);
      return allOf(reader);
    }
  }
  const copies = (async function* () {
    for await (const block of blocks()) yield block.slice();
  })();
  const first = await copies.next();
  if (first.done) return RecordBatchReader.from(copies);
  const all = startingWith(first.value, copies);
  if (!isMagic(first.value)) return batchesOf(RecordBatchReader.readAll(messages.pass(all)));
  const whole = await wholeOf({ blocks: () => all });
  const indexAt = startOfIndex(whole.subarray(-END_BYTES), whole.length);
  const reader = RecordBatchReader.from(whole);
  checkIndex(reader.open().footer, indexAt);
  return allOf(reader);
}

type FileReader = Arrow.RecordBatchStreamReader | Arrow.AsyncRecordBatchStreamReader;

// One by one, as an iteration would wait for ever for a batch in the place of another message, and take a damaged head
// of a batch for the end.
async function* allOf(reader: FileReader): AsyncGenerator<RecordBatch> {
  const count = reader.footer?.numRecordBatches ?? 0;
  if (count === 0 || !reader.isFile()) return yield* reader;
  for (let index = 0; index < count; index++) {
    const batch = await batchAt(reader, index);
    if (batch === null) throw new Error(`of the ${count} record batches in its index, only ${index} can be read`);
    yield batch;
  }
}

async function batchAt(
  reader: Arrow.RecordBatchFileReader | Arrow.AsyncRecordBatchFileReader,
  index: number,
): Promise<RecordBatch | null> {
  try {
    return await reader.readRecordBatch(index);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new Error(`record batch ${index + 1}: ${error.message}`, { cause: error });
  }
}

// One stream after another may follow, as `cat` joins them.
async function* batchesOf(streams: AsyncIterable<AsyncIterable<RecordBatch>>): AsyncGenerator<RecordBatch> {
  for await (const stream of streams) yield* stream;
}

function isMagic(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(0, MAGIC.length)) === MAGIC;
}

// A file ends with its index, the length of the index, and the letters that it begins with.
const END_BYTES = 4 + MAGIC.length;

function startOfIndex(end: Uint8Array, sizeBytes: number): number {
  if (!isMagic(end.subarray(4))) throw new Error('it does not end as one, so it is cut off or still being written');
  return sizeBytes - END_BYTES - new DataView(end.buffer, end.byteOffset).getInt32(0, true);
}

async function* startingWith(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

// The part of an open file handle that apache-arrow uses.
function handleOf({ sizeBytes, readAt }: NonNullable<FormatSource['random']>) {
  return {
    fd: 0,
    stat: async () => ({ size: sizeBytes }),
    read: async (bytes: Uint8Array, offset: number, length: number, position: number) => ({
      bytesRead: readAt(bytes.subarray(offset, offset + length), position),
      buffer: bytes,
    }),
    close: async () => undefined,
  };
}

const BATCH_ROWS = 65_536;

/** Writes `timestamp` (UTC, microseconds), `timeseriesId`, `metric` and `value`; a stream if the name says so. */
async function openWriter(onBytes: (bytes: Uint8Array) => void, fileName: string): Promise<FormatWriter> {
  const arrows = await import('apache-arrow');
  const { Field, Float64, RecordBatch, Schema, Struct, TimestampMicrosecond, Utf8 } = arrows;
  const timestamp = new TimestampMicrosecond('UTC');
  const types = { timestamp, timeseriesId: new Utf8(), metric: new Utf8(), value: new Float64() };
  const schema = new Schema(Object.entries(types).map(([name, type]) => new Field(name, type, false)));
  const isStream = /\.arrows$/i.test(fileName);
  const writer = isStream ? new arrows.RecordBatchStreamWriter() : new arrows.RecordBatchFileWriter();
  writer.reset(undefined, schema);

  function writeBatch({ timeseriesId, metric, timeMs, value }: Series, from: number, to: number): void {
    const length = to - from;
    const named = (name: string) => arrows.vectorFromArray(new Array<string>(length).fill(name), new Utf8()).data[0]!;
    const micros = BigInt64Array.from({ length }, (_, row) => microsOf(timeMs[from + row]!));
    const children = [
      arrows.makeData({ type: timestamp, length, data: micros }),
      named(timeseriesId),
      named(metric),
      arrows.makeData({ type: types.value, length, data: value.slice(from, to) }),
    ];
    const data = arrows.makeData({ type: new Struct(schema.fields), length, nullCount: 0, children });
    writer.write(new RecordBatch(schema, data));
  }

  function write(series: Series): void {
    for (let from = 0; from < series.timeMs.length; from += BATCH_ROWS) {
      writeBatch(series, from, Math.min(from + BATCH_ROWS, series.timeMs.length));
    }
  }

  function end(): void {
    writer.finish();
    onBytes(writer.toUint8Array(true));
  }

  return { write, end };
}
