import { CARRIAGE_RETURN, LINE_FEED, QUOTE } from '../bytes.js';

/** The place of the separator or line end after a field that nobody reads; −1 where the field has a quote. */
export function skipField(bytes: Uint8Array, from: number, separator: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    if (byte === separator || byte === LINE_FEED || byte === CARRIAGE_RETURN) return at;
    if (byte === QUOTE) return -1;
    at++;
  }
}
