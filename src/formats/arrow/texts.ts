import type * as Arrow from 'apache-arrow';
import { textOfBytes } from '../table/typed-columns.js';

/** Whether the cells of a column are texts. */
export function isText(type: Arrow.DataType, { isUtf8, isLargeUtf8, isUtf8View }: typeof Arrow.DataType): boolean {
  return isUtf8(type) || isLargeUtf8(type) || isUtf8View(type);
}

/** The texts of a dictionary, which many batches share. */
const known = new WeakMap<Arrow.Vector, readonly unknown[]>();

/**
 * The cells of a column of texts, or of a dictionary of texts; bytes where they are no UTF-8. apache-arrow leaves out a
 * byte order mark and replaces what is not UTF-8, so that two names would be one.
 */
export function textsOf(column: Arrow.Vector, types: typeof Arrow.DataType): unknown[] {
  const cells: unknown[] = [];
  for (const part of column.data) {
    const cellAt = types.isDictionary(part.type) ? dictionaryReader(part, types) : textReader(part, types);
    for (let row = 0; row < part.length; row++) cells.push(part.getValid(row) ? cellAt(row) : null);
  }
  return cells;
}

function dictionaryReader({ dictionary, values }: Arrow.Data, types: typeof Arrow.DataType): (row: number) => unknown {
  const texts = known.get(dictionary!) ?? textsOf(dictionary!, types);
  known.set(dictionary!, texts);
  return (row) => texts[Number(values[row])];
}

function textReader(part: Arrow.Data, types: typeof Arrow.DataType): (row: number) => unknown {
  const { values, valueOffsets: places } = part;
  if (!types.isUtf8View(part.type)) {
    return (row) => textOfBytes(values.subarray(Number(places[row]), Number(places[row + 1])));
  }
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  return (row) => {
    // A view of 16 bytes: the length, and up to 12 bytes of text, or the buffer and the place where it lies.
    const at = 16 * row;
    const length = view.getInt32(at, true);
    if (length <= 12) return textOfBytes(values.subarray(at + 4, at + 4 + length));
    const buffer = part.variadicBuffers[view.getInt32(at + 8, true)];
    const place = view.getInt32(at + 12, true);
    const isWhole = buffer !== undefined && place >= 0 && place + length <= buffer.length;
    if (!isWhole) throw new Error('a text lies beyond the end of its column');
    return textOfBytes(buffer.subarray(place, place + length));
  };
}
