import type { AsyncBuffer, FileMetaData, ParquetParsers, SchemaElement } from 'hyparquet';
import { WindrowError } from '../../core/errors.js';
import type { Format, FormatListener, FormatOptions, FormatSource } from '../format.js';
import type { Cells } from '../table/cells.js';
import {
  checkTexts,
  clockTexts,
  decimals,
  localTimes,
  nestedNote,
  openTyped,
  SAMPLE_ROWS,
  type TypedColumn,
  textOfBytes,
  wholeOf,
} from '../table/typed-columns.js';
import { checkIsOne } from './check-one.js';
import { type Reading, readChunk } from './read-chunk.js';
import { openUnpackers } from './unpackers.js';
import { openParquetWriter } from './writer.js';

/** Parquet with flat columns, a row group at a time. */
export const parquet: Format = { name: 'parquet', extensions: ['parquet'], read, openWriter: openParquetWriter };

// Times as epoch milliseconds, as a Date would lose digits.
const parsers: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (millis) => Number(millis),
  timestampFromMicroseconds: nearestMs,
  timestampFromNanoseconds: (nanos) => (nanos % 1_000_000n === 0n ? Number(nanos / 1_000_000n) : Number(`${nanos}e-6`)),
  dateFromDays: (days) => days * 86_400_000,
};

// Of cells. Statistics may end within a character.
const cellParsers: Partial<ParquetParsers> = {
  ...parsers,
  stringFromBytes: (bytes) => bytes && textOfBytes(bytes),
  jsonFromBytes: (bytes) => bytes && jsonOf(textOfBytes(bytes)),
  // See `asDigits`: nothing else is read as geometry.
  geometryFromBytes: (bytes) => bytes?.slice(),
};

// `null` is a value of JSON, and no missing cell; what is no JSON stays as it is.
function jsonOf(text: string | Uint8Array): unknown {
  try {
    return typeof text === 'string' ? (JSON.parse(text) ?? text) : text;
  } catch {
    return text;
  }
}

// Far from 1970 a double does not hold all microseconds, so that dividing one would round twice.
function nearestMs(micros: bigint): number {
  const whole = Number(micros);
  return Number.isSafeInteger(whole) ? whole / 1000 : Number(`${micros}e-3`);
}

async function read(
  source: FormatSource,
  options: FormatOptions,
  { onChunk, isStopped }: FormatListener,
): ReturnType<Format['read']> {
  // Both packages before anything is read: the caller reports a missing one.
  const [{ parquetMetadataAsync }, reading] = await Promise.all([import('hyparquet'), openReading()]);
  const file = await bufferOf(source);
  try {
    const metadata = await parquetMetadataAsync(file, { parsers });
    await checkIsOne(file, metadata);
    const { elements, nested, others } = columnsOf(metadata);
    const columns = elements.map((element) => typedColumn(element, options));
    for (const [i, { scale }] of columns.entries()) if (scale !== undefined) asDigits(elements[i]!);
    const names = elements.map(({ name }) => name);
    const table = { ...reading, file, root: metadata.schema[0]!, metadata, elements, columns };
    const readRows = (wanted: readonly string[], rowStart: number, rowEnd: number): Promise<Cells[]> =>
      readCells(table, wanted, rowStart, rowEnd);
    const rowCount = Number(metadata.num_rows);
    const groupRows = metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
    if (groupRows !== rowCount) throw new Error(`it has ${rowCount} rows, its row groups have ${groupRows}`);
    const sample = await readRows(names, 0, Math.min(SAMPLE_ROWS, rowCount));
    const reader = openTyped(columns, sample, options);
    const { timeColumn, clockColumn } = reader.roles;
    // The statistics of days do not tell the times in them.
    const isPassed = (index: number): boolean =>
      clockColumn < 0 && isOutside(metadata, index, elements[timeColumn]!, options);
    const used = reader.usedColumns().map((column) => names[column]!);
    const naming = reader.nameColumns().map((column) => names[column]!);
    let from = 0;
    for (const [index, { num_rows: count }] of metadata.row_groups.entries()) {
      const to = from + Number(count);
      if (isPassed(index)) {
        const cells = naming.length === 0 ? [] : await readRows(naming, from, to);
        for (const column of reader.nameColumns()) checkTexts(columns[column]!, cells[column]);
        reader.pass(cells, to - from);
      } else {
        const cells = await readRows(used, from, to);
        for (const column of reader.usedColumns()) checkTexts(columns[column]!, cells[column]);
        const first = from;
        if (columns[timeColumn]!.isLocal) cells[timeColumn] = localTimes(cells[timeColumn] ?? []);
        reader.take(cells, to - from, (row) => ({ line: first + row + 1, text: '' }), onChunk);
      }
      if (isStopped()) return undefined;
      from = to;
    }
    reader.flush((chunk) => onChunk(chunk, from));
    const summary = reader.summary();
    const notes = [...summary.notes];
    if (nested.length > 0) notes.push(nestedNote(nested));
    if (others.length > 0) notes.push(`columns of intervals or BSON left out: ${others.join(', ')}`);
    return { ...summary, notes };
  } catch (error) {
    if (error instanceof WindrowError || !(error instanceof Error)) throw error;
    throw new WindrowError('file.format', `${source.name}: cannot be read as a Parquet file (${error.message})`, {
      cause: error,
    });
  }
}

/**
 * The flat columns, and the names of those of which no series can be made: lists and records, and others that hyparquet
 * cannot read.
 */
function columnsOf({ schema }: FileMetaData) {
  const elements: SchemaElement[] = [];
  const nested: string[] = [];
  const others: string[] = [];
  // The root comes first, and the children of an element follow it.
  for (let at = 1; at < schema.length; at = afterChildren(schema, at)) {
    const element = schema[at]!;
    if (element.num_children || element.repetition_type === 'REPEATED') nested.push(element.name);
    else if (element.converted_type === 'INTERVAL' || element.converted_type === 'BSON') others.push(element.name);
    else elements.push(element);
  }
  return { elements, nested, others };
}

function afterChildren(schema: readonly SchemaElement[], at: number): number {
  let next = at + 1;
  for (let child = schema[at]?.num_children ?? 0; child > 0; child--) next = afterChildren(schema, next);
  return next;
}

/** Reads some columns of the rows `rowStart` to `rowEnd` (exclusive). */
async function readCells(
  table: Reading & { metadata: FileMetaData; elements: readonly SchemaElement[]; columns: readonly TypedColumn[] },
  wanted: readonly string[],
  rowStart: number,
  rowEnd: number,
): Promise<Cells[]> {
  const { metadata, elements, columns } = table;
  const cells = new Map<string, unknown[]>(wanted.map((name) => [name, []]));
  for (const { name, chunk, rowCount, from } of chunksOf(metadata, wanted, rowStart, rowEnd)) {
    const element = elements.find((one) => one.name === name)!;
    const end = Math.min(rowCount, rowEnd - from);
    const read = await readChunk(table, element, chunk, rowCount, end);
    // The pages of a damaged column may end early.
    if (read.length < end) throw new Error(`the column ${name} has fewer values than rows`);
    const column = cells.get(name)!;
    if (column.length === 0 && from >= rowStart && read.length === end) cells.set(name, read);
    else for (let row = Math.max(0, rowStart - from); row < end; row++) column.push(read[row]);
  }
  return columns.map(({ name, scale, clockUnits }) => {
    const column = cells.get(name);
    if (column === undefined) return undefined;
    if (clockUnits !== undefined) return clockTexts(column, clockUnits);
    return scale === undefined ? column : decimals(column, scale);
  });
}

/** How cells are read. */
async function openReading(): Promise<Pick<Reading, 'parsers' | 'compressors'>> {
  const [{ DEFAULT_PARSERS }, compressors] = await Promise.all([import('hyparquet/src/convert.js'), openUnpackers()]);
  return { parsers: { ...DEFAULT_PARSERS, ...cellParsers }, compressors };
}

function typedColumn(column: SchemaElement, options: FormatOptions): TypedColumn {
  const clockUnits = clockUnitsOf(column);
  const scale = scaleOf(column);
  const isOther = (column.type === 'BYTE_ARRAY' && scale === undefined) || clockUnits !== undefined;
  const type = isTime(column) ? 'time' : isOther ? 'other' : 'number';
  const areTexts = column.type === 'BYTE_ARRAY' && scale === undefined;
  const told = { isLocal: isLocal(column, options), isDate: isDate(column), clockUnits, scale, areTexts };
  return { name: column.name, type, ...told };
}

const UNITS_IN_SECOND = { MILLIS: 1e3, MICROS: 1e6, NANOS: 1e9 };

/** Of times of day: how many of their units are a second. */
function clockUnitsOf({ logical_type: logical, converted_type: converted }: SchemaElement): number | undefined {
  if (logical?.type === 'TIME') return UNITS_IN_SECOND[logical.unit];
  if (converted === 'TIME_MILLIS') return UNITS_IN_SECOND.MILLIS;
  return converted === 'TIME_MICROS' ? UNITS_IN_SECOND.MICROS : undefined;
}

function isDate({ logical_type: logical, converted_type: converted }: SchemaElement): boolean {
  return logical?.type === 'DATE' || converted === 'DATE';
}

function scaleOf({ scale = 0, logical_type: logical, converted_type: converted }: SchemaElement) {
  return converted === 'DECIMAL' || logical?.type === 'DECIMAL' ? scale : undefined;
}

/**
 * Has a decimal come as its digits: hyparquet would multiply them by a power of ten that is rounded. Of bytes of any
 * length it makes texts, unless they are of a type that has a parser of its own.
 */
function asDigits(column: SchemaElement): void {
  delete column.converted_type;
  if (column.type === 'BYTE_ARRAY') column.logical_type = { type: 'GEOMETRY' };
}

function isTime(column: SchemaElement): boolean {
  const { type, logical_type: logical, converted_type: converted } = column;
  if (isDate(column)) return true;
  if (logical?.type === 'TIMESTAMP' || type === 'INT96') return true;
  return converted === 'TIMESTAMP_MILLIS' || converted === 'TIMESTAMP_MICROS';
}

// A date, and a timestamp that is not adjusted to UTC, are local if the run has a zone.
function isLocal(column: SchemaElement, options: FormatOptions): boolean {
  const { logical_type: logical } = column;
  const isLocalTime = logical?.type === 'TIMESTAMP' && !logical.isAdjustedToUTC;
  return options.timezone !== undefined && (isDate(column) || isLocalTime);
}

// Whether a row group lies outside the run, according to its statistics.
function isOutside(
  { row_groups: groups }: FileMetaData,
  index: number,
  column: SchemaElement,
  options: FormatOptions,
): boolean {
  const { fromMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = options;
  if (!isTime(column) || isLocal(column, options)) return false;
  const chunk = groups[index]?.columns.find(({ meta_data: data }) => data?.path_in_schema[0] === column.name);
  const { min_value: min, max_value: max } = chunk?.meta_data?.statistics ?? {};
  return (typeof max === 'number' && max < fromMs) || (typeof min === 'number' && min >= untilMs);
}

/** The chunks of some columns that have some of the rows. */
function* chunksOf({ row_groups: groups }: FileMetaData, wanted: readonly string[], rowStart: number, rowEnd: number) {
  let from = 0;
  for (const { num_rows: count, columns } of groups) {
    const to = from + Number(count);
    for (const { meta_data: data } of columns) {
      const name = data?.path_in_schema[0] ?? '';
      const isWithin = from < to && from < rowEnd && to > rowStart;
      if (data?.path_in_schema.length !== 1 || !isWithin || !wanted.includes(name)) continue;
      yield { name, chunk: data, rowCount: to - from, from };
    }
    from = to;
  }
}

async function bufferOf({ random, blocks }: FormatSource): Promise<AsyncBuffer> {
  if (random !== undefined) {
    const { sizeBytes, readAt } = random;
    return {
      byteLength: sizeBytes,
      slice: (start, end = sizeBytes) => {
        const bytes = new Uint8Array(Math.max(0, Math.min(end, sizeBytes) - start));
        for (let at = 0; at < bytes.length; ) {
          const count = readAt(bytes.subarray(at), start + at);
          if (count === 0) break;
          at += count;
        }
        return bytes.buffer;
      },
    };
  }
  // The index is at the end, so a stream must be kept whole.
  const whole = await wholeOf({ blocks });
  return { byteLength: whole.length, slice: (start, end) => whole.slice(start, end).buffer };
}
