/**
 * Unpacks an LZ4 frame, in which Arrow compresses its buffers. Its blocks may refer to earlier ones, which readers of
 * single blocks do not support. Checksums are not compared; what leaves the bounds of a block or its output is refused.
 * Source: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md.
 */
export function unpackLz4Frame(packed: Uint8Array): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (view.getUint32(0, true) !== 0x18_4d_22_04) throw new Error('no frame of LZ4');
  const flags = view.getUint8(4);
  const blockBytesMax = 2 ** (8 + 2 * ((view.getUint8(5) >> 4) & 7));
  const checksumBytes = (flags & 16) === 0 ? 0 : 4;
  const firstBlock = 7 + ((flags & 8) === 0 ? 0 : 8) + ((flags & 1) === 0 ? 0 : 4);
  const blocks: { readonly at: number; readonly byteCount: number; readonly isStored: boolean }[] = [];
  for (let at = firstBlock; ; ) {
    const size = view.getUint32(at, true);
    if (size === 0) break;
    const byteCount = size & 0x7fff_ffff;
    blocks.push({ at: at + 4, byteCount, isStored: size >>> 31 === 1 });
    at += 4 + byteCount + checksumBytes;
  }
  const out = new Uint8Array(blocks.length * blockBytesMax);
  let end = 0;
  for (const { at, byteCount, isStored } of blocks) {
    const start = end;
    const block = packed.subarray(at, at + byteCount);
    if (!isStored) end = unpackBlock(block, out, start);
    else {
      out.set(block, start);
      end += byteCount;
    }
    if (end - start > blockBytesMax) throw damaged();
  }
  return out.subarray(0, end);
}

// A block is a list of literals, each but the last followed by a copy of some earlier bytes.
function unpackBlock(block: Uint8Array, out: Uint8Array, start: number): number {
  let to = start;
  let from = 0;
  const lengthOf = (nibble: number): number => {
    let length = nibble;
    if (nibble < 15) return length;
    let more = 255;
    while (more === 255) {
      more = byteAt(block, from++);
      length += more;
    }
    return length;
  };
  for (;;) {
    const token = byteAt(block, from++);
    const literalCount = lengthOf(token >> 4);
    if (from + literalCount > block.length || to + literalCount > out.length) throw damaged();
    out.set(block.subarray(from, from + literalCount), to);
    from += literalCount;
    to += literalCount;
    if (from >= block.length) return to;
    const back = byteAt(block, from) + 256 * byteAt(block, from + 1);
    from += 2;
    const copyEnd = to + lengthOf(token & 15) + 4;
    if (back === 0 || back > to || copyEnd > out.length) throw damaged();
    // Byte by byte, as the copy may overlap its source.
    for (; to < copyEnd; to++) out[to] = out[to - back]!;
  }
}

function damaged(): Error {
  return new Error('a damaged block of LZ4');
}

function byteAt(block: Uint8Array, at: number): number {
  const byte = block[at];
  if (byte === undefined) throw new Error('a block of LZ4 that is cut off');
  return byte;
}
