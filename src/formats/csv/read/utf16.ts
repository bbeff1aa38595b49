import type { Encoding } from '../encoding.js';

/** The length of the longest byte order mark, that of UTF-8. */
export const MARK_BYTES_MAX = 3;

/** Converts UTF-16, in which some spreadsheets save text, to UTF-8. */
export class Utf16 {
  readonly #decoder: InstanceType<typeof TextDecoder>;
  readonly #encoder = new TextEncoder();

  private constructor(label: 'utf-16le' | 'utf-16be') {
    this.#decoder = new TextDecoder(label);
  }

  /** Recognises UTF-16 by the byte order mark at the start of a file, or by what the caller says of it. */
  static of(bytes: Uint8Array, said: Encoding | undefined): Utf16 | undefined {
    if (bytes[0] === 0xff && bytes[1] === 0xfe) return new Utf16('utf-16le');
    if (bytes[0] === 0xfe && bytes[1] === 0xff) return new Utf16('utf-16be');
    if ((said !== 'utf-16le' && said !== 'utf-16be') || bytes.length < MARK_BYTES_MAX) return undefined;
    const isUtf8 = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    return isUtf8 ? undefined : new Utf16(said);
  }

  decode(bytes: Uint8Array): Uint8Array {
    return this.#encoder.encode(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The rest at the end of the file. */
  end(): Uint8Array {
    return this.#encoder.encode(this.#decoder.decode());
  }
}
