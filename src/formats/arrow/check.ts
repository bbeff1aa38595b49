// Arrow files have no checksums, and apache-arrow takes the lengths in them as they are: a changed bit may let a column
// claim more rows than the file has bytes, or pass batches over.

import type * as Arrow from 'apache-arrow';
import { joinedFiles } from '../joined-files.js';

/**
 * Checks the places of the batches in the index of a file: they follow each other, and the index follows the last.
 *
 * @param indexAt where the index begins, in bytes.
 * @throws Error for an index that does not fit, and one of its own text for files joined as by `cat`, which have the
 * index of the last, whose places, counted from its own beginning, lead into the others.
 */
export function checkIndex(index: Arrow.RecordBatchReader['footer'], indexAt: number): void {
  const blocks = [...(index?.recordBatches() ?? []), ...(index?.dictionaryBatches() ?? [])];
  let end = 0;
  for (const { offset, metaDataLength, bodyLength } of blocks.sort((a, b) => a.offset - b.offset)) {
    if (offset < end || metaDataLength < 0 || bodyLength < 0) throw new Error('its index is damaged');
    end = offset + metaDataLength + bodyLength;
  }
  if (end > indexAt) throw new Error('its index is damaged');
  // Between the last batch and the index stands the mark that ends a stream, padded to 64 bytes at most.
  if (end > 0 && indexAt - end > 2 * 64) throw joinedFiles();
}

/**
 * Checks the flat columns of a batch: that they have the bytes of as many values as the batch has rows, as many missing
 * ones as they tell, texts that follow each other, and places that lie in their dictionary.
 *
 * @returns the columns.
 * @throws Error if not.
 */
export function checkRows(
  columns: readonly (Arrow.Vector | null)[],
  names: readonly string[],
  rowCount: number,
  { DataType: types }: typeof Arrow,
): Arrow.Vector[] {
  const checked = columns.filter((column) => column?.length === rowCount) as Arrow.Vector[];
  if (checked.length < columns.length) throw new Error('the columns of a record batch differ in length');
  const parts = checked.flatMap(({ data }) => data);
  // apache-arrow fills columns that are shorter than their batch with nulls: the longest shows how many rows there are.
  const isLong = parts.length === 0 || parts.some((part) => countOf(part, types) >= rowCount);
  if (!isLong) throw new Error('a column has fewer values than rows');
  for (const [place, { data }] of checked.entries()) {
    for (const part of data.flatMap((one) => [one, ...(one.dictionary?.data ?? [])])) {
      const fault = faultOf(part, types);
      if (fault !== undefined) throw new Error(`the column ${names[place]} has ${fault}`);
    }
  }
  return checked;
}

function faultOf(part: Arrow.Data, types: typeof Arrow.DataType): string | undefined {
  const { type, length, nullCount, nullBitmap } = part;
  if (types.isNull(type)) return undefined;
  if (nullCount > 0) {
    if (nullBitmap.length * 8 < length) return 'fewer values than rows';
    const found = zeroCountOf(nullBitmap, length);
    if (found !== nullCount) return `${found} missing values, but ${nullCount} according to its head`;
  }
  // apache-arrow writes no values for nulls that it appends.
  const count = countOf(part, types);
  for (let row = count; row < length; row++) if (part.getValid(row)) return 'fewer values than rows';
  if (areTexts(type, types) && !areInOrder(part, Math.min(count, length)))
    return 'texts that overlap or lie beyond its end';
  if (types.isDictionary(type) && !isInDictionary(part)) return 'a value that is not in its dictionary';
  return undefined;
}

/** How many of the first bits are 0. */
function zeroCountOf(bytes: Uint8Array, length: number): number {
  let count = 0;
  for (let at = 0; at < length; at += 8) {
    let rest = ~bytes[at >> 3]! & (length - at < 8 ? (1 << (length - at)) - 1 : 255);
    for (; rest !== 0; rest &= rest - 1) count++;
  }
  return count;
}

/** Whether the texts of a column follow each other, to its end at most. */
function areInOrder({ valueOffsets, values }: Arrow.Data, count: number): boolean {
  const places: ArrayLike<number | bigint> = valueOffsets;
  let last = 0;
  for (let row = 0; row <= count && row < places.length; row++) {
    const place = Number(places[row]);
    if (place < last) return false;
    last = place;
  }
  return last <= values.length;
}

function isInDictionary(part: Arrow.Data): boolean {
  const length = part.dictionary?.length ?? 0;
  const { values }: { values: ArrayLike<number | bigint> } = part;
  for (let row = 0; row < part.length; row++) {
    const place = values[row];
    if (place === undefined || (place >= 0 && place < length)) continue;
    if (part.getValid(row)) return false;
  }
  return true;
}

/** Whether values of any length lie between places, as texts do. */
function areTexts(type: Arrow.DataType, types: typeof Arrow.DataType): boolean {
  const { isUtf8, isLargeUtf8, isBinary, isLargeBinary } = types;
  return [isUtf8, isLargeUtf8, isBinary, isLargeBinary].some((isKind) => isKind(type));
}

/** Of how many values a column has the bytes. */
function countOf(part: Arrow.Data, types: typeof Arrow.DataType): number {
  const { type, stride } = part;
  if (types.isNull(type)) return 0;
  const { values, valueOffsets }: { values: ArrayLike<unknown>; valueOffsets: ArrayLike<unknown> } = part;
  if (areTexts(type, types)) return Math.max(0, valueOffsets.length - 1);
  return types.isBool(type) ? values.length * 8 : Math.floor(values.length / stride);
}
