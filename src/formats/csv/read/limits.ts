/** Limits for files, so that a small one cannot take memory or time out of proportion. */
export interface CsvLimits {
  readonly lineBytesMax: number;
  readonly columnsMax: number;
  /** The most series in the long layout. */
  readonly seriesMax: number;
  /** The most values of the wide layout that are held at once. */
  readonly cellsMax: number;
}

/** The rows of a chunk. Small enough for its columns to stay in the cache until they are used. */
export const CHUNK_ROWS = 8192;
/** In the long layout, more: a chunk holds rows of many series, and each series costs a call. */
export const LONG_CHUNK_ROWS = 32_768;

/** The most values of a chunk, 16 MiB, however many columns a file has. */
export const CELLS_USUAL = 1 << 21;

/**
 * The longest line of a file, so that one without line ends, such as what a power cut left full of zeros, takes no
 * memory out of proportion. A row of two million columns is shorter.
 */
const LINE_BYTES_MAX = 64 * 1024 * 1024;

/** For files of one's own. */
export const FILE_LIMITS: CsvLimits = {
  lineBytesMax: LINE_BYTES_MAX,
  columnsMax: Number.POSITIVE_INFINITY,
  seriesMax: Number.POSITIVE_INFINITY,
  cellsMax: CELLS_USUAL,
};

/** The most blank lines in a limited file, besides two for each row. */
export const BLANK_LINES_MAX = 10_000;

/** How many rows a chunk has in a table with this many columns of values. */
export function rowsInChunk(rowsMax: number, cellsMax: number, columnCount: number): number {
  return Math.max(1, Math.min(rowsMax, Math.floor(cellsMax / Math.max(1, columnCount))));
}
