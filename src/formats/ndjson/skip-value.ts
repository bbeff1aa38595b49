import { CARRIAGE_RETURN, COMMA, DIGIT_0, hasBytes, LINE_FEED, MINUS, POINT, QUOTE, SPACE, TAB } from '../csv/bytes.js';

// JSON as nearly all is written, passed over in bytes. Each function returns where the value ends, or −1 where it is
// not usual: then JSON.parse tells whether it is valid.

const [BACKSLASH, COLON, OPENING, CLOSING, NOT_ASCII] = [0x5c, 0x3a, 0x7b, 0x7d, 0x80];
const [OPENING_ARRAY, CLOSING_ARRAY, PLUS, LOWER_E, LOWER_BIT] = [0x5b, 0x5d, 0x2b, 0x65, 0x20];
const DEPTH_MAX = 16;
/** Each key is compared with all before it. */
const KEYS_MAX = 16;

const encoder = new TextEncoder();
export const [NULL, TRUE, FALSE] = [encoder.encode('null'), encoder.encode('true'), encoder.encode('false')];
const LITERALS = [NULL, TRUE, FALSE];
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Whether a byte begins an object or an array. */
export function isNested(byte: number): boolean {
  return byte === OPENING || byte === OPENING_ARRAY;
}

/** Passes over any value. An object that has a key twice is not usual. */
export function skipValue(bytes: Uint8Array, from: number, depth = 0): number {
  const byte = bytes[from]!;
  if (byte === QUOTE) return skipText(bytes, from);
  if (isNested(byte)) return depth < DEPTH_MAX ? skipNested(bytes, from, depth) : -1;
  const literal = LITERALS.find((one) => hasBytes(bytes, from, one));
  return literal === undefined ? skipNumber(bytes, from) : from + literal.length;
}

function skipNested(bytes: Uint8Array, from: number, depth: number): number {
  const isObject = bytes[from] === OPENING;
  const closing = isObject ? CLOSING : CLOSING_ARRAY;
  const keys: Uint8Array[] = [];
  let at = skipSpace(bytes, from + 1);
  if (bytes[at] === closing) return at + 1;
  for (;;) {
    if (isObject) {
      const end = skipText(bytes, at);
      const key = bytes.subarray(at, end);
      if (end < 0 || keys.length === KEYS_MAX || keys.some((one) => isSame(one, key))) return -1;
      keys.push(key);
      at = skipSpace(bytes, end);
      if (bytes[at] !== COLON) return -1;
      at = skipSpace(bytes, at + 1);
    }
    const end = skipValue(bytes, at, depth + 1);
    if (end < 0) return -1;
    at = skipSpace(bytes, end);
    if (bytes[at] === closing) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at = skipSpace(bytes, at + 1);
  }
}

/** Passes over a text without escapes. */
export function skipText(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== QUOTE) return -1;
  let isAscii = true;
  let at = from + 1;
  for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[++at]) {
    if (byte === undefined || byte < SPACE || byte === BACKSLASH) return -1;
    isAscii &&= byte < NOT_ASCII;
  }
  return isAscii || isUtf8(bytes.subarray(from + 1, at)) ? at + 1 : -1;
}

function skipNumber(bytes: Uint8Array, from: number): number {
  const start = bytes[from] === MINUS ? from + 1 : from;
  let at = skipDigits(bytes, start);
  if (at === start || (bytes[start] === DIGIT_0 && at > start + 1)) return -1;
  if (bytes[at] === POINT) {
    const end = skipDigits(bytes, at + 1);
    if (end === at + 1) return -1;
    at = end;
  }
  if ((bytes[at]! | LOWER_BIT) !== LOWER_E) return at;
  const isSigned = bytes[at + 1] === PLUS || bytes[at + 1] === MINUS;
  const exponent = isSigned ? at + 2 : at + 1;
  const end = skipDigits(bytes, exponent);
  return end === exponent ? -1 : end;
}

function skipDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at]!)) at++;
  return at;
}

export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== TAB && byte !== LINE_FEED && byte !== CARRIAGE_RETURN) return at;
    at++;
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && hasBytes(a, 0, b);
}

export function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_0 + 9;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
