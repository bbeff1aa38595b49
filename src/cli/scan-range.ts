import type { SeriesReference } from '../core/series.js';
import type { RowProblem } from '../formats/csv/errors.js';
import type { CsvReaderOptions, RejectedRow } from '../formats/csv/index.js';
import { type OpenReader, openReader } from '../formats/csv/read/reader.js';
import type { ColumnRows } from '../formats/csv/read/rows.js';
import { scanBlock } from '../kernels/scan-rows.js';

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

export interface RangeScanner {
  /** Reads a range and hands over its samples; ranges are asked for in rising order. */
  readonly scan: (index: number, onRows: OnRows) => RangeOutcome;
  /** Goes to the start of a row, to read on from there. */
  readonly goTo: (position: number) => void;
  /** Reads on, as many bytes as a range has, wherever lines end; undefined at the end of the file. */
  readonly scanOn: (onRows: OnRows) => RangeOutcome | undefined;
  readonly reader: OpenReader;
}

export const rangeCountOf = ({ sizeBytes, headBytes, rangeBytes }: RangedFile): number =>
  Math.max(1, Math.ceil((sizeBytes - headBytes) / rangeBytes));

/** Numbers that the rows of a range make, if each takes as many bytes as a time and a number with eight digits. */
export const numbersPerRange = ({ rangeBytes }: RangedFile): number => Math.ceil(rangeBytes / 8);

const BLOCK_BYTES = 1 << 18;
/** The end of a line is looked for in pieces of this size, and not beyond so many. */
const PIECE_BYTES = 2048;
const PIECES_MAX = 1024;
const LINE_FEED = 0x0a;

/** All that a scanner works with, for the functions below. */
interface State {
  readonly file: RangedFile;
  readonly readAt: ReadAt;
  readonly reader: OpenReader;
  readonly block: Uint8Array;
  /** Where reading has come to. */
  position: number;
  /** Where the first line at hand begins. */
  start: number;
  isEnded: boolean;
  rejects: RejectedRow[];
  fault: LineProblem | undefined;
  onRows: OnRows;
}

/** @param head the bytes of the header and what lies before it. */
export function createRangeScanner(
  file: RangedFile,
  head: Uint8Array,
  options: Omit<CsvReaderOptions, 'fileName' | 'onReject'>,
  readAt: ReadAt,
): RangeScanner {
  const reader = openReader(
    { ...options, fileName: file.fileName, onReject: (rejected) => state.rejects.push(rejected) },
    () => undefined,
    {
      isAlone: true,
      onRows: (rows) => state.onRows(rows),
      onFault: (line, problem) => {
        state.fault = { line, problem };
      },
    },
  );
  const block = scanBlock() ?? new Uint8Array(BLOCK_BYTES);
  const state: State = {
    ...{ file, readAt, reader, block },
    ...{ position: 0, start: 0, isEnded: false, rejects: [], fault: undefined, onRows: () => undefined },
  };
  reader.readHeader(head);
  return {
    reader,
    scan: (index, onRows) => outcomeOf(state, onRows, () => readRange(state, index)),
    goTo: (position) => {
      state.position = position;
      state.isEnded = false;
    },
    scanOn: (onRows) => (state.isEnded ? undefined : outcomeOf(state, onRows, () => readOn(state))),
  };
}

// What `read` adds to what the reader has counted so far.
function outcomeOf(state: State, onRows: OnRows, read: () => number | undefined): RangeOutcome {
  const { reader } = state;
  const before = reader.progress();
  const samplesBefore = reader.series();
  state.start = state.position;
  state.rejects = [];
  state.onRows = onRows;
  let resumeAt: number | undefined;
  try {
    resumeAt = read();
  } catch (error) {
    if (state.fault === undefined) throw error;
  }
  reader.flush();
  const after = reader.progress();
  const series = reader.series();
  return {
    rows: after.rows - before.rows,
    rejected: after.rejected - before.rejected,
    missing: after.missing - before.missing,
    lines: after.line - before.line,
    bytes: state.position - state.start,
    newSeries: series.slice(samplesBefore.length).map(({ timeseriesId, metric }) => ({ timeseriesId, metric })),
    samples: series.map(({ samples }, index) => samples - (samplesBefore[index]?.samples ?? 0)),
    rejects: state.rejects.map((row) => ({ ...row, line: row.line - before.line })),
    fault: state.fault && { ...state.fault, line: state.fault.line - before.line },
    resumeAt,
  };
}

// Gives where the row begins that goes on beyond the range, if one does.
function readRange(state: State, index: number): number | undefined {
  const { file, reader } = state;
  const from = file.headBytes + index * file.rangeBytes;
  const to = from + file.rangeBytes;
  state.position = from;
  if (index > 0) {
    state.position = from - 1;
    // Without a line here the range before had no end, so this one will not be used.
    if (!readLine(state, () => undefined)) return from;
  }
  state.start = state.position;
  if (to >= file.sizeBytes) {
    readBlocks(state, Number.POSITIVE_INFINITY);
    reader.end();
    return undefined;
  }
  if (state.position >= to) return undefined;
  readBlocks(state, to - 1);
  const isWhole = readLine(state, (bytes) => reader.push(bytes));
  const { waitingBytes } = reader.progress();
  return isWhole && waitingBytes === 0 ? undefined : state.position - waitingBytes;
}

function readOn(state: State): undefined {
  state.isEnded = !readBlocks(state, state.position + state.file.rangeBytes);
  if (state.isEnded) state.reader.end();
}

// False at the end of the file.
function readBlocks(state: State, to: number): boolean {
  const { block, readAt, reader } = state;
  while (state.position < to) {
    const room = Math.min(block.length, to - state.position);
    const count = readAt(block.subarray(0, room), state.position);
    if (count === 0) return false;
    reader.push(block.subarray(0, count));
    state.position += count;
  }
  return true;
}

// Goes on to the place after the next line feed; false where it is too far.
function readLine(state: State, onBytes: (bytes: Uint8Array) => void): boolean {
  const { block, readAt } = state;
  for (let piece = 0; piece < PIECES_MAX; piece++) {
    const count = readAt(block.subarray(0, PIECE_BYTES), state.position);
    if (count === 0) return false;
    const end = block.subarray(0, count).indexOf(LINE_FEED) + 1;
    const taken = end === 0 ? count : end;
    onBytes(block.subarray(0, taken));
    state.position += taken;
    if (end > 0) return true;
  }
  return false;
}
