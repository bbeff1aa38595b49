import { LINE_FEED, QUOTE } from '../bytes.js';
import { CsvError } from '../errors.js';

/** Bytes that tell another kind of file, with what to do about it. */
const KINDS: readonly { readonly magic: readonly number[]; readonly hint: string }[] = [
  { magic: [0x1f, 0x8b], hint: 'it is compressed with gzip; name it .gz, or unpack it first' },
  { magic: [0x50, 0x4b, 0x03, 0x04], hint: 'it is a zip or an Excel file; unpack it, or export it as CSV' },
  { magic: [0x50, 0x41, 0x52, 0x31], hint: 'it is a Parquet file; export it as CSV' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], hint: 'it is compressed with zstd; unpack it first' },
  { magic: [0xff, 0xfe], hint: 'it is UTF-16 text; save it as UTF-8' },
  { magic: [0xfe, 0xff], hint: 'it is UTF-16 text; save it as UTF-8' },
];

/** Bytes before the header that are looked through; a header is shorter. */
export const HEAD_LENGTH_MAX = 4_194_304;

/** Throws where the first bytes of a file are not those of a text. */
export function checkHead(bytes: Uint8Array, file: string): void {
  for (const { magic, hint } of KINDS) {
    if (magic.every((byte, index) => bytes[index] === byte)) {
      throw new CsvError('csv.binary', { file }, `the file is not UTF-8 text: ${hint}`);
    }
  }
  const nul = bytes.indexOf(0);
  if (nul >= 0) {
    const what = `the file is not text: byte ${nul + 1} is NUL`;
    throw new CsvError('csv.binary', { file }, `${what}; expected CSV in UTF-8`);
  }
}

/** Whether the bytes begin with the byte order mark of UTF-8. */
export function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** The place after the line feed that ends the record at `from`, by the parity of its quotes; −1 without one. */
export function headerEnd(bytes: Uint8Array, from: number): number {
  let isQuoted = false;
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) isQuoted = !isQuoted;
    else if (bytes[at] === LINE_FEED && !isQuoted) return at + 1;
  }
  return -1;
}
