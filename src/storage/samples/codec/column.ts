import type { ByteReader, ByteWriter } from './bytes.js';
import { findMostWhole, findWhole, type Misfits, POWERS } from './decimals.js';
import { estimateBits, type Packing, readPlanes, reservePlanes, writePacked } from './planes.js';
import { bytesFor, joinDoubles, joinWhole, splitDoubles, splitWhole } from './whole-planes.js';

/**
 * A column of doubles as bytes, and back bit for bit. The first byte is the version of the form (high half) and the
 * form (low half); how many numbers there are is known from elsewhere. Times and values take the same way: times of a
 * constant step are differences that take no byte at all.
 */
const VERSION = 1;
/** Eight planes of the doubles' bytes. */
const RAW = 0;
/** One double, for all. */
const CONSTANT = 1;
/** Exponent of ten, width, least whole number (double), planes of what each is above it. */
const OFFSETS = 2;
/** Exponent of ten, width, first whole number, least difference, planes of what each difference is above it. */
const DIFFERENCES = 3;

/** Added to the last two: values that are no whole numbers follow, as distances of places (varint) and doubles. */
const HAS_MISFITS = 4;
/** Numbers of more bytes may owe them to a few values of many digits. */
const WIDTH_USUAL = 4;

/** Of fewer numbers the frequencies of bytes say little. */
const COUNT_ESTIMATED_MIN = 64;

export function writeColumn(writer: ByteWriter, column: Float64Array, packing: Packing): void {
  const count = column.length;
  if (count === 0) return;
  if (isConstant(column)) {
    writer.byte(VERSION * 16 + CONSTANT);
    writer.double(column[0]!);
    return;
  }
  const whole = scratch(0, count);
  const exponent = findWhole(column, whole);
  const all = exponent < 0 ? undefined : chooseForm(whole, count, packing);
  if (all !== undefined && all.width <= WIDTH_USUAL) {
    writeWhole(writer, all, exponent, packing, false);
    return;
  }
  const misfits = findMostWhole(column, whole);
  const most = misfits === undefined ? undefined : chooseForm(whole, count, packing);
  if (misfits !== undefined && most !== undefined && isWorthIt(most, misfits, all)) {
    writeWhole(writer, most, misfits.exponent, packing, true);
    writeMisfits(writer, column, misfits.places);
  } else if (all !== undefined) {
    findWhole(column, whole);
    writeWhole(writer, chooseForm(whole, count, packing), exponent, packing, false);
  } else {
    writeRaw(writer, column, packing);
  }
}

const MISFIT_BYTES = 10;

function isWorthIt(most: WholeForm, { places }: Misfits, all: WholeForm | undefined): boolean {
  const width = all?.width ?? 8;
  return most.width * most.count + MISFIT_BYTES * places.length < width * most.count;
}

function writeMisfits(writer: ByteWriter, column: Float64Array, places: readonly number[]): void {
  writer.varint(places.length);
  let before = 0;
  for (const place of places) {
    writer.varint(place - before);
    writer.double(column[place]!);
    before = place;
  }
}

function readMisfits(reader: ByteReader, target: Float64Array, at: number): void {
  let place = at;
  for (let left = reader.varint(); left > 0; left--) {
    place += reader.varint();
    target[place] = reader.double();
  }
}

function writeRaw(writer: ByteWriter, column: Float64Array, packing: Packing): void {
  const count = column.length;
  writer.byte(VERSION * 16 + RAW);
  if (packing === 'fast') {
    const at = reservePlanes(writer, count, 8);
    splitDoubles(column, writer.buffer, at);
  } else {
    const planes = planeScratch(8 * count);
    splitDoubles(column, planes, 0);
    writePacked(writer, planes, count);
  }
}

/** Whole numbers, as they are or as differences, and what they take. */
interface WholeForm {
  readonly form: typeof OFFSETS | typeof DIFFERENCES;
  readonly first: number;
  readonly numbers: Float64Array;
  readonly count: number;
  readonly least: number;
  readonly width: number;
}

function chooseForm(whole: Float64Array, count: number, packing: Packing): WholeForm {
  const differences = scratch(1, count);
  for (let i = 1; i < count; i++) differences[i - 1] = whole[i]! - whole[i - 1]!;
  const offset = measure(OFFSETS, whole, count, whole[0]!);
  const steps = measure(DIFFERENCES, differences, count - 1, whole[0]!);
  if (packing === 'fast' || count < COUNT_ESTIMATED_MIN) {
    return steps.width * (count - 1) + 8 < offset.width * count ? steps : offset;
  }
  return packedBits(steps) + 64 < packedBits(offset) ? steps : offset;
}

function measure(form: WholeForm['form'], numbers: Float64Array, count: number, first: number): WholeForm {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < count; i++) {
    const number = numbers[i]!;
    if (number < least) least = number;
    if (number > most) most = number;
  }
  return { form, first, numbers, count, least, width: bytesFor(most - least) };
}

function packedBits({ numbers, count, least, width }: WholeForm): number {
  const planes = planeScratch(width * count);
  splitWhole(numbers, count, least, width, planes, 0);
  return estimateBits(planes, count);
}

function writeWhole(
  writer: ByteWriter,
  chosen: WholeForm,
  exponent: number,
  packing: Packing,
  hasMisfits: boolean,
): void {
  const { form, first, numbers, count, least, width } = chosen;
  writer.byte(VERSION * 16 + form + (hasMisfits ? HAS_MISFITS : 0));
  writer.byte(exponent);
  writer.byte(width);
  if (form === DIFFERENCES) writer.double(first);
  writer.double(least);
  if (packing === 'fast') {
    const at = reservePlanes(writer, count, width);
    splitWhole(numbers, count, least, width, writer.buffer, at);
  } else {
    const planes = planeScratch(width * count);
    splitWhole(numbers, count, least, width, planes, 0);
    writePacked(writer, planes, count);
  }
}

/** Reads a column of `count` numbers into `target`, from `at` on. */
export function readColumn(reader: ByteReader, target: Float64Array, at: number, count: number): void {
  if (count === 0) return;
  const head = reader.byte();
  if (head >> 4 !== VERSION) {
    throw new RangeError(`stored samples are damaged, or of a later version: form ${head} of a column`);
  }
  switch (head & 15) {
    case RAW: {
      const planes = readPlanes(reader, count, 8);
      joinDoubles(planes.buffer, planes.at, count, target, at);
      return;
    }
    case CONSTANT:
      target.fill(reader.double(), at, at + count);
      return;
    case OFFSETS:
      readOffsets(reader, target, at, count);
      return;
    case DIFFERENCES:
      readDifferences(reader, target, at, count);
      return;
    case OFFSETS + HAS_MISFITS:
      readOffsets(reader, target, at, count);
      readMisfits(reader, target, at);
      return;
    case DIFFERENCES + HAS_MISFITS:
      readDifferences(reader, target, at, count);
      readMisfits(reader, target, at);
      return;
    default:
      throw new RangeError(`stored samples are damaged: form ${head} of a column`);
  }
}

function readOffsets(reader: ByteReader, target: Float64Array, at: number, count: number): void {
  const power = POWERS[reader.byte()]!;
  const width = reader.byte();
  const least = reader.double();
  const planes = readPlanes(reader, count, width);
  joinWhole(planes.buffer, planes.at, count, least, width, target, at);
  if (power === 1) return;
  for (let i = at; i < at + count; i++) target[i] = target[i]! / power;
}

function readDifferences(reader: ByteReader, target: Float64Array, at: number, count: number): void {
  const power = POWERS[reader.byte()]!;
  const width = reader.byte();
  let whole = reader.double();
  const leastStep = reader.double();
  const planes = readPlanes(reader, count - 1, width);
  // Behind its first place, each difference to be replaced by the sum up to it.
  joinWhole(planes.buffer, planes.at, count - 1, leastStep, width, target, at + 1);
  target[at] = whole / power;
  for (let i = at + 1; i < at + count; i++) {
    whole += target[i]!;
    target[i] = whole / power;
  }
}

function isConstant(column: Float64Array): boolean {
  const first = column[0]!;
  for (let i = 1; i < column.length; i++) if (!Object.is(column[i], first)) return false;
  return true;
}

// A call runs to its end before another starts, so all of them use the same columns.
const columns = [new Float64Array(0), new Float64Array(0)];
let planeRoom = new Uint8Array(0);

function scratch(index: 0 | 1, count: number): Float64Array {
  if (columns[index]!.length < count) columns[index] = new Float64Array(2 * count);
  return columns[index]!;
}

function planeScratch(length: number): Uint8Array {
  if (planeRoom.length < length) planeRoom = new Uint8Array(2 * length);
  return planeRoom.subarray(0, length);
}
