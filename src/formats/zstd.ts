// Finds the frames of zstd files, and decompresses them in the page and on Node before 22.15, which cannot do it
// itself. The library used there ignores checksums, so a flipped bit would go unnoticed: this compares each frame with
// its checksum. Source: RFC 8878, Zstandard Compression.

const MAGIC = 0xfd2fb528;
/** The magic number of frames to skip, whose last four bits may be anything. */
const SKIPPABLE = 0x184d2a50;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const CHECKSUM_BYTES = 4;
const RLE = 1;

/** Where a frame lies, and its checksum if it has one: the low 32 bits of its content's XXH64. */
interface Frame {
  readonly start: number;
  readonly end: number;
  readonly isSkipped: boolean;
  readonly checksum: number | undefined;
}

/** The bytes at a position. Throws a RangeError if there are not that many. */
export type BytesAt = (position: number, count: number) => DataView;

/**
 * Loads a function that decompresses a file frame by frame. It throws an Error for bytes that are not a frame, for a
 * truncated frame, and for a wrong checksum.
 */
export async function openZstd(): Promise<(packed: Uint8Array) => Generator<Uint8Array>> {
  const { decompressZstd } = await import('hyparquet-compressors');
  const { xxhash64 } = await import('hyparquet/src/xxhash.js');
  return function* unpack(packed) {
    const bytesAt: BytesAt = (position, count) => new DataView(packed.buffer, packed.byteOffset + position, count);
    for (const { start, end, checksum } of framesOf(bytesAt, packed.length)) {
      const content = decompressZstd(packed.subarray(start, end));
      if (checksum !== undefined && Number(xxhash64(content) & 0xffffffffn) !== checksum) {
        throw new Error('its content does not match its checksum, so it is damaged');
      }
      yield content;
    }
  };
}

/** The frames of a file that have content. Throws an Error for bytes that are not a frame, and for a truncated one. */
export function* framesOf(bytesAt: BytesAt, sizeBytes: number): Generator<Frame> {
  for (let start = 0; start < sizeBytes; ) {
    const frame = frameAt(bytesAt, start, sizeBytes);
    if (!frame.isSkipped) yield frame;
    start = frame.end;
  }
}

function frameAt(bytesAt: BytesAt, start: number, sizeBytes: number): Frame {
  try {
    const magic = bytesAt(start, 4).getUint32(0, true);
    const isSkipped = magic >= SKIPPABLE && magic <= SKIPPABLE + 15;
    if (!isSkipped && magic !== MAGIC) throw new Error(start === 0 ? 'it does not begin as one' : 'other bytes follow');
    const frame = isSkipped
      ? { start, end: start + 8 + bytesAt(start + 4, 4).getUint32(0, true), isSkipped, checksum: undefined }
      : measure(bytesAt, start);
    if (frame.end > sizeBytes) throw new RangeError();
    return frame;
  } catch (error) {
    throw error instanceof RangeError ? new Error('its last frame is cut off') : error;
  }
}

function measure(bytesAt: BytesAt, start: number): Frame {
  const described = bytesAt(start + 4, 1).getUint8(0);
  const isSingle = (described & 32) !== 0;
  const sizeBytes = described >> 6 === 0 ? Number(isSingle) : 1 << (described >> 6);
  let at = start + 5 + (isSingle ? 0 : 1) + DICTIONARY_BYTES[described & 3]! + sizeBytes;
  for (let isLast = false; !isLast; ) {
    const block = bytesAt(at, 3);
    const header = block.getUint16(0, true) | (block.getUint8(2) << 16);
    const kind = (header >> 1) & 3;
    isLast = (header & 1) === 1;
    at += 3 + (kind === RLE ? 1 : header >> 3);
    if (kind > 2) throw new Error('it has a block of an unknown kind');
  }
  const hasChecksum = (described & 4) !== 0;
  const checksum = hasChecksum ? bytesAt(at, 4).getUint32(0, true) : undefined;
  return { start, end: at + (hasChecksum ? CHECKSUM_BYTES : 0), isSkipped: false, checksum };
}
