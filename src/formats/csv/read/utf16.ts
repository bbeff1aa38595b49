/** Converts UTF-16, in which some spreadsheets save text, to UTF-8. */
export class Utf16 {
  readonly #decoder: InstanceType<typeof TextDecoder>;
  readonly #encoder = new TextEncoder();

  private constructor(label: 'utf-16le' | 'utf-16be') {
    this.#decoder = new TextDecoder(label);
  }

  /** Recognises UTF-16 by the byte order mark at the start of a file; undefined without one. */
  static of(bytes: Uint8Array): Utf16 | undefined {
    if (bytes[0] === 0xff && bytes[1] === 0xfe) return new Utf16('utf-16le');
    return bytes[0] === 0xfe && bytes[1] === 0xff ? new Utf16('utf-16be') : undefined;
  }

  decode(bytes: Uint8Array): Uint8Array {
    return this.#encoder.encode(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The rest at the end of the file. */
  end(): Uint8Array {
    return this.#encoder.encode(this.#decoder.decode());
  }
}
