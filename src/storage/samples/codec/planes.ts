import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ByteReader, ByteWriter } from './bytes.js';

/** `fast` for the log, which is written while a client waits; `small` for segments. */
export type Packing = 'fast' | 'small';

// Numbers of several bytes are kept as planes: first the lowest byte of each of them, then the next one. Neighbours
// differ mostly in their low bytes, so the high planes deflate to little, and the low ones need not be tried.

const COUNT_DEFLATED_MIN = 64;
/** Planes of more entropy than this are kept as they are: deflating them takes time and saves little. */
const BITS_DEFLATED_MAX = 7;
/** Where deflating saves less than this share, reading would pay for it and the disk not gain. */
const SHARE_DEFLATED_MAX = 0.9;

/** Writes planes of `count` numbers, deflated as far as it pays; there is a whole number of planes. */
export function writePacked(writer: ByteWriter, planes: Uint8Array, count: number): void {
  if (planes.length === 0) return;
  const planeCount = planes.length / count;
  let mask = count < COUNT_DEFLATED_MIN ? 0 : deflatable(planes, count, planeCount);
  const [chosen, rest] = partition(planes, count, planeCount, mask);
  const deflated = mask === 0 ? chosen : deflateRawSync(chosen);
  if (deflated.length > SHARE_DEFLATED_MAX * chosen.length) mask = 0;
  writer.byte(mask);
  if (mask === 0) {
    writer.bytes(planes);
    return;
  }
  writer.varint(deflated.length);
  writer.bytes(deflated);
  writer.bytes(rest);
}

/** Makes room for planes that are kept as they are; they begin in the writer's buffer where it says. */
export function reservePlanes(writer: ByteWriter, count: number, planeCount: number): number {
  if (count * planeCount === 0) return writer.length;
  writer.byte(0);
  return writer.reserve(count * planeCount);
}

/** Where planes were found. */
export interface FoundPlanes {
  readonly buffer: Uint8Array;
  readonly at: number;
}

/** Reads `planeCount` planes of `count` bytes, deflated or not. */
export function readPlanes(reader: ByteReader, count: number, planeCount: number): FoundPlanes {
  if (count * planeCount === 0) return { buffer: NONE, at: 0 };
  const mask = reader.byte();
  if (mask === 0) return { buffer: reader.buffer, at: reader.skip(count * planeCount) };
  const packed = reader.bytes(reader.varint());
  const inflated = inflateRawSync(packed, { maxOutputLength: count * planeCount });
  if (mask === 2 ** planeCount - 1) return { buffer: inflated, at: 0 };
  const planes = new Uint8Array(count * planeCount);
  for (let plane = 0, at = 0; plane < planeCount; plane++) {
    const isDeflated = (mask & (1 << plane)) !== 0;
    const bytes = isDeflated ? inflated.subarray(at, at + count) : reader.bytes(count);
    planes.set(bytes, plane * count);
    if (isDeflated) at += count;
  }
  return { buffer: planes, at: 0 };
}

const NONE = new Uint8Array(0);

/** The bits that the planes would take if each byte were written by its frequency alone. */
export function estimateBits(planes: Uint8Array, count: number): number {
  let bits = 0;
  for (let from = 0; from < planes.length; from += count) bits += count * entropy(planes.subarray(from, from + count));
  return bits;
}

function deflatable(planes: Uint8Array, count: number, planeCount: number): number {
  let mask = 0;
  for (let plane = 0; plane < planeCount; plane++) {
    const bits = entropy(planes.subarray(plane * count, (plane + 1) * count));
    if (bits < BITS_DEFLATED_MAX) mask |= 1 << plane;
  }
  return mask;
}

/** Bits a byte, by the frequencies of the bytes (Shannon 1948). */
function entropy(bytes: Uint8Array): number {
  counts.fill(0);
  for (let i = 0; i < bytes.length; i++) counts[bytes[i]!]!++;
  let sum = 0;
  for (let symbol = 0; symbol < 256; symbol++) {
    const count = counts[symbol]!;
    if (count > 1) sum += count * Math.log2(count);
  }
  return Math.log2(bytes.length) - sum / bytes.length;
}

const counts = new Int32Array(256);

/** The planes that the mask names, and the others, each in one piece. */
function partition(
  planes: Uint8Array,
  count: number,
  planeCount: number,
  mask: number,
): readonly [chosen: Uint8Array, rest: Uint8Array] {
  if (mask === 0) return [NONE, planes];
  if (mask === 2 ** planeCount - 1) return [planes, NONE];
  const isChosen = (plane: number): boolean => (mask & (1 << plane)) !== 0;
  const numbers = Array.from({ length: planeCount }, (_, plane) => plane);
  const join = (some: readonly number[]): Uint8Array => {
    const joined = new Uint8Array(some.length * count);
    some.forEach((plane, i) => {
      joined.set(planes.subarray(plane * count, (plane + 1) * count), i * count);
    });
    return joined;
  };
  return [join(numbers.filter(isChosen)), join(numbers.filter((plane) => !isChosen(plane)))];
}
