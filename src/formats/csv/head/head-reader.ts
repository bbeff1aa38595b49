import type { InTurns } from '../../../core/turns.js';
import { CARRIAGE_RETURN, COMMA, LINE_FEED, SPACE } from '../bytes.js';
import type { Encoding } from '../encoding.js';
import { CsvError } from '../errors.js';
import type { CsvReaderOptions } from '../options.js';
import { BLANK_LINES_MAX, type CsvLimits } from '../read/limits.js';
import { type FoundHeader, findHeader } from './find-header.js';
import { type Header, isWide, SAMPLE_BYTES, SAMPLE_BYTES_MAX, tellHeader } from './header.js';

/** How many rows are examined at least: those of thousands of columns may be longer than the usual sample. */
const SAMPLE_ROWS_MIN = 4;

/** Reads the header of a file, with as many of the first rows as it takes to tell what the columns hold. */
export class HeadReader {
  readonly #options: CsvReaderOptions;
  readonly #limits: CsvLimits;
  readonly #isPatient: boolean;
  #found: FoundHeader | undefined;
  /** Whether the first row has been examined alone. */
  #isFirstRead = false;
  #sampleBytes = SAMPLE_BYTES;

  /** @param isPatient whether to wait for several rows even if the first one leaves nothing open. */
  constructor(options: CsvReaderOptions, limits: CsvLimits, isPatient: boolean) {
    this.#options = options;
    this.#limits = limits;
    this.#isPatient = isPatient;
  }

  /** The number of bytes up to the first row, once the header was found. */
  get byteCount(): number {
    return this.#found?.end ?? 0;
  }

  /**
   * Reads the header; undefined if it needs more bytes. Yields between the steps if the header is wide.
   *
   * @param bytes the file so far.
   * @param isLast whether the file ends with the bytes.
   * @param isFlushed whether the rows so far must do, if there are any.
   * @param encoding undefined if the bytes must tell.
   */
  *read(
    bytes: Uint8Array,
    isLast: boolean,
    isFlushed: boolean,
    encoding: Encoding | undefined,
  ): InTurns<Header | undefined> {
    const { fileName, skipLines = 0 } = this.#options;
    this.#found ??= findHeader(bytes, fileName, skipLines, isLast, this.#limits, encoding);
    const found = this.#found;
    if (found === undefined) return undefined;
    if (isWide(found)) yield;
    const usual = yield* this.#tellUsual(found, bytes);
    // A flush may come within a row, or before the first.
    const whole = isLast ? bytes : bytes.subarray(0, bytes.lastIndexOf(LINE_FEED) + 1);
    const isEnough = isFlushed && (isLast || firstNotBlank(whole, found.end) < whole.length);
    const header = usual ?? (yield* this.#tellPatiently(found, isEnough ? whole : bytes, isEnough));
    if (header !== undefined && isWide(found)) yield;
    return header;
  }

  // From the first row alone, if that leaves nothing open.
  *#tellUsual(found: FoundHeader, bytes: Uint8Array): InTurns<Header | undefined> {
    // One row does not tell which columns hold texts, nor whether numbers have decimal commas or grouped thousands.
    const isSkipped = this.#isPatient || this.#options.areTextsLeft === true || found.separator !== COMMA;
    if (isSkipped || this.#isFirstRead) return undefined;
    const start = firstNotBlank(bytes, found.end);
    const to = bytes.indexOf(LINE_FEED, start) + 1;
    if (to === 0) return undefined;
    this.#isFirstRead = true;
    try {
      const header = yield* tellHeader(found, bytes.subarray(start, to), 1, false, this.#options);
      // Of a wide table, several rows may tell that a column names the series of each.
      const isClear = header?.layout !== 'wide' || this.#options.layout !== undefined;
      return header?.isUsual && isClear ? header : undefined;
    } catch (error) {
      if (error instanceof CsvError) return undefined;
      throw error;
    }
  }

  *#tellPatiently(found: FoundHeader, bytes: Uint8Array, isFlushed: boolean): InTurns<Header | undefined> {
    const { end } = found;
    for (;;) {
      const isThere = bytes.length - end >= this.#sampleBytes;
      if (!isThere && !isFlushed) return undefined;
      const sample = bytes.subarray(end, end + this.#sampleBytes);
      // Rows hardly come behind so many blank lines.
      const isWhole = !isThere || this.#sampleBytes >= SAMPLE_BYTES_MAX || countBlankLines(sample) > BLANK_LINES_MAX;
      const header = yield* tellHeader(found, sample, SAMPLE_ROWS_MIN, isWhole, this.#options);
      if (header !== undefined) return header;
      this.#sampleBytes *= 4;
    }
  }
}

function countBlankLines(bytes: Uint8Array): number {
  let count = 0;
  let isBlank = true;
  for (const byte of bytes) {
    if (byte === LINE_FEED) {
      if (isBlank) count++;
      isBlank = true;
    } else if (byte !== CARRIAGE_RETURN && byte !== SPACE) isBlank = false;
  }
  return count;
}

function firstNotBlank(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === LINE_FEED || bytes[at] === CARRIAGE_RETURN || bytes[at] === SPACE) at++;
  return at;
}
