// Levels and places in a dictionary are written in runs: so many times one number, or eight numbers a group. hyparquet
// repeats a number as often as a run tells, so that a changed bit may take all memory.
// Source: https://parquet.apache.org/docs/file-format/data-pages/encodings/.

import type { PageHeader, SchemaElement } from 'hyparquet';

/**
 * Checks that the runs of a page hold no more numbers than the page has values.
 *
 * @param bytes the page, unpacked.
 * @throws Error for a run that is too long or cut off.
 */
export function checkRuns(header: PageHeader, bytes: Uint8Array, column: SchemaElement): void {
  const { data_page_header: v1, data_page_header_v2: v2 } = header;
  const { num_values: count, encoding } = (v1 ?? v2)!;
  const isOptional = column.repetition_type !== 'REQUIRED';
  let rest = bytes;
  if (v2 !== undefined) {
    const levelsAt = v2.repetition_levels_byte_length;
    const valuesAt = levelsAt + v2.definition_levels_byte_length;
    if (isOptional) checkRun(bytes.subarray(levelsAt, valuesAt), 1, count);
    rest = bytes.subarray(valuesAt);
  } else if (isOptional) rest = checkSized(bytes, count);
  if (encoding === 'RLE') {
    // hyparquet would take the places of values in a dictionary for the values.
    if (column.type !== 'BOOLEAN') throw damaged();
    checkSized(rest, count);
  }
  if (encoding.endsWith('_DICTIONARY') && rest.length > 0) checkRun(rest.subarray(1), rest[0]!, count);
}

/** Checks runs of single bits that follow their length, and returns what follows them. */
function checkSized(bytes: Uint8Array, count: number): Uint8Array {
  if (bytes.length < 4) throw damaged();
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (end > bytes.length) throw damaged();
  checkRun(bytes.subarray(4, end), 1, count);
  return bytes.subarray(end);
}

/** The groups that a writer may append to a run to fill it up. */
const SPARE_GROUPS = 64;

function checkRun(bytes: Uint8Array, bitCount: number, count: number): void {
  if (bitCount > 32) throw damaged();
  for (let at = 0, seen = 0; seen < count && at < bytes.length; ) {
    let head = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || scale > 2 ** 28) throw damaged();
      head += (byte & 127) * scale;
      if (byte < 128) break;
    }
    const length = Math.floor(head / 2);
    const areGroups = head % 2 === 1;
    seen += areGroups ? 8 * length : length;
    at += areGroups ? length * bitCount : Math.ceil(bitCount / 8);
    if (seen > count + (areGroups ? 8 * SPARE_GROUPS : 0)) throw damaged();
  }
}

function damaged(): Error {
  return new Error('a run in it is damaged');
}
