import type { AsyncBuffer, ColumnMetaData } from 'hyparquet';

/**
 * Checks the pages of a flat column chunk before hyparquet reads them: that they lie in the chunk, that they have a
 * value for each row, and that they match their checksums, where whoever wrote them wrote any. hyparquet checks
 * neither, and takes memory for as many values as the head of a page tells.
 *
 * @param rowCount the rows of the row group.
 * @throws Error for a page that does not fit or differs from its checksum.
 */
export async function checkPages(file: AsyncBuffer, chunk: ColumnMetaData, rowCount: number): Promise<void> {
  const { parquetHeader } = await import('hyparquet/src/column.js');
  const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
  const bytes = await file.slice(start, start + Number(chunk.total_compressed_size));
  const reader = { view: new DataView(bytes), offset: 0 };
  const fault = (text: string): Error => new Error(`a page of the column ${chunk.path_in_schema.join('.')} ${text}`);
  let values = 0;
  // As hyparquet does, which takes a last byte for padding.
  while (values < rowCount && reader.offset < bytes.byteLength - 1) {
    const header = parquetHeader(reader);
    const { crc, compressed_page_size: byteCount, uncompressed_page_size: unpackedBytes } = header;
    const end = reader.offset + byteCount;
    const inDictionary = header.dictionary_page_header?.num_values ?? 0;
    const inPage = header.data_page_header?.num_values ?? header.data_page_header_v2?.num_values ?? 0;
    // A value of a dictionary takes a byte at least.
    const isFit = byteCount >= 0 && end <= bytes.byteLength && inPage >= 0 && inDictionary <= unpackedBytes;
    if (!isFit) throw fault('does not fit into it, so the file is damaged');
    if (crc !== undefined && crc32(new Uint8Array(bytes, reader.offset, byteCount)) !== crc) {
      throw fault('does not match its checksum');
    }
    values += inPage;
    reader.offset = end;
  }
  if (values === rowCount) return;
  throw new Error(`the column ${chunk.path_in_schema.join('.')} has ${values} values in ${rowCount} rows`);
}

const POLYNOMIAL = 0xedb88320;

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ POLYNOMIAL;
  return rest;
});

/** The CRC32 of gzip (RFC 1952), as a signed integer. Browsers have none. */
function crc32(bytes: Uint8Array): number {
  let rest = -1;
  for (let i = 0; i < bytes.length; i++) rest = table[(rest ^ bytes[i]!) & 255]! ^ (rest >>> 8);
  return ~rest;
}
