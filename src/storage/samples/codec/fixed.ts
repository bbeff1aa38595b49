import { exponentOf, isWholeOf, powerOf } from './decimals.js';
import { bytesFor } from './planes.js';

/**
 * A column with the same number of bytes for each number, so that any is found without the others: whole numbers over
 * a power of ten, as offsets from the least. Packing and unpacking are one cheap pass: the log is written while a
 * client waits and read soon after, so speed matters more than size.
 */
export interface FixedColumn {
  /** Bytes per number; `DOUBLE_BYTES` for unpacked doubles. */
  readonly width: number;
  /** Each number is a whole number over ten to this power. */
  readonly exponent: number;
  readonly least: number;
}

const DOUBLE_BYTES = 8;
const WIDTH_MAX = 6;
const DOUBLES: FixedColumn = Object.freeze({ width: DOUBLE_BYTES, exponent: 0, least: 0 });
/** Whole seconds are tried first, as most times are. */
const EXPONENT_MIN = -3;
const TWO_TO_32 = 2 ** 32;

// Shared by all calls, which are synchronous.
let whole = new Float64Array(1024);
const double = new Float64Array(1);
const doubleWords = new Uint32Array(double.buffer);
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1;

/** Finds the smallest form for a column. The next call must be `packFixed` for the same column. */
export function measureFixed(column: Float64Array): FixedColumn {
  if (whole.length < column.length) whole = new Float64Array(2 * column.length);
  for (let exponent = EXPONENT_MIN; ; ) {
    const misfit = fillWhole(column, exponent);
    if (misfit < 0) return measureWhole(column.length, exponent);
    exponent = exponent < 0 ? 0 : exponentOf(column[misfit]!, exponent + 1);
    if (exponent === Infinity) return DOUBLES;
  }
}

/** @returns the index of the first number that is not whole at this exponent; -1 if there is none. */
function fillWhole(column: Float64Array, exponent: number): number {
  const power = powerOf(exponent);
  for (let i = 0; i < column.length; i++) {
    const value = column[i]!;
    const number = exponent < 0 ? Math.round(value / power) : Math.round(value * power);
    if (exponent < 0 ? number * power !== value || Object.is(value, -0) : !isWholeOf(value, power, number)) return i;
    whole[i] = number;
  }
  return -1;
}

function measureWhole(count: number, exponent: number): FixedColumn {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < count; i++) {
    const number = whole[i]!;
    if (number < least) least = number;
    if (number > most) most = number;
  }
  const width = bytesFor(most - least);
  return width > WIDTH_MAX ? DOUBLES : { width, exponent, least: count === 0 ? 0 : least };
}

/** Writes the column that was measured last, little-endian, starting at `at`. */
export function packFixed(column: Float64Array, { width, least }: FixedColumn, bytes: Uint8Array, at: number): void {
  let to = at;
  if (width === DOUBLE_BYTES) {
    for (let i = 0; i < column.length; i++) {
      double[0] = column[i]!;
      to = writeWords(bytes, to, DOUBLE_BYTES, doubleWords[LOW]!, doubleWords[1 - LOW]!);
    }
    return;
  }
  const isLow = width <= 4;
  for (let i = 0; i < column.length; i++) {
    const above = whole[i]! - least;
    // Bitwise operators use the integer part modulo 2^32.
    to = writeWords(bytes, to, width, above >>> 0, isLow ? 0 : above / TWO_TO_32);
  }
}

function writeWords(bytes: Uint8Array, at: number, width: number, low: number, high: number): number {
  let rest = low;
  for (let i = 0; i < width; i++) {
    if (i === 4) rest = high;
    bytes[at + i] = rest;
    rest >>>= 8;
  }
  return at + width;
}

/**
 * Fills `target`, from `start` to `end`, with the numbers from index `first` of a column that starts at `at`. Most
 * changes have one sample, and a view of the target would cost more than it.
 */
export function unpackFixed(
  column: FixedColumn,
  bytes: Uint8Array,
  at: number,
  first: number,
  target: Float64Array,
  start = 0,
  end = target.length,
): void {
  const { width, exponent, least } = column;
  if (at + width * (first + end - start) > bytes.length) {
    throw new RangeError('stored samples are damaged: they end too early');
  }
  const power = powerOf(exponent);
  let from = at + width * first;
  for (let i = start; i < end; i++) {
    let [low, high] = [0, 0];
    for (let byte = Math.min(width, 4) - 1; byte >= 0; byte--) low = (low << 8) | bytes[from + byte]!;
    for (let byte = width - 1; byte >= 4; byte--) high = (high << 8) | bytes[from + byte]!;
    from += width;
    if (width === DOUBLE_BYTES) {
      doubleWords[LOW] = low;
      doubleWords[1 - LOW] = high;
      target[i] = double[0]!;
      continue;
    }
    const number = least + (low >>> 0) + high * TWO_TO_32;
    target[i] = exponent < 0 ? number * power : number / power;
  }
}
