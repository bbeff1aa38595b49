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
 * Checks that the flat columns of a batch have the bytes of as many values as the batch has rows.
 *
 * @returns the columns.
 * @throws Error if they have fewer.
 */
export function checkRows(
  columns: readonly (Arrow.Vector | null)[],
  rowCount: number,
  { DataType: types }: typeof Arrow,
): Arrow.Vector[] {
  const checked = columns.filter((column) => column?.length === rowCount) as Arrow.Vector[];
  if (checked.length < columns.length) throw new Error('the columns of a record batch differ in length');
  const parts = checked.flatMap(({ data }) => data);
  const all = parts.flatMap((part) => [part, ...(part.dictionary?.data ?? [])]);
  // apache-arrow fills columns that are shorter than their batch with nulls: the longest shows how many rows there are.
  const isLong = parts.length === 0 || parts.some((part) => countOf(part, types) >= rowCount);
  if (!isLong || !all.every((part) => isWhole(part, types))) throw new Error('a column has fewer values than rows');
  return checked;
}

function isWhole(part: Arrow.Data, types: typeof Arrow.DataType): boolean {
  const { type, length, nullCount, nullBitmap } = part;
  if (types.isNull(type)) return true;
  if (nullCount > 0 && nullBitmap.length * 8 < length) return false;
  // apache-arrow writes no values for nulls that it appends.
  for (let row = countOf(part, types); row < length; row++) if (part.getValid(row)) return false;
  return true;
}

/** Of how many values a column has the bytes. */
function countOf(part: Arrow.Data, { isNull, isBool, isUtf8, isLargeUtf8 }: typeof Arrow.DataType): number {
  const { type, stride } = part;
  if (isNull(type)) return 0;
  const { values, valueOffsets }: { values: ArrayLike<unknown>; valueOffsets: ArrayLike<unknown> } = part;
  if (isUtf8(type) || isLargeUtf8(type)) return Math.max(0, valueOffsets.length - 1);
  return isBool(type) ? values.length * 8 : Math.floor(values.length / stride);
}
