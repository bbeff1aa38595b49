import type { AsyncBuffer, ColumnMetaData } from 'hyparquet';

// Room for the header of the first page, whose statistics writers keep short.
const HEAD_BYTES = 65_536;

/**
 * Compares the pages of a column chunk with their checksums, which hyparquet does not read. Whoever writes checksums
 * writes them from the first page on; of other chunks only the head is read.
 *
 * @throws Error for a page that differs from its checksum.
 */
export async function checkPages(file: AsyncBuffer, chunk: ColumnMetaData): Promise<void> {
  const { parquetHeader } = await import('hyparquet/src/column.js');
  const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
  const end = start + Number(chunk.total_compressed_size);
  const head = { view: new DataView(await file.slice(start, Math.min(end, start + HEAD_BYTES))), offset: 0 };
  if (parquetHeader(head).crc === undefined) return;
  const bytes = await file.slice(start, end);
  const reader = { view: new DataView(bytes), offset: 0 };
  // As hyparquet does, which takes a last byte for padding.
  while (reader.offset < bytes.byteLength - 1) {
    const { crc, compressed_page_size: byteCount } = parquetHeader(reader);
    const page = new Uint8Array(bytes, reader.offset, byteCount);
    if (crc !== undefined && crc32(page) !== crc) {
      throw new Error(`a page of the column ${chunk.path_in_schema.join('.')} does not match its checksum`);
    }
    reader.offset += byteCount;
  }
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
