import { WindrowError } from '../core/errors.js';
import type { CsvSummary } from './csv/options.js';
import type { FormatOptions, FormatSource } from './format.js';
import { SKIP_ROWS } from './table/read-text.js';

/** A line of a text file without its line end. Numbers count from 1. */
export interface TextLine {
  readonly text: string;
  readonly number: number;
}

export const LINE_LENGTH_MAX = 4_194_304;

/** The lines of a file in UTF-8, some at a time. */
export async function* textLines({ name, blocks }: FormatSource): AsyncGenerator<readonly TextLine[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let number = 0;
  const decode = (bytes?: Uint8Array): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (error) {
      throw notUtf8(name, number + 1, bytes ?? new Uint8Array(), error);
    }
  };
  for await (const block of blocks()) {
    const lines = (rest + decode(block)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_LENGTH_MAX) {
      throw new WindrowError(
        'file.format',
        `${name}, line ${number + 1}: is longer than ${LINE_LENGTH_MAX} characters`,
      );
    }
    yield lines.map((line) => ({ text: line.replace(/\r$/, ''), number: ++number }));
  }
  rest += decode();
  if (rest !== '') yield [{ text: rest, number: ++number }];
}

/**
 * The text of some bytes of a file in UTF-8.
 *
 * @param line on which they begin.
 */
export function decodeText(bytes: Uint8Array, fileName: string, line: number): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw notUtf8(fileName, line, bytes, error);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function notUtf8(fileName: string, line: number, bytes: Uint8Array, cause: unknown): WindrowError {
  const at = line + lineFeedsBeforeFault(bytes);
  return new WindrowError('file.format', `${fileName}, line ${at}: is not UTF-8 text`, { cause });
}

function lineFeedsBeforeFault(bytes: Uint8Array): number {
  // A block may begin within a character. The first one that cannot be read is shown as U+FFFD.
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  const text = new TextDecoder().decode(bytes.subarray(Math.max(0, start)));
  return text.slice(0, Math.max(0, text.indexOf('\ufffd'))).split('\n').length - 1;
}

/** The lines that cannot be read, of which the first ends reading, or all are left out, reported and counted. */
export class BadLines {
  readonly #options: FormatOptions;
  #count = 0;

  constructor(options: FormatOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  take({ text, number: line }: TextLine, problem: string): void {
    const { fileName: file, onBadRow = 'fail', onReject } = this.#options;
    if (onBadRow === 'fail') {
      throw new WindrowError('file.format', `${file}, line ${line}: ${problem}`, { options: [SKIP_ROWS] });
    }
    this.#count++;
    onReject?.({ file, line, text, reason: `cannot be read: ${problem}`, options: [], row: text });
  }

  /** A summary in which they are counted, too. */
  countedIn(summary: CsvSummary): CsvSummary {
    return { ...summary, rejected: summary.rejected + this.#count };
  }
}
