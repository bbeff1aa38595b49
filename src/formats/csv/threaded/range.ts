import type { SeriesReference } from '../../../core/series.js';
import { scanBlock } from '../../../kernels/scan-rows.js';
import { LINE_FEED } from '../bytes.js';
import type { RowProblem } from '../errors.js';
import type { Header } from '../head/header.js';
import type { CsvReaderOptions, RejectedRow } from '../options.js';
import { FileReader } from '../read/reader.js';
import type { ColumnRows } from '../read/rows.js';

/**
 * A file read in ranges, each by whichever thread comes first. A range begins with the first line that begins in it
 * and ends where the next one begins. That a line begins a record is a guess, because a quoted field may hold line
 * ends; it is right where the range before has ended without a row that goes on, and else its rows are not used.
 */
export interface RangedFile {
  readonly fileName: string;
  readonly descriptor: number;
  readonly sizeBytes: number;
  /** Bytes of the header and what lies before it. */
  readonly headBytes: number;
  readonly header: Header;
  readonly rangeBytes: number;
}

/** What a range held, beside its samples; lines are counted from its first. */
export interface RangeOutcome {
  readonly rows: number;
  readonly rejected: number;
  readonly missing: number;
  readonly lines: number;
  /** Bytes from its start to its end. */
  readonly bytes: number;
  /** Series that this thread had not seen before, in order of first sight. */
  readonly newSeries: readonly SeriesReference[];
  /** Rows of each series that this thread has seen. */
  readonly samples: readonly number[];
  readonly rejects: readonly RejectedRow[];
  /** The bad row that ends the run. */
  readonly fault: LineProblem | undefined;
  /** Where the row begins that goes on beyond the range, so that no other may be trusted; else undefined. */
  readonly resumeAt: number | undefined;
}

interface LineProblem {
  readonly line: number;
  readonly problem: RowProblem;
}

/** Reads bytes of the file from a place on into `block`; gives their count, 0 at the end. */
export type ReadAt = (block: Uint8Array, position: number) => number;

export type OnRows = (rows: ColumnRows) => void;

/** Rows that stay when the reader goes on, in memory that another thread can read without a copy. */
export function sharedCopyOf({ timeMs, values, series, nearChange }: ColumnRows): ColumnRows {
  const copy = (column: Float64Array): Float64Array => {
    const shared = new Float64Array(new SharedArrayBuffer(column.byteLength));
    shared.set(column);
    return shared;
  };
  const indices = series && new Int32Array(new SharedArrayBuffer(series.byteLength));
  indices?.set(series ?? []);
  return { timeMs: copy(timeMs), values: values.map(copy), series: indices, nearChange };
}

const BLOCK_BYTES = 1 << 18;
/** The end of a line is looked for in pieces of this size, and not beyond so many. */
const PIECE_BYTES = 2048;
const PIECES_MAX = 1024;

/** Reads ranges of one file, in rising order. */
export class RangeReader {
  readonly reader: FileReader;
  readonly #file: RangedFile;
  readonly #readAt: ReadAt;
  readonly #block = scanBlock() ?? new Uint8Array(BLOCK_BYTES);
  /** Where reading has come to. */
  #position = 0;
  /** Where the first line at hand begins. */
  #start = 0;
  #isEnded = false;
  #rejects: RejectedRow[] = [];
  #fault: LineProblem | undefined;
  #onRows: OnRows = () => undefined;

  constructor(file: RangedFile, options: Omit<CsvReaderOptions, 'fileName' | 'onReject'>, readAt: ReadAt) {
    this.#file = file;
    this.#readAt = readAt;
    this.reader = new FileReader(
      { ...options, fileName: file.fileName, onReject: (rejected) => this.#rejects.push(rejected) },
      () => undefined,
      {
        isAlone: true,
        onRows: (rows) => this.#onRows(rows),
        onFault: (line, problem) => {
          this.#fault = { line, problem };
        },
      },
    );
    this.reader.open(file.header);
  }

  /** Reads a range and hands over its samples. */
  readRange(index: number, onRows: OnRows): RangeOutcome {
    return this.#outcomeOf(onRows, () => this.#readLines(index));
  }

  /** Goes to the start of a row, to read on from there. */
  goTo(position: number): void {
    this.#position = position;
    this.#isEnded = false;
  }

  /** Reads on, as many bytes as a range has, wherever lines end; undefined at the end of the file. */
  readOn(onRows: OnRows): RangeOutcome | undefined {
    if (this.#isEnded) return undefined;
    return this.#outcomeOf(onRows, () => {
      this.#isEnded = !this.#readBlocks(this.#position + this.#file.rangeBytes);
      if (this.#isEnded) this.reader.end();
      return undefined;
    });
  }

  // What `read` adds to what the reader has counted so far.
  #outcomeOf(onRows: OnRows, read: () => number | undefined): RangeOutcome {
    const { reader } = this;
    const before = reader.progress();
    const samplesBefore = reader.series();
    this.#start = this.#position;
    this.#rejects = [];
    this.#onRows = onRows;
    let resumeAt: number | undefined;
    try {
      resumeAt = read();
    } catch (error) {
      if (this.#fault === undefined) throw error;
    }
    reader.flush();
    const after = reader.progress();
    const series = reader.series();
    return {
      rows: after.rows - before.rows,
      rejected: after.rejected - before.rejected,
      missing: after.missing - before.missing,
      lines: after.line - before.line,
      bytes: this.#position - this.#start,
      newSeries: series.slice(samplesBefore.length).map(({ timeseriesId, metric }) => ({ timeseriesId, metric })),
      samples: series.map(({ samples }, index) => samples - (samplesBefore[index]?.samples ?? 0)),
      rejects: this.#rejects.map((row) => ({ ...row, line: row.line - before.line })),
      fault: this.#fault && { ...this.#fault, line: this.#fault.line - before.line },
      resumeAt,
    };
  }

  // Gives where the row begins that goes on beyond the range, if one does.
  #readLines(index: number): number | undefined {
    const { headBytes, rangeBytes, sizeBytes } = this.#file;
    const from = headBytes + index * rangeBytes;
    const to = from + rangeBytes;
    this.#position = from;
    if (index > 0) {
      this.#position = from - 1;
      // Without a line here the range before had no end, so this one will not be used.
      if (!this.#readLine(() => undefined)) return from;
    }
    this.#start = this.#position;
    if (to >= sizeBytes) {
      this.#readBlocks(Number.POSITIVE_INFINITY);
      this.reader.end();
      return undefined;
    }
    if (this.#position >= to) return undefined;
    this.#readBlocks(to - 1);
    const isWhole = this.#readLine((bytes) => this.reader.push(bytes));
    const { waitingBytes } = this.reader.progress();
    return isWhole && waitingBytes === 0 ? undefined : this.#position - waitingBytes;
  }

  // False at the end of the file.
  #readBlocks(to: number): boolean {
    while (this.#position < to) {
      const room = Math.min(this.#block.length, to - this.#position);
      const count = this.#readAt(this.#block.subarray(0, room), this.#position);
      if (count === 0) return false;
      this.reader.push(this.#block.subarray(0, count));
      this.#position += count;
    }
    return true;
  }

  // Goes on to the place after the next line feed; false where it is too far.
  #readLine(onBytes: (bytes: Uint8Array) => void): boolean {
    for (let piece = 0; piece < PIECES_MAX; piece++) {
      const count = this.#readAt(this.#block.subarray(0, PIECE_BYTES), this.#position);
      if (count === 0) return false;
      const end = this.#block.subarray(0, count).indexOf(LINE_FEED) + 1;
      const taken = end === 0 ? count : end;
      onBytes(this.#block.subarray(0, taken));
      this.#position += taken;
      if (end > 0) return true;
    }
    return false;
  }
}
