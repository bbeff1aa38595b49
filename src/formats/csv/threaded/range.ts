import type { SeriesReference } from '../../../core/series.js';
import { scanBlock } from '../../../kernels/scan-pairs.js';
import { LINE_FEED } from '../bytes.js';
import type { RowProblem } from '../errors.js';
import type { Header } from '../head/header.js';
import type { CsvReaderOptions, RejectedRow } from '../options.js';
import { FileReader } from '../read/reader.js';
import type { ColumnRows } from '../read/rows.js';

/**
 * A file that is read in ranges, each by any thread. A range begins with the first line that begins in it and ends
 * where the next one begins. That this line begins a record is a guess, because a quoted field may contain line ends.
 * The guess is right if the range before ends at the end of a row; otherwise the rows of this range are not used.
 */
export interface RangedFile {
  readonly fileName: string;
  readonly descriptor: number;
  readonly sizeBytes: number;
  /** Bytes up to the end of the header. */
  readonly headBytes: number;
  readonly header: Header;
  readonly rangeBytes: number;
}

/** What a range held besides its samples. Lines are counted from its first one. */
export interface RangeOutcome {
  readonly rows: number;
  readonly rejected: number;
  readonly missing: number;
  readonly lines: number;
  /** Bytes from its start to its end. */
  readonly bytes: number;
  /** Series that this thread had not seen before, in the order in which they first appear. */
  readonly newSeries: readonly SeriesReference[];
  /** Rows of each series that this thread has seen. */
  readonly samples: readonly number[];
  readonly rejects: readonly RejectedRow[];
  /** The bad row that ends the run. */
  readonly fault: LineProblem | undefined;
  /** Where a row begins that continues after the range, if one does; then no later range can be trusted. */
  readonly resumeAt: number | undefined;
}

interface LineProblem {
  readonly line: number;
  readonly problem: RowProblem;
}

/** Reads bytes of the file from `position` on into `block`; returns their count, 0 at the end. */
export type ReadAt = (block: Uint8Array, position: number) => number;

export type OnRows = (rows: ColumnRows) => void;

/** A copy of rows in memory that another thread can read without copying again. */
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
/** The end of a line is searched for in pieces of this size, and at most this many. */
const PIECE_BYTES = 2048;
const PIECES_MAX = 1024;

/** Reads ranges of one file, in rising order. */
export class RangeReader {
  readonly reader: FileReader;
  readonly #file: RangedFile;
  readonly #readAt: ReadAt;
  readonly #block = scanBlock() ?? new Uint8Array(BLOCK_BYTES);
  /** Where to read next. */
  #position = 0;
  /** Where the first line of the range begins. */
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

  /** Reads a range and passes on its samples. */
  readRange(index: number, onRows: OnRows): RangeOutcome {
    return this.#outcomeOf(onRows, () => this.#readLines(index));
  }

  /** Moves to the start of a row, from which `readOn` continues. */
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

  // The outcome of `read`, which is how much the reader's counts grow.
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

  // Returns where a row begins that continues after the range, if one does.
  #readLines(index: number): number | undefined {
    const { headBytes, rangeBytes, sizeBytes } = this.#file;
    const from = headBytes + index * rangeBytes;
    const to = from + rangeBytes;
    this.#position = from;
    if (index > 0) {
      this.#position = from - 1;
      // If no line begins here, the range before had no end, so this one will not be used.
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

  // Moves past the next line feed; false if it is too far away.
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
