import { isLittleEndian } from './bytes.js';

// Loops between numbers and their byte planes, which begin in a buffer at `at`. All is decided outside; they know
// their bounds from the caller.

const LOW = 2 ** 32;

/** How many bytes the whole numbers 0 to `max` take. */
export function bytesFor(max: number): number {
  let width = 0;
  for (let rest = max; rest >= 1; rest /= 256) width++;
  return width;
}

/** Splits whole numbers `numbers[i] - base`, all from 0 and within `width` bytes, into planes. */
export function splitWhole(
  numbers: Float64Array,
  count: number,
  base: number,
  width: number,
  buffer: Uint8Array,
  at: number,
): void {
  if (width > 4) {
    splitLong(numbers, count, base, width, buffer, at);
    return;
  }
  for (let plane = 0; plane < width; plane++) {
    const from = at + plane * count;
    const shift = 8 * plane;
    for (let i = 0; i < count; i++) buffer[from + i] = (numbers[i]! - base) >>> shift;
  }
}

function splitLong(
  numbers: Float64Array,
  count: number,
  base: number,
  width: number,
  buffer: Uint8Array,
  at: number,
): void {
  for (let i = 0; i < count; i++) {
    const number = numbers[i]! - base;
    const high = Math.floor(number / LOW);
    const low = number - high * LOW;
    for (let plane = 0; plane < 4; plane++) buffer[at + plane * count + i] = low >>> (8 * plane);
    for (let plane = 4; plane < width; plane++) buffer[at + plane * count + i] = high >>> (8 * (plane - 4));
  }
}

/** Puts `base +` each whole number of the planes into `target`, from `targetAt` on. */
export function joinWhole(
  buffer: Uint8Array,
  at: number,
  count: number,
  base: number,
  width: number,
  target: Float64Array,
  targetAt: number,
): void {
  switch (width) {
    case 0:
      target.fill(base, targetAt, targetAt + count);
      return;
    case 1:
      for (let i = 0; i < count; i++) target[targetAt + i] = base + buffer[at + i]!;
      return;
    case 2:
      for (let i = 0; i < count; i++) target[targetAt + i] = base + (buffer[at + i]! | (buffer[at + count + i]! << 8));
      return;
    default:
      joinLong(buffer, at, count, base, width, target, targetAt);
  }
}

function joinLong(
  buffer: Uint8Array,
  at: number,
  count: number,
  base: number,
  width: number,
  target: Float64Array,
  targetAt: number,
): void {
  for (let i = 0; i < count; i++) {
    const first = at + i;
    let low = buffer[first]! | (buffer[first + count]! << 8) | (buffer[first + 2 * count]! << 16);
    if (width > 3) low |= buffer[first + 3 * count]! << 24;
    let high = 0;
    for (let plane = 4; plane < width; plane++) high |= buffer[first + plane * count]! << (8 * (plane - 4));
    target[targetAt + i] = base + (high * LOW + (low >>> 0));
  }
}

/** Splits doubles, bit for bit, into eight planes. */
export function splitDoubles(numbers: Float64Array, buffer: Uint8Array, at: number): void {
  const count = numbers.length;
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  for (let plane = 0; plane < 8; plane++) {
    const from = at + plane * count;
    for (let i = 0, byte = byteOf(plane); i < count; i++, byte += 8) buffer[from + i] = bytes[byte]!;
  }
}

/** Puts `count` doubles of eight planes into `target`, from `targetAt` on. */
export function joinDoubles(
  buffer: Uint8Array,
  at: number,
  count: number,
  target: Float64Array,
  targetAt: number,
): void {
  const bytes = new Uint8Array(target.buffer, target.byteOffset + 8 * targetAt, 8 * count);
  for (let plane = 0; plane < 8; plane++) {
    const from = at + plane * count;
    for (let i = 0, byte = byteOf(plane); i < count; i++, byte += 8) bytes[byte] = buffer[from + i]!;
  }
}

function byteOf(plane: number): number {
  return isLittleEndian ? plane : 7 - plane;
}
