import type {
  AsyncBuffer,
  ColumnMetaData,
  Compressors,
  DecodedArray,
  PageHeader,
  ParquetParsers,
  SchemaElement,
} from 'hyparquet';
import { checkedPages, type Page } from './check-pages.js';
import { checkRuns } from './check-runs.js';

/** A file, and how its cells are read. */
export interface Reading {
  readonly file: AsyncBuffer;
  readonly root: SchemaElement;
  readonly parsers: ParquetParsers;
  readonly compressors: Compressors;
}

/**
 * The cells of a flat column chunk; null for missing ones. hyparquet decodes its pages one by one, each after it was
 * unpacked and checked.
 *
 * @param rowCount the rows of the row group.
 * @param rowEnd how many of them are read at least.
 * @throws Error for a damaged page, and for more or fewer missing cells than the file tells.
 */
export async function readChunk(
  { file, root, parsers, compressors }: Reading,
  column: SchemaElement,
  chunk: ColumnMetaData,
  rowCount: number,
  rowEnd: number,
): Promise<unknown[]> {
  const { readPage } = await import('hyparquet/src/column.js');
  const { convert } = await import('hyparquet/src/convert.js');
  const { decompressPage } = await import('hyparquet/src/datapage.js');
  const { path_in_schema: pathInSchema, type, codec } = chunk;
  const schemaPath = [root, column].map((element, at) => ({
    element,
    path: pathInSchema.slice(0, at),
    children: [],
    count: 1,
  }));
  // Of pages that are unpacked.
  const decoder = { pathInSchema, element: column, schemaPath, type, parsers, codec: 'UNCOMPRESSED' as const };

  function unpacked({ header, packed }: Page): Uint8Array {
    const { uncompressed_page_size: byteCount, data_page_header_v2: v2 } = header;
    // A copy, beyond whose end nothing is read.
    if (codec === 'UNCOMPRESSED' || v2?.is_compressed === false) return packed.slice();
    if (v2 === undefined) return decompressPage(packed, byteCount, codec, compressors);
    const levelBytes = v2.definition_levels_byte_length + v2.repetition_levels_byte_length;
    const values = decompressPage(packed.subarray(levelBytes), byteCount - levelBytes, codec, compressors);
    const page = new Uint8Array(byteCount);
    page.set(packed.subarray(0, levelBytes));
    page.set(values, levelBytes);
    return page;
  }

  function decoded(page: Page, dictionary: DecodedArray | undefined): DecodedArray {
    const bytes = unpacked(page);
    const header = { ...page.header, compressed_page_size: bytes.length };
    const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), offset: 0 };
    const isDictionary = header.type === 'DICTIONARY_PAGE';
    if (!isDictionary) checkRuns(header, bytes, column);
    const { data = [] } = readPage(reader, header, decoder, dictionary, undefined, 0);
    return isDictionary ? convert(data, decoder) : data;
  }

  const name = pathInSchema.join('.');
  const cells: unknown[] = [];
  let nullCount = 0;
  let dictionary: DecodedArray | undefined;
  const pages = await checkedPages(file, chunk, rowCount);
  for (const page of pages) {
    if (cells.length >= rowEnd) break;
    try {
      const data = decoded(page, dictionary);
      if (page.header.type === 'DICTIONARY_PAGE') dictionary = data;
      else {
        nullCount += nullCountOf(data, page.header);
        for (let i = 0; i < data.length; i++) cells.push(data[i]);
      }
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      throw new Error(`a page of the column ${name} cannot be read: ${error.message}`, { cause: error });
    }
  }
  const told = chunk.statistics?.null_count;
  if (told === undefined || cells.length < rowCount || Number(told) === nullCount) return cells;
  // Polars (1.44) tells the count of a chunk with a dictionary once for each page, in all.
  if (dictionary !== undefined && Number(told) === nullCount * (pages.length - 1)) return cells;
  throw new Error(`the column ${name} has ${nullCount} missing values, but ${told} according to its statistics`);
}

/**
 * Counts the missing cells of a page.
 *
 * @throws Error if the page tells another count, or a cell has no value though its level says so.
 */
function nullCountOf(cells: DecodedArray, { data_page_header: v1, data_page_header_v2: v2 }: PageHeader): number {
  const { num_values: count } = (v1 ?? v2)!;
  if (cells.length !== count) throw new Error(`it has ${cells.length} cells instead of ${count}`);
  let nullCount = 0;
  for (let i = 0; i < count; i++) {
    if (cells[i] === undefined) throw new Error('a value of it is not in the dictionary');
    if (cells[i] === null) nullCount++;
  }
  const told = v2?.num_nulls ?? nullCount;
  if (nullCount !== told) throw new Error(`it has ${nullCount} missing values instead of ${told}`);
  return nullCount;
}
