import { WindrowError } from '../core/errors.js';
import { LINE_FEED } from './csv/bytes.js';
import type { CsvSummary } from './csv/options.js';
import type { FormatOptions, FormatSource } from './format.js';
import { joinedBytes } from './joined-bytes.js';
import { SKIP_ROWS } from './table/read-text.js';

/** Where a line lies within bytes, without its line feed, or a value that begins on it. Numbers count from 1. */
export interface LineRange {
  readonly from: number;
  readonly until: number;
  readonly line: number;
}

/** A line as text. */
export interface TextLine {
  readonly text: string;
  readonly number: number;
}

export const LINE_LENGTH_MAX = 4_194_304;
export const TOO_LONG = `is longer than ${LINE_LENGTH_MAX} bytes`;

/** Finds the lines in the bytes of a file. */
export class LineScan {
  /** Where the line begins that is not whole yet, after `take`, and its number. */
  restFrom = 0;
  startLine = 1;

  /** The lines that end within the bytes, in the first `known` of which none does. */
  take(bytes: Uint8Array, known: number): LineRange[] {
    const found: LineRange[] = [];
    let from = 0;
    for (let at = bytes.indexOf(LINE_FEED, known); at >= 0; at = bytes.indexOf(LINE_FEED, from)) {
      found.push({ from, until: at, line: this.startLine++ });
      from = at + 1;
    }
    this.restFrom = from;
    return found;
  }

  /** The last line, if no line feed ends it. */
  end(rest: Uint8Array): readonly LineRange[] {
    return rest.length === 0 ? [] : [{ from: 0, until: rest.length, line: this.startLine }];
  }
}

/** The lines of a file, some at a time. */
export async function* lineRanges({ name, blocks }: FormatSource): AsyncGenerator<{
  readonly bytes: Uint8Array;
  readonly lines: readonly LineRange[];
}> {
  const scan = new LineScan();
  let rest: Uint8Array = new Uint8Array();
  for await (const block of blocks()) {
    // Bytes of its own, as those of a block are valid until the next one.
    const bytes = joinedBytes([rest, block]);
    yield { bytes, lines: scan.take(bytes, rest.length) };
    rest = bytes.subarray(scan.restFrom);
    if (rest.length > LINE_LENGTH_MAX) {
      throw new WindrowError('file.format', `${name}, line ${scan.startLine}: ${TOO_LONG}`);
    }
  }
  yield { bytes: rest, lines: scan.end(rest) };
}

/** @throws WindrowError if it is not UTF-8. */
export function textOfRange(bytes: Uint8Array, { from, until, line }: LineRange, fileName: string): string {
  const ofRange = bytes.subarray(from, until);
  try {
    return utf8.decode(ofRange);
  } catch (error) {
    const at = line + lineFeedsBeforeFault(ofRange);
    throw new WindrowError('file.format', `${fileName}, line ${at}: is not UTF-8 text`, { cause: error });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function lineFeedsBeforeFault(bytes: Uint8Array): number {
  // What cannot be read is shown as U+FFFD.
  const text = new TextDecoder().decode(bytes);
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
