import { exponentOf, isWholeOf, powerOf } from './decimals.js';

/**
 * A column whose numbers take as many bytes each, so that any of them is found without the others: whole numbers over
 * a power of ten, as what each is above the least. Packing and unpacking are one pass of few instructions; the log,
 * which is written while a client waits and read soon, wants that more than the fewest bytes.
 */
export interface FixedColumn {
  /** Bytes of each number; `DOUBLE_BYTES` for doubles as they are. */
  readonly width: number;
  /** Each number is a whole one over ten to this. */
  readonly exponent: number;
  readonly least: number;
}

const DOUBLE_BYTES = 8;
const WIDTH_MAX = 6;
const DOUBLES: FixedColumn = Object.freeze({ width: DOUBLE_BYTES, exponent: 0, least: 0 });
/** Times of whole seconds are tried first, as times are mostly. */
const EXPONENT_MIN = -3;
const TWO_TO_32 = 2 ** 32;

// A call runs to its end before another starts, so all of them use the same columns.
let whole = new Float64Array(1024);
const double = new Float64Array(1);
const doubleWords = new Uint32Array(double.buffer);
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1;

/** How the numbers of a column are packed with the fewest bytes. `packFixed` of the same column is to come next. */
export function measureFixed(column: Float64Array): FixedColumn {
  if (whole.length < column.length) whole = new Float64Array(2 * column.length);
  for (let exponent = EXPONENT_MIN; ; ) {
    const misfit = fillWhole(column, exponent);
    if (misfit < 0) return measureWhole(column.length, exponent);
    exponent = exponent < 0 ? 0 : exponentOf(column[misfit]!, exponent + 1);
    if (exponent === Infinity) return DOUBLES;
  }
}

/** @returns the place of the first number that is no such whole one; -1 where there is none. */
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
  let width = 0;
  for (let rest = most - least; rest >= 1; rest /= 256) width++;
  return width > WIDTH_MAX ? DOUBLES : { width, exponent, least: count === 0 ? 0 : least };
}

/** Writes the numbers of the column that was measured last, little-endian, from `at` on. */
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
    // Of a double the operators take what is whole, modulo 2^32.
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

/** Reads the numbers from the `first` on, until `target` is full, of a column that begins at `at`. */
export function unpackFixed(column: FixedColumn, bytes: Uint8Array, at: number, first: number, target: Float64Array) {
  const { width, exponent, least } = column;
  if (at + width * (first + target.length) > bytes.length) {
    throw new RangeError('stored samples are damaged: they end too early');
  }
  const power = powerOf(exponent);
  let from = at + width * first;
  for (let i = 0; i < target.length; i++) {
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
