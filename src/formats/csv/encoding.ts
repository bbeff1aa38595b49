import { CsvError } from './errors.js';

/** How the text of a file may be encoded. A byte order mark counts more than what the caller says. */
export const encodings = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'shift_jis',
  'gb18030',
  'big5',
  'euc-kr',
] as const;
export type Encoding = (typeof encodings)[number];

/**
 * The encoding that a name stands for in the Encoding Standard of the WHATWG, and so in browsers: `latin1`, `cp1252`
 * and `iso-8859-1` are Windows-1252. Undefined for any other.
 */
export function encodingOf(name: string): Encoding | undefined {
  try {
    const { encoding } = new TextDecoder(name);
    // GB18030 has all that GBK has.
    return encodings.find((one) => one === (encoding === 'gbk' ? 'gb18030' : encoding));
  } catch {
    return undefined;
  }
}

/** The code pages of Western Europe, Central Europe and Cyrillic. */
const CODE_PAGES = ['windows-1252', 'windows-1250', 'windows-1251'] as const;

const decoders = new Map<Encoding, InstanceType<typeof TextDecoder>>();

/** The text of bytes; undefined if they are not text in this encoding. */
export function decode(bytes: Uint8Array, encoding: Encoding): string | undefined {
  let decoder = decoders.get(encoding);
  if (decoder === undefined) {
    decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
    decoders.set(encoding, decoder);
  }
  try {
    const text = decoder.decode(bytes);
    return encoding === 'windows-1252' ? text.replace(/[\x80-\x9f]/g, windowsCharacter) : text;
  } catch {
    return undefined;
  }
}

// Node 20 reads Windows-1252 as Latin-1 (nodejs/node#56542), which has control characters where this has letters.
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

function windowsCharacter(character: string): string {
  return WINDOWS_1252[character.charCodeAt(0) - 0x80]!;
}

export function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 0x80);
}

/**
 * The encoding of the start of a file; undefined for ASCII, which leaves it open, and for text that may be in several.
 * Bytes that are not UTF-8 are Windows-1252 if the code pages of Western and Central Europe agree about them, as they
 * do about ä, é, ß and °. Three such bytes in a row are rather a word in another script.
 */
export function tellEncoding(bytes: Uint8Array): Encoding | undefined {
  if (isAscii(bytes)) return undefined;
  // The bytes may end within a character.
  const text = new TextDecoder('utf-8').decode(bytes, { stream: true });
  if (!text.includes('\ufffd') || /[^\0-\x7f\ufffd]/.test(text)) return 'utf-8';
  const [western, central] = CODE_PAGES.map((encoding) => decode(bytes, encoding));
  if (western === undefined || CONTROL.test(western) || /[^\0-\x7f]{3}/.test(western)) return undefined;
  return withoutPowers(western) === withoutPowers(central) ? 'windows-1252' : undefined;
}

/** Control characters that are no white space. */
const CONTROL = /[^\P{Cc}\t\r\n]/u;

// In m² and m³ nobody means the letters that Central Europe has in their place.
function withoutPowers(text: string | undefined): string | undefined {
  return text?.replace(/m[²³˛ł](?!\p{L})/gu, 'm');
}

/** Rejects a header that is not UTF-8, and may be in several encodings. */
export function failAtEncoding(header: Uint8Array, file: string, line: number): never {
  const readings = CODE_PAGES.map((encoding) => ({ encoding, text: decode(header, encoding) ?? '' }));
  if (readings.every(({ text }) => CONTROL.test(text))) {
    throw new CsvError('csv.binary', { file, line }, 'the header is not text; expected CSV');
  }
  const words = readings.map(({ encoding, text }) => `${nameIn(text)} in ${encoding}`).join(', ');
  const told = `the header is not UTF-8; it has ${words}`;
  const mend = 'say which with the option encoding (--encoding windows-1252, …)';
  const hint = { option: 'encoding' };
  throw new CsvError('csv.unclear', { file, line }, `${told}; ${mend}`, { options: [hint] });
}

// The first name of a header that is not ASCII.
function nameIn(header: string): string {
  const names = header.split(/[,;\t|"\r\n]/).map((name) => name.trim());
  return names.find((name) => /[^\0-\x7f]/.test(name)) ?? '';
}
