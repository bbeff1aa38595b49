// Files packed with zstd, where Node cannot unpack them itself (before 22.15). The library that does it there looks at
// no checksum, so that a flipped bit would be read as other data: here each frame is held against its own.
// Source: RFC 8878, Zstandard Compression.

const MAGIC = 0xfd2fb528;
/** The last four bits are free: frames that hold something else, and are skipped. */
const SKIPPABLE = 0x184d2a50;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const CHECKSUM_BYTES = 4;
const RLE = 1;

/** Where a frame ends, and the least 32 bits of the XXH64 of its content, if it has them. */
interface Frame {
  readonly end: number;
  readonly isSkipped: boolean;
  readonly checksum: number | undefined;
}

/**
 * Loads what unpacks a file, frame by frame. It throws an Error for bytes that are no frame, for a frame that is cut
 * off, and for one whose content has another checksum.
 */
export async function openZstd(): Promise<(packed: Uint8Array) => Generator<Uint8Array>> {
  const { decompressZstd } = await import('hyparquet-compressors');
  const { xxhash64 } = await import('hyparquet/src/xxhash.js');
  return function* unpack(packed) {
    const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
    for (let start = 0; start < packed.length; ) {
      const { end, isSkipped, checksum } = frameAt(view, start);
      if (!isSkipped) {
        const content = decompressZstd(packed.subarray(start, end));
        if (checksum !== undefined && Number(xxhash64(content) & 0xffffffffn) !== checksum) {
          throw new Error('its content does not match its checksum, so it is damaged');
        }
        yield content;
      }
      start = end;
    }
  };
}

function frameAt(view: DataView, start: number): Frame {
  try {
    const magic = view.getUint32(start, true);
    const isSkipped = magic >= SKIPPABLE && magic <= SKIPPABLE + 15;
    if (!isSkipped && magic !== MAGIC) throw new Error(start === 0 ? 'it does not begin as one' : 'other bytes follow');
    const frame = isSkipped
      ? { end: start + 8 + view.getUint32(start + 4, true), isSkipped, checksum: undefined }
      : measure(view, start);
    if (frame.end > view.byteLength) throw new RangeError();
    return frame;
  } catch (error) {
    throw error instanceof RangeError ? new Error('its last frame is cut off') : error;
  }
}

function measure(view: DataView, start: number): Frame {
  const described = view.getUint8(start + 4);
  const isSingle = (described & 32) !== 0;
  const sizeBytes = described >> 6 === 0 ? Number(isSingle) : 1 << (described >> 6);
  let at = start + 5 + (isSingle ? 0 : 1) + DICTIONARY_BYTES[described & 3]! + sizeBytes;
  for (let isLast = false; !isLast; ) {
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const kind = (header >> 1) & 3;
    isLast = (header & 1) === 1;
    at += 3 + (kind === RLE ? 1 : header >> 3);
    if (kind > 2) throw new Error('it has a block of an unknown kind');
  }
  const hasChecksum = (described & 4) !== 0;
  const checksum = hasChecksum ? view.getUint32(at, true) : undefined;
  return { end: at + (hasChecksum ? CHECKSUM_BYTES : 0), isSkipped: false, checksum };
}
