import type { ByteReader, ByteWriter } from './bytes.js';
import { findDecimals, POWERS } from './decimals.js';
import {
  bytesFor,
  estimateBytes,
  joinDoubles,
  joinWhole,
  type Packing,
  readPlanes,
  splitDoubles,
  splitWhole,
  writePlanes,
} from './planes.js';

/**
 * Encodes a column of doubles, losslessly. The first byte has the version (high half) and the form (low half); the
 * reader knows the count from elsewhere. Times and values share the forms: times at a constant step are differences
 * that take no bytes at all.
 */
const VERSION = 2;
/** The doubles' bytes in eight planes. */
const RAW = 0;
/** One double for the whole column. */
const CONSTANT = 1;
/** Power of ten, width, least whole number (double), planes of the offsets from it, misfits. */
const OFFSETS = 2;
/** Power of ten, width, least difference, first whole number, planes of the differences above the least, misfits. */
const DIFFERENCES = 3;

/** With fewer numbers, byte frequencies predict little. */
const COUNT_DEFLATED_MIN = 64;

export function writeColumn(writer: ByteWriter, column: Float64Array): void {
  const count = column.length;
  if (count === 0) return;
  const packing = count < COUNT_DEFLATED_MIN ? 'plain' : 'deflated';
  if (isConstant(column)) {
    writer.byte(VERSION * 16 + CONSTANT);
    writer.double(column[0]!);
    return;
  }
  const whole = scratch(0, count);
  const decimals = findDecimals(column, whole);
  if (decimals === undefined) {
    writer.byte(VERSION * 16 + RAW);
    const planes = planeScratch(8 * count);
    splitDoubles(column, planes);
    writePlanes(writer, planes, count, packing);
    return;
  }
  writeWhole(writer, whole, count, decimals.exponent, packing);
  writeMisfits(writer, column, decimals.misfits);
}

function isConstant(column: Float64Array): boolean {
  const first = column[0]!;
  for (let i = 1; i < column.length; i++) if (!Object.is(column[i], first)) return false;
  return true;
}

/** Writes whole numbers, as offsets or as differences, whichever is smaller. */
function writeWhole(writer: ByteWriter, whole: Float64Array, count: number, exponent: number, packing: Packing): void {
  const differences = scratch(1, count);
  for (let i = 1; i < count; i++) differences[i - 1] = whole[i]! - whole[i - 1]!;
  const offsets = aboveLeast(whole, count);
  const steps = aboveLeast(differences, count - 1);
  const isStepwise = sizeOf(steps, packing) + 8 < sizeOf(offsets, packing);
  const chosen = isStepwise ? steps : offsets;
  writer.byte(VERSION * 16 + (isStepwise ? DIFFERENCES : OFFSETS));
  writer.byte(exponent);
  writer.byte(chosen.width);
  writer.double(chosen.least);
  if (isStepwise) writer.double(whole[0]!);
  writePlanes(writer, planesOf(chosen), chosen.count, packing);
}

/** Whole numbers as offsets from the least. */
interface AboveLeast {
  readonly numbers: Float64Array;
  readonly count: number;
  readonly least: number;
  /** Bytes per offset. */
  readonly width: number;
}

function aboveLeast(numbers: Float64Array, count: number): AboveLeast {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < count; i++) {
    const number = numbers[i]!;
    if (number < least) least = number;
    if (number > most) most = number;
  }
  return { numbers, count, least, width: bytesFor(most - least) };
}

function sizeOf(numbers: AboveLeast, packing: Packing): number {
  return packing === 'plain' ? numbers.width * numbers.count : estimateBytes(planesOf(numbers), numbers.count);
}

/** The planes, in a shared buffer that is valid until the next call. */
function planesOf({ numbers, count, least, width }: AboveLeast): Uint8Array {
  const planes = planeScratch(width * count);
  splitWhole(numbers, count, least, planes);
  return planes;
}

/** Writes the count, then the distance from the one before and the double of each. */
function writeMisfits(writer: ByteWriter, column: Float64Array, misfits: readonly number[]): void {
  writer.varint(misfits.length);
  let before = 0;
  for (const place of misfits) {
    writer.varint(place - before);
    writer.double(column[place]!);
    before = place;
  }
}

/** Reads `count` numbers into `column`, starting at `at`. */
export function readColumn(reader: ByteReader, column: Float64Array, at: number, count: number): void {
  if (count === 0) return;
  const target = column.subarray(at, at + count);
  const head = reader.byte();
  switch (head - VERSION * 16) {
    case RAW:
      joinDoubles(readPlanes(reader, count, 8), target);
      return;
    case CONSTANT:
      target.fill(reader.double());
      return;
    case OFFSETS:
      readWhole(reader, target, false);
      return;
    case DIFFERENCES:
      readWhole(reader, target, true);
      return;
    default:
      throw new RangeError(`stored samples are damaged, or of a later version: form ${head} of a column`);
  }
}

function readWhole(reader: ByteReader, target: Float64Array, isStepwise: boolean): void {
  const power = POWERS[reader.byte()]!;
  const width = reader.byte();
  const least = reader.double();
  if (isStepwise) target[0] = reader.double();
  const above = isStepwise ? target.subarray(1) : target;
  joinWhole(readPlanes(reader, above.length, width), least, above);
  let whole = 0;
  for (let i = 0; i < target.length; i++) {
    whole = isStepwise ? whole + target[i]! : target[i]!;
    target[i] = whole / power;
  }
  let place = 0;
  for (let left = reader.varint(); left > 0; left--) {
    place += reader.varint();
    target[place] = reader.double();
  }
}

// Shared by all calls, which are synchronous.
const columns = [new Float64Array(0), new Float64Array(0)];
let planeBuffer = new Uint8Array(0);

function scratch(index: 0 | 1, count: number): Float64Array {
  if (columns[index]!.length < count) columns[index] = new Float64Array(2 * count);
  return columns[index]!;
}

function planeScratch(length: number): Uint8Array {
  if (planeBuffer.length < length) planeBuffer = new Uint8Array(2 * length);
  return planeBuffer.subarray(0, length);
}
