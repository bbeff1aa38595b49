// Doubles are copied through this eight-byte buffer: rows are short and many, and a DataView for each costs more than
// the copy. The stored order is little-endian on every machine.
const double = new Float64Array(1);
const doubleBytes = new Uint8Array(double.buffer);

// `ignoreBOM`: a byte order mark at the start belongs to the text.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Whether the machine is little-endian. */
export const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Writes bytes one after the other into a buffer that grows. */
export class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(byteCount = 1024) {
    this.#bytes = new Uint8Array(byteCount);
  }

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  byte(value: number): void {
    const at = this.#reserve(1);
    this.#bytes[at] = value;
  }

  double(value: number): void {
    const at = this.#reserve(8);
    double[0] = value;
    for (let i = 0; i < 8; i++) this.#bytes[at + i] = doubleBytes[isLittleEndian ? i : 7 - i]!;
  }

  /** A whole number from 0 to 2^32 - 1. */
  uint32(value: number): void {
    for (let shift = 0; shift < 32; shift += 8) this.byte((value >>> shift) & 0xff);
  }

  /** A whole number from 0 to 2^53 - 1, seven bits per byte, low bits first. */
  varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) + 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  text(value: string): void {
    const encoded = new TextEncoder().encode(value);
    this.varint(encoded.length);
    this.bytes(encoded);
  }

  bytes(value: Uint8Array): void {
    const at = this.#reserve(value.length);
    this.#bytes.set(value, at);
  }

  /** A view of what was written, valid until the next write. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** A copy of what was written. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Makes room for `count` bytes. @returns where they start. */
  #reserve(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    return at;
  }
}

/** Reads what a ByteWriter wrote. If the bytes end too early, they are damaged. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, from = 0) {
    this.#bytes = bytes;
    this.#at = from;
  }

  /** Where the next read starts. */
  get at(): number {
    return this.#at;
  }

  byte(): number {
    return this.#bytes[this.#skip(1)]!;
  }

  double(): number {
    const at = this.#skip(8);
    for (let i = 0; i < 8; i++) doubleBytes[isLittleEndian ? i : 7 - i] = this.#bytes[at + i]!;
    return double[0]!;
  }

  uint32(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 32; scale *= 0x100) value += this.byte() * scale;
    return value;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    return utf8.decode(this.bytes(this.varint()));
  }

  /** A view of the next bytes, which must not be changed. */
  bytes(count: number): Uint8Array {
    const at = this.#skip(count);
    return this.#bytes.subarray(at, at + count);
  }

  #skip(count: number): number {
    const at = this.#at;
    this.#at += count;
    if (this.#at > this.#bytes.length) throw new RangeError('stored samples are damaged: they end too early');
    return at;
  }
}
