import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ByteReader, type ByteWriter, isLittleEndian } from './bytes.js';

// Numbers of several bytes are stored as planes: the lowest byte of each number, then the next one, and so on.
// Neighbours differ mostly in their low bytes, so the high planes compress well, and the low ones need not be tried.

export type Packing = 'plain' | 'deflated';

/** Planes with a higher entropy are stored as they are: compressing them takes time and saves little. */
const BITS_DEFLATED_MAX = 7;
/** If compression saves less than this, it costs readers time without a gain on disk. */
const SHARE_DEFLATED_MAX = 0.9;

const NONE = new Uint8Array(0);

/**
 * Writes planes of `count` numbers: a bit mask of the compressed planes, these together with their length, then the
 * others.
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

/** Reads `planeCount` planes of `count` bytes, which must not be changed. */
export function readPlanes(reader: ByteReader, count: number, planeCount: number): Uint8Array {
  const length = count * planeCount;
  if (length === 0) return NONE;
  const mask = reader.byte();
  if (mask === 0) return reader.bytes(length);
  const inflated = new ByteReader(inflate(reader.bytes(reader.varint()), length));
  const planes = new Uint8Array(length);
  for (let i = 0; i < planeCount; i++) planes.set((isIn(mask, i) ? inflated : reader).bytes(count), i * count);
  return planes;
}

function inflate(deflated: Uint8Array, maxOutputLength: number): Uint8Array {
  try {
    return inflateRawSync(deflated, { maxOutputLength });
  } catch (cause) {
    throw new RangeError('stored samples are damaged: they cannot be decompressed', { cause });
  }
}

function isIn(mask: number, plane: number): boolean {
  return (mask & (1 << plane)) !== 0;
}

/** Estimates the size of the planes from the byte frequencies of each. */
export function estimateBytes(planes: Uint8Array, count: number): number {
  let bits = 0;
  for (let at = 0; at < planes.length; at += count) bits += count * entropy(planes.subarray(at, at + count));
  return bits / 8;
}

const frequencies = new Int32Array(256);

/** Bits per byte, from the byte frequencies (Shannon 1948). */
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

/** How many bytes whole numbers from 0 to `max` take. */
export function bytesFor(max: number): number {
  let width = 0;
  for (let rest = max; rest >= 1; rest /= 256) width++;
  return width;
}

/** Splits the whole numbers `numbers[i] - base`, which must be non-negative and fit, into planes. */
export function splitWhole(numbers: Float64Array, count: number, base: number, planes: Uint8Array): void {
  for (let from = 0, scale = 1; from < planes.length; from += count, scale /= 256) {
    // Storing into a byte keeps the integer part modulo 256.
    for (let i = 0; i < count; i++) planes[from + i] = (numbers[i]! - base) * scale;
  }
}

/** Adds `base` to each whole number of the planes, into `target`. All partial sums are whole and exact. */
export function joinWhole(planes: Uint8Array, base: number, target: Float64Array): void {
  const count = target.length;
  target.fill(base);
  for (let from = 0, scale = 1; from < planes.length; from += count, scale *= 256) {
    for (let i = 0; i < count; i++) target[i]! += planes[from + i]! * scale;
  }
}

/** Splits doubles into eight planes, losslessly. */
export function splitDoubles(numbers: Float64Array, planes: Uint8Array): void {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  for (let plane = 0, at = 0; plane < 8; plane++) {
    for (let byte = byteOf(plane); byte < bytes.length; byte += 8) planes[at++] = bytes[byte]!;
  }
}

/** Joins eight planes of doubles into `target`. */
export function joinDoubles(planes: Uint8Array, target: Float64Array): void {
  const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
  for (let plane = 0, at = 0; plane < 8; plane++) {
    for (let byte = byteOf(plane); byte < bytes.length; byte += 8) bytes[byte] = planes[at++]!;
  }
}

function byteOf(plane: number): number {
  return isLittleEndian ? plane : 7 - plane;
}
