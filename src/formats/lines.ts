import { WindrowError } from '../core/errors.js';
import type { CsvSummary } from './csv/options.js';
import type { FormatOptions, FormatSource } from './format.js';
import { SKIP_ROWS } from './table/read-text.js';

/** A line of a text file without its line end. Numbers count from 1. */
export interface TextLine {
  readonly text: string;
  readonly number: number;
}

const LINE_LENGTH_MAX = 4_194_304;

/** The lines of a file in UTF-8, some at a time. */
export async function* textLines(source: FormatSource): AsyncGenerator<readonly TextLine[]> {
  let rest = '';
  let number = 0;
  for await (const text of decodedBlocks(source, () => number + 1)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    checkLength(rest, source.name, number + 1);
    yield lines.map((line) => ({ text: line.endsWith('\r') ? line.slice(0, -1) : line, number: ++number }));
  }
  if (rest !== '') yield [{ text: rest, number: ++number }];
}

/**
 * The text of a file in UTF-8, block by block.
 *
 * @param lineNow the line with the end of the block before.
 */
export async function* decodedBlocks({ name, blocks }: FormatSource, lineNow: () => number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (error) {
      const line = lineNow() + lineFeedsBeforeFault(bytes ?? new Uint8Array());
      throw new WindrowError('file.format', `${name}, line ${line}: is not UTF-8 text`, { cause: error });
    }
  };
  for await (const block of blocks()) yield decode(block);
  yield decode();
}

/** Refuses a line, or another part of a text, that has no end. */
export function checkLength(text: string, name: string, line: number): void {
  if (text.length <= LINE_LENGTH_MAX) return;
  throw new WindrowError('file.format', `${name}, line ${line}: is longer than ${LINE_LENGTH_MAX} characters`);
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
