import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ByteReader, type ByteWriter, isLittleEndian } from './bytes.js';

// Numbers of several bytes are kept as planes: first the lowest byte of each of them, then the next one. Neighbours
// differ mostly in their low bytes, so the high planes deflate to little, and the low ones need not be tried.

export type Packing = 'plain' | 'deflated';

/** Planes of more entropy than this are kept as they are: deflating them takes time and saves little. */
const BITS_DEFLATED_MAX = 7;
/** Where deflating saves less than this share, reading would pay for it and the disk not gain. */
const SHARE_DEFLATED_MAX = 0.9;

const NONE = new Uint8Array(0);

/**
 * Writes planes of `count` numbers: a bit for each plane that is deflated (these together, behind the length of that),
 * then the others as they are.
 */
export function writePlanes(writer: ByteWriter, planes: Uint8Array, count: number, packing: Packing): void {
  if (planes.length === 0) return;
  if (packing === 'plain') {
    writer.byte(0);
    writer.bytes(planes);
    return;
  }
  const all = Array.from({ length: planes.length / count }, (_, i) => planes.subarray(i * count, (i + 1) * count));
  let mask = 0;
  for (const [i, plane] of all.entries()) if (entropy(plane) < BITS_DEFLATED_MAX) mask |= 1 << i;
  const chosen = Buffer.concat(all.filter((_, i) => isIn(mask, i)));
  const deflated = mask === 0 ? NONE : deflateRawSync(chosen);
  if (deflated.length > SHARE_DEFLATED_MAX * chosen.length) mask = 0;
  writer.byte(mask);
  if (mask !== 0) {
    writer.varint(deflated.length);
    writer.bytes(deflated);
  }
  for (const [i, plane] of all.entries()) if (!isIn(mask, i)) writer.bytes(plane);
}

/** Reads `planeCount` planes of `count` bytes, which are not to be changed. */
export function readPlanes(reader: ByteReader, count: number, planeCount: number): Uint8Array {
  const length = count * planeCount;
  if (length === 0) return NONE;
  const mask = reader.byte();
  if (mask === 0) return reader.bytes(length);
  const inflated = new ByteReader(inflateRawSync(reader.bytes(reader.varint()), { maxOutputLength: length }));
  const planes = new Uint8Array(length);
  for (let i = 0; i < planeCount; i++) planes.set((isIn(mask, i) ? inflated : reader).bytes(count), i * count);
  return planes;
}

function isIn(mask: number, plane: number): boolean {
  return (mask & (1 << plane)) !== 0;
}

/** How many bytes the planes will take, nearly: those of each plane if its bytes are written by their frequency. */
export function estimateBytes(planes: Uint8Array, count: number): number {
  let bits = 0;
  for (let at = 0; at < planes.length; at += count) bits += count * entropy(planes.subarray(at, at + count));
  return bits / 8;
}

const frequencies = new Int32Array(256);

/** Bits a byte, by the frequencies of the bytes (Shannon 1948). */
function entropy(bytes: Uint8Array): number {
  frequencies.fill(0);
  for (let i = 0; i < bytes.length; i++) frequencies[bytes[i]!]!++;
  let sum = 0;
  for (let byte = 0; byte < 256; byte++) {
    const frequency = frequencies[byte]!;
    if (frequency > 1) sum += frequency * Math.log2(frequency);
  }
  return Math.log2(bytes.length) - sum / bytes.length;
}

/** How many bytes the whole numbers 0 to `max` take. */
export function bytesFor(max: number): number {
  let width = 0;
  for (let rest = max; rest >= 1; rest /= 256) width++;
  return width;
}

/** Splits whole numbers `numbers[i] - base`, all from 0 and within the bytes of the planes, into these. */
export function splitWhole(numbers: Float64Array, count: number, base: number, planes: Uint8Array): void {
  for (let from = 0, scale = 1; from < planes.length; from += count, scale /= 256) {
    // A byte takes what is whole of a number, modulo 256.
    for (let i = 0; i < count; i++) planes[from + i] = (numbers[i]! - base) * scale;
  }
}

/** Puts `base +` each whole number of the planes into `target`. All sums on the way are whole, and exact. */
export function joinWhole(planes: Uint8Array, base: number, target: Float64Array): void {
  const count = target.length;
  target.fill(base);
  for (let from = 0, scale = 1; from < planes.length; from += count, scale *= 256) {
    for (let i = 0; i < count; i++) target[i]! += planes[from + i]! * scale;
  }
}

/** Splits doubles, bit for bit, into eight planes. */
export function splitDoubles(numbers: Float64Array, planes: Uint8Array): void {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  for (let plane = 0, at = 0; plane < 8; plane++) {
    for (let byte = byteOf(plane); byte < bytes.length; byte += 8) planes[at++] = bytes[byte]!;
  }
}

/** Puts the doubles of eight planes into `target`. */
export function joinDoubles(planes: Uint8Array, target: Float64Array): void {
  const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
  for (let plane = 0, at = 0; plane < 8; plane++) {
    for (let byte = byteOf(plane); byte < bytes.length; byte += 8) bytes[byte] = planes[at++]!;
  }
}

function byteOf(plane: number): number {
  return isLittleEndian ? plane : 7 - plane;
}
