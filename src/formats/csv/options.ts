import type { Series, SeriesReference } from '../../core/series.js';
import type { DialectOptions } from '../table/dialect.js';
import type { RoleOptions, TableLayout } from '../table/roles.js';
import type { CsvColumn } from './errors.js';

/** How the columns of a file make series: see `TableLayout`. */
export type CsvLayout = TableLayout;

/** A row that was refused. */
export interface RejectedRow {
  readonly file: string;
  /** Physical line on which the row starts, from 1. */
  readonly line: number;
  /** Absent where the row as a whole is at fault. */
  readonly column?: CsvColumn;
  /** The text at fault. */
  readonly text: string;
  /** What is wrong with it, as the end of a sentence. */
  readonly reason: string;
  /** The row as it stands in the file. */
  readonly row: string;
}

/**
 * Options of a reader. Those that say what the columns are for and how they are written (`time`, `value`, `series`,
 * `layout`, `timeFormat`, `decimal`, `states`) are told from the file where it is plain.
 */
export interface CsvReaderOptions extends Omit<RoleOptions, 'isAskedFor' | 'states'>, DialectOptions {
  /** For messages, and for the name of a series that the file does not name: without folder, `.csv` and `.gz`. */
  readonly fileName: string;
  /** The id of a series that the file does not name, in place of the file's. */
  readonly unnamed?: string | undefined;
  /** The name of the one series of the file, whatever the file calls it. */
  readonly as?: SeriesReference | undefined;
  /** Lines before the header that are not looked at; none without it. */
  readonly skipLines?: number | undefined;
  /** IANA name of the zone of times without an offset; UTC without it. */
  readonly timezone?: string;
  /** Rows handed over at once, at most; 8192 without it. */
  readonly chunkRows?: number;
  /** Whether a bad row ends the reading with an error (the default) or is left out, counted and reported. */
  readonly onBadRow?: 'fail' | 'skip';
  /** Called with each row that `onBadRow: 'skip'` leaves out. */
  readonly onReject?: (rejected: RejectedRow) => void;
  /**
   * Which series to hand over; all without it. Others are only counted. In the wide layout their columns are not
   * read, so that they may hold text.
   */
  readonly wanted?: (reference: SeriesReference) => boolean;
  /** Which are asked for by name, so that a column called so is a series of its own; as `wanted` without it. */
  readonly isNamed?: (reference: SeriesReference) => boolean;
}

/** A series of a file. */
export interface CsvSeriesCount extends SeriesReference {
  /** Rows of the series, those with a missing value included. */
  readonly samples: number;
}

/** What a file held. */
export interface CsvSummary {
  readonly layout: CsvLayout;
  /** Rows taken; those rejected are not among them. */
  readonly rows: number;
  readonly rejected: number;
  /** Values of wanted series that are missing: given as NaN, and included in `samples`. */
  readonly missing: number;
  /** All series, wanted or not, in order of first sight. */
  readonly series: readonly CsvSeriesCount[];
  /** What was told from the file and is not plain, such as `decimal commas`. */
  readonly notes: readonly string[];
}

/** Takes the bytes of one file, in pieces cut anywhere. */
export interface CsvReader {
  /** Takes the next bytes; they may be reused after the call. */
  push(bytes: Uint8Array): void;
  /** Hands over the rows read so far, without waiting for a full chunk. */
  flush(): void;
  /** Takes the end of the file, and hands over the rest. */
  end(): CsvSummary;
  /** The names of the header, as they stand there; empty until it was read. */
  columns(): readonly string[];
  /** The series seen so far, in order of first sight. */
  series(): readonly CsvSeriesCount[];
}

/**
 * Takes series of at most `chunkRows` samples. The arrays are views of buffers that are used again: they are valid
 * during the call alone.
 */
export type OnChunk = (series: readonly Series[]) => void;
