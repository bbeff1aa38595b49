import { decode, type Encoding } from './encoding.js';

/** The bytes that a CSV reader looks for. */
export const TAB = 0x09;
export const LINE_FEED = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const POINT = 0x2e;
export const DIGIT_0 = 0x30;
export const SEMICOLON = 0x3b;
export const UPPER_T = 0x54;
export const UPPER_Z = 0x5a;

// Below this length a loop over ASCII is faster than the call of a decoder.
const SHORT_LENGTH = 48;

/** The text of `bytes[from..to)`; undefined if it is not text in this encoding, or contains a NUL. */
export function decodeText(bytes: Uint8Array, from: number, to: number, encoding: Encoding): string | undefined {
  if (to - from <= SHORT_LENGTH) {
    let text = '';
    let at = from;
    for (; at < to; at++) {
      const byte = bytes[at]!;
      if (byte === 0 || byte >= 0x80) break;
      text += String.fromCharCode(byte);
    }
    if (at === to) return text;
  }
  const text = decode(bytes.subarray(from, to), encoding);
  return text?.includes('\0') ? undefined : text;
}

/** Like `decodeText`, for messages: invalid bytes become replacement characters. */
export function showText(bytes: Uint8Array, from: number, to: number, encoding: Encoding): string {
  return decodeText(bytes, from, to, encoding) ?? new TextDecoder(encoding).decode(bytes.subarray(from, to));
}

/** The index of the separator or line end after a field that nobody reads; −1 if the field contains a quote. */
export function skipField(bytes: Uint8Array, from: number, separator: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    if (byte === separator || byte === LINE_FEED || byte === CARRIAGE_RETURN) return at;
    if (byte === QUOTE) return -1;
    at++;
  }
}

/** Whether the bytes at a place are those wanted. */
export function hasBytes(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}
