/** What a file may have before it is refused: so that a small one takes no memory or time out of proportion. */
export interface CsvLimits {
  readonly lineBytesMax: number;
  readonly columnsMax: number;
  /** Of the long layout. */
  readonly seriesMax: number;
  /** Values of the wide layout that are held at once. */
  readonly cellsMax: number;
}

/** So many values of a chunk, 16 MiB, however many columns a file has. */
export const CELLS_USUAL = 1 << 21;

export const UNLIMITED: CsvLimits = {
  lineBytesMax: Number.POSITIVE_INFINITY,
  columnsMax: Number.POSITIVE_INFINITY,
  seriesMax: Number.POSITIVE_INFINITY,
  cellsMax: CELLS_USUAL,
};

/** Beyond these, and two for each row, a limited file has nothing but blank lines. */
export const BLANK_LINES_MAX = 10_000;

/** Rows of a chunk of a table with so many columns of values. */
export function rowsInChunk(rowsMax: number, cellsMax: number, columnCount: number): number {
  return Math.max(1, Math.min(rowsMax, Math.floor(cellsMax / Math.max(1, columnCount))));
}
