import { WindrowError } from '../../core/errors.js';
import type { FormatSource } from '../format.js';
import { checkLength, decodedBlocks, type TextLine, textLines } from '../lines.js';

/**
 * The JSON values of a text, some at a time, with the lines on which they begin: one in each line, or the elements of
 * one array.
 */
export async function* jsonValues(source: FormatSource): AsyncGenerator<readonly TextLine[]> {
  const blocks = source.blocks()[Symbol.asyncIterator]();
  let head = new Uint8Array();
  let first: number | undefined;
  while (first === undefined && head.length < HEAD_LENGTH) {
    const next = await blocks.next();
    if (next.done) break;
    head = joined(head, next.value);
    first = head.find((byte) => byte > SPACE && !BYTE_ORDER_MARK.includes(byte));
  }
  const whole = { ...source, blocks: () => withHead(head, blocks) };
  yield* first === OPENING_ARRAY ? elements(whole) : textLines(whole);
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}

async function* withHead(head: Uint8Array, others: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield head;
    for (let next = await others.next(); !next.done; next = await others.next()) yield next.value;
  } finally {
    await others.return?.();
  }
}

/** The elements of an array, which may go over several lines. The array has to end with the file. */
async function* elements(source: FormatSource): AsyncGenerator<readonly TextLine[]> {
  const scan = new ArrayScan();
  // The element so far, and the line on which it begins.
  let begun = '';
  let begunLine = 1;
  for await (const text of decodedBlocks(source, () => scan.line)) {
    const found: TextLine[] = [];
    let from = 0;
    for (let at = scan.next(text, 0); at < text.length; at = scan.next(text, from)) {
      if (scan.place === 'after') throw fault(source, scan.line, 'expected nothing after the array');
      if (scan.place !== 'start') found.push(elementOf(begun + text.slice(from, at), begunLine));
      begun = '';
      begunLine = scan.line;
      from = at + 1;
    }
    yield found;
    begun += text.slice(from);
    checkLength(begun, source.name, begunLine);
  }
  if (scan.place !== 'end') throw fault(source, scan.line, 'the array does not end; is the file cut off?');
}

function elementOf(text: string, line: number): TextLine {
  const trimmed = text.trimStart();
  const blanks = text.slice(0, text.length - trimmed.length);
  return { text: trimmed.trimEnd(), number: line + blanks.split('\n').length - 1 };
}

function fault({ name }: FormatSource, line: number, problem: string): WindrowError {
  return new WindrowError('file.format', `${name}, line ${line}: ${problem}`);
}

/** White space of this length is not the start of an array. */
const HEAD_LENGTH = 65_536;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const OPENING_ARRAY = 0x5b;
const LINE_FEED = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** Of `{` and `[`, and of `}` and `]`, which differ in one bit. */
const OPENING = 0x7b;
const CLOSING = 0x7d;
const BRACKET_BIT = 0x20;

/** Finds the ends of the elements of an array; whether these are JSON is left to who parses them. */
class ArrayScan {
  /** Where the last character was that `next` found: the array's start or end, after an element, or after the array. */
  place: 'before' | 'start' | 'between' | 'end' | 'after' = 'before';
  line = 1;
  /** 1 between the elements. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** The place, from `from` on, of the next character that begins or ends something; the length if there is none. */
  next(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      if (this.#isInString) at = this.#skipString(text, at);
      const code = text.charCodeAt(at);
      const bracket = code | BRACKET_BIT;
      if (code <= SPACE) {
        if (code === LINE_FEED) this.line++;
      } else if (this.place === 'end') {
        this.place = 'after';
        return at;
      } else if (code === QUOTE) this.#isInString = true;
      else if (bracket === OPENING) {
        if (++this.#depth === 1) return this.#found('start', at);
      } else if (bracket === CLOSING) {
        if (--this.#depth === 0) return this.#found('end', at);
      } else if (code === COMMA && this.#depth === 1) return this.#found('between', at);
    }
    return text.length;
  }

  #found(place: 'start' | 'between' | 'end', at: number): number {
    this.place = place;
    return at;
  }

  /** The place after the quote that ends a string; the length if the string goes on. */
  #skipString(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === LINE_FEED) this.line++;
      else if (code === QUOTE) {
        this.#isInString = false;
        return at + 1;
      }
    }
    return text.length;
  }
}
