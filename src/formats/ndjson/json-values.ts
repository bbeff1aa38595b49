import { WindrowError } from '../../core/errors.js';
import { COMMA, LINE_FEED, QUOTE, SPACE } from '../csv/bytes.js';
import type { FormatSource } from '../format.js';
import { joinedBytes } from '../joined-bytes.js';
import { LINE_LENGTH_MAX, type LineRange, LineScan, TOO_LONG } from '../lines.js';

/** Some values of a file. */
export interface JsonPart {
  readonly bytes: Uint8Array;
  readonly values: readonly LineRange[];
}

/** The JSON values of a text in UTF-8, some at a time: one in each line, or the elements of one array. */
export async function* jsonValues(source: FormatSource): AsyncGenerator<JsonPart> {
  let scan: Scan | undefined;
  // What no value has been found in yet.
  let rest: Uint8Array = new Uint8Array();
  for await (const block of source.blocks()) {
    // Bytes of its own, as those of a block are valid until the next one.
    const bytes = joinedBytes([rest, block]);
    const known = scan === undefined ? 0 : rest.length;
    scan ??= scanFor(bytes);
    yield { bytes, values: scan?.take(bytes, known, source.name) ?? [] };
    rest = bytes.subarray(scan?.restFrom ?? 0);
    if (rest.length > LINE_LENGTH_MAX) throw fault(source.name, scan?.startLine ?? 1, TOO_LONG);
  }
  yield { bytes: rest, values: scan?.end(rest, source.name) ?? [] };
}

interface Scan {
  /** Where the value begins that is not whole yet, after `take`, and on which line. */
  readonly restFrom: number;
  readonly startLine: number;
  /** The values that end within the bytes, of which the first `known` were taken before. */
  take(bytes: Uint8Array, known: number, fileName: string): LineRange[];
  /** What is left at the end of the file. */
  end(rest: Uint8Array, fileName: string): readonly LineRange[];
}

const BACKSLASH = 0x5c;
const OPENING_ARRAY = 0x5b;
/** Of `{` and `[`, and of `}` and `]`, which differ in one bit. */
const OPENING = 0x7b;
const CLOSING = 0x7d;
const CLOSING_ARRAY = 0x5d;
const BRACKET_BIT = 0x20;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** White space of this length is not the start of an array. */
const HEAD_LENGTH = 65_536;

/** The scan for a file that begins with these bytes; undefined if they are blank, and few. */
function scanFor(bytes: Uint8Array): Scan | undefined {
  const first = bytes.find((byte) => byte > SPACE && !BYTE_ORDER_MARK.includes(byte));
  if (first === undefined && bytes.length < HEAD_LENGTH) return undefined;
  return first === OPENING_ARRAY ? new ArrayScan() : new LineScan();
}

/** The elements of an array; whether these are JSON is left to who parses them. It has to end with the file. */
class ArrayScan implements Scan {
  restFrom = 0;
  startLine = 1;
  #line = 1;
  /** 1 between the elements. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isOver = false;
  /** How many elements have ended. */
  #count = 0;

  take(bytes: Uint8Array, known: number, fileName: string): LineRange[] {
    const found: LineRange[] = [];
    let from = 0;
    // In a variable, which is faster than a field.
    let depth = this.#depth;
    for (let at = this.#isInString ? this.#skipString(bytes, known) : known; at < bytes.length; at++) {
      const byte = bytes[at]!;
      const bracket = byte | BRACKET_BIT;
      if (byte === LINE_FEED) this.#line++;
      else if (byte <= SPACE) continue;
      else if (this.#isOver) throw fault(fileName, this.#line, 'expected nothing after the array');
      else if (byte === QUOTE) at = this.#skipString(bytes, at + 1) - 1;
      else if (bracket === OPENING) {
        // The first element begins after the bracket of the array.
        if (depth++ > 0) continue;
        from = at + 1;
        this.startLine = this.#line;
      } else if (byte === COMMA ? depth === 1 : bracket === CLOSING && --depth === 0) {
        this.#isOver = depth === 0;
        if (this.#isOver && byte !== CLOSING_ARRAY) throw fault(fileName, this.#line, 'expected `]` after the array');
        const element = elementOf(bytes, from, at, this.startLine);
        const isEmpty = element.from === at;
        const isAlone = this.#isOver && this.#count === 0;
        if (isEmpty && !isAlone)
          throw fault(fileName, this.#line, `expected a value ${this.#isOver ? 'after' : 'before'} the comma`);
        if (!isEmpty) found.push(element);
        this.#count++;
        from = at + 1;
        this.startLine = this.#line;
      }
    }
    this.#depth = depth;
    this.restFrom = from;
    return found;
  }

  end(_: Uint8Array, fileName: string): readonly LineRange[] {
    if (!this.#isOver) throw fault(fileName, this.#line, 'the array does not end; is the file cut off?');
    return [];
  }

  /** The place after the quote that ends a string, from within it; the length if the string goes on. */
  #skipString(bytes: Uint8Array, from: number): number {
    let at = from;
    if (this.#isEscaped) at++;
    for (; at < bytes.length && bytes[at] !== QUOTE; at++) {
      if (bytes[at] === BACKSLASH) at++;
      else if (bytes[at] === LINE_FEED) this.#line++;
    }
    // An escape may be cut in two.
    this.#isEscaped = at > bytes.length;
    this.#isInString = at >= bytes.length;
    return Math.min(at + 1, bytes.length);
  }
}

function elementOf(bytes: Uint8Array, begin: number, until: number, beginLine: number): LineRange {
  let [from, line] = [begin, beginLine];
  for (; from < until && bytes[from]! <= SPACE; from++) if (bytes[from] === LINE_FEED) line++;
  return { from, until, line };
}

function fault(fileName: string, line: number, problem: string): WindrowError {
  return new WindrowError('file.format', `${fileName}, line ${line}: ${problem}`);
}
