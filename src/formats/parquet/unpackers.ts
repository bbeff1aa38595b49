import type { Compressors } from 'hyparquet';
import { joinedBytes } from '../joined-bytes.js';
import { openZstd } from '../zstd.js';
import { crc32 } from './crc32.js';

/** How pages are unpacked, by the name of their compression. Checksums are compared where a page has any. */
export async function openUnpackers(): Promise<Compressors> {
  const { compressors } = await import('hyparquet-compressors');
  const unpackZstd = await openZstd();
  // Its LZ4 cannot unpack nothing, such as the dictionary of a column of nulls.
  const lz4 = (name: 'LZ4' | 'LZ4_RAW') => (packed: Uint8Array, byteCount: number) =>
    byteCount === 0 ? new Uint8Array() : compressors[name]!(packed, byteCount);
  return {
    ...compressors,
    LZ4: lz4('LZ4'),
    LZ4_RAW: lz4('LZ4_RAW'),
    GZIP: (packed, byteCount) => checkedGzip(packed, compressors.GZIP!(packed, byteCount)),
    ZSTD: (packed) => joinedBytes([...unpackZstd(packed)]),
  };
}

/** A page that was unpacked from gzip members, compared with the length and the checksum of the last. */
function checkedGzip(packed: Uint8Array, page: Uint8Array): Uint8Array {
  // Some writers leave out the head and end of gzip.
  const isGzip = packed[0] === 31 && packed[1] === 139;
  if (!isGzip) return page;
  const end = new DataView(packed.buffer, packed.byteOffset + packed.length - 8, 8);
  const lastBytes = end.getUint32(4, true);
  const isWhole = lastBytes <= page.length && crc32(page.subarray(page.length - lastBytes)) === end.getInt32(0, true);
  if (!isWhole) throw new Error('its content does not match its checksum, so it is damaged');
  return page;
}
