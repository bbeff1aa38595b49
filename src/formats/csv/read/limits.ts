/** What a file may have before it is refused: so that a small one takes no memory or time out of proportion. */
export interface CsvLimits {
  readonly lineBytesMax: number;
  readonly columnsMax: number;
  /** Of the long layout. */
  readonly seriesMax: number;
  /** Values of the wide layout that are held at once. */
  readonly cellsMax: number;
}

export const UNLIMITED: CsvLimits = {
  lineBytesMax: Number.POSITIVE_INFINITY,
  columnsMax: Number.POSITIVE_INFINITY,
  seriesMax: Number.POSITIVE_INFINITY,
  cellsMax: Number.POSITIVE_INFINITY,
};

/** Beyond these, and two for each row, a limited file has nothing but blank lines. */
export const BLANK_LINES_MAX = 10_000;
