import type { AsyncBuffer, ColumnMetaData, PageHeader } from 'hyparquet';
import { crc32 } from './crc32.js';

/** A page of a column chunk, as it lies in the file. */
export interface Page {
  readonly header: PageHeader;
  readonly packed: Uint8Array;
}

/**
 * The pages of a flat column chunk, checked before hyparquet reads them: that their heads are possible, that they lie
 * in the chunk, that they have a value for each row, and that they match their checksums, where whoever wrote them
 * wrote any. hyparquet checks none of it: it takes memory for as many values as the head of a page tells.
 *
 * @param rowCount the rows of the row group.
 * @throws Error for a page that does not fit or differs from its checksum.
 */
export async function checkedPages(file: AsyncBuffer, chunk: ColumnMetaData, rowCount: number): Promise<Page[]> {
  const { parquetHeader } = await import('hyparquet/src/column.js');
  const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
  const bytes = await file.slice(start, start + Number(chunk.total_compressed_size));
  const reader = { view: new DataView(bytes), offset: 0 };
  const fault = (text: string): Error => new Error(`a page of the column ${chunk.path_in_schema.join('.')} ${text}`);
  const pages: Page[] = [];
  let values = 0;
  // Some writers pad a chunk with a byte.
  while (values < rowCount && reader.offset < bytes.byteLength - 1) {
    const header = parquetHeader(reader);
    const { crc, compressed_page_size: byteCount } = header;
    if (!isPossible(header)) throw fault('has a head that no page has, so the file is damaged');
    if (reader.offset + byteCount > bytes.byteLength) throw fault('does not fit into it, so the file is damaged');
    const packed = new Uint8Array(bytes, reader.offset, byteCount);
    if (crc !== undefined && crc32(packed) !== crc) throw fault('does not match its checksum');
    const { num_values: inPage = 0, encoding } = header.data_page_header ?? header.data_page_header_v2 ?? {};
    const hasDictionary = pages[0]?.header.type === 'DICTIONARY_PAGE';
    // hyparquet would take the places of values in the dictionary for the values.
    if (!hasDictionary && encoding?.endsWith('_DICTIONARY')) throw fault('needs a dictionary, and there is none');
    // hyparquet makes a value of a page without any.
    if (inPage > 0 || header.type === 'DICTIONARY_PAGE') pages.push({ header, packed });
    values += inPage;
    reader.offset += byteCount;
  }
  if (values === rowCount) return pages;
  throw new Error(`the column ${chunk.path_in_schema.join('.')} has ${values} values in ${rowCount} rows`);
}

/** Whether the head of a page has the fields that its type requires, with counts that a page may have. */
function isPossible(header: PageHeader): boolean {
  const { compressed_page_size: byteCount, uncompressed_page_size: unpackedBytes } = header;
  const { data_page_header: data, data_page_header_v2: data2, dictionary_page_header: dictionary } = header;
  if (![byteCount, unpackedBytes].every(isCount)) return false;
  const heads = [data, data2, dictionary].filter((head) => head !== undefined);
  if (heads.length !== 1) return false;
  if (header.type === 'DATA_PAGE') return isCount(data?.num_values);
  // A value of a dictionary takes a byte at least.
  const inDictionary = dictionary?.num_values;
  if (header.type === 'DICTIONARY_PAGE') return isCount(inDictionary) && inDictionary <= unpackedBytes;
  if (header.type !== 'DATA_PAGE_V2' || data2 === undefined) return false;
  const { num_values: values, num_nulls: nulls, num_rows: rows } = data2;
  const levels = [data2.definition_levels_byte_length, data2.repetition_levels_byte_length];
  if (![values, nulls, rows, ...levels].every(isCount) || nulls > values) return false;
  return levels[0]! + levels[1]! <= Math.min(byteCount, unpackedBytes);
}

function isCount(number: number | undefined): number is number {
  return Number.isInteger(number) && number! >= 0;
}
