import type { OptionHint } from '../../core/errors.js';
import type { Series, SeriesReference } from '../../core/series.js';
import type { DialectOptions } from '../table/dialect.js';
import type { RoleOptions, TableLayout } from '../table/roles.js';
import type { Encoding } from './encoding.js';
import type { CsvColumn } from './errors.js';

export type { Encoding };

/** How the columns of a file make series: see `TableLayout`. */
export type CsvLayout = TableLayout;

/** A row that was left out because it cannot be read. */
export interface RejectedRow {
  readonly file: string;
  /** Physical line on which the row starts, from 1. */
  readonly line: number;
  /** Absent if the problem is the row as a whole. */
  readonly column?: CsvColumn;
  /** The invalid text. */
  readonly text: string;
  /** What is wrong with it, as the end of a sentence. */
  readonly reason: string;
  /** What would let it be read, as far as that is known. */
  readonly options: readonly OptionHint[];
  /** The row as written in the file. */
  readonly row: string;
}

/**
 * Options of a reader. Those about the columns and how they are written (`time`, `value`, `series`, `layout`,
 * `timeFormat`, `decimal`, `states`, `encoding`) are needed only if the file itself does not tell.
 */
export interface CsvReaderOptions extends Omit<RoleOptions, 'isAskedFor' | 'states'>, DialectOptions {
  /** For messages. Without folder, `.csv` and `.gz` it is also the id of a series that the file does not name. */
  readonly fileName: string;
  /** The id of a series that the file does not name, instead of that from `fileName`. */
  readonly unnamed?: string | undefined;
  /** The name of the file's only series, whatever the file calls it. */
  readonly as?: SeriesReference | undefined;
  /**
   * How the text is encoded; by default UTF-8, UTF-16 or Windows-1252, as the file tells. A byte order mark
   * counts more.
   */
  readonly encoding?: Encoding | undefined;
  /** How many lines to skip before the header; 0 by default. */
  readonly skipLines?: number | undefined;
  /** IANA zone of times without an offset; UTC by default. */
  readonly timezone?: string;
  /** The most rows passed to one call of `onChunk`; by default 8192, in the long layout 32,768. */
  readonly chunkRows?: number | undefined;
  /** Whether a bad row ends reading with an error (the default) or is left out, counted and reported. */
  readonly onBadRow?: 'fail' | 'skip';
  /** Called with each row that `onBadRow: 'skip'` leaves out. */
  readonly onReject?: (rejected: RejectedRow) => void;
  /**
   * Which series to read; all by default. Others are only counted. In the wide layout their columns are not read, so
   * they may hold text.
   */
  readonly wanted?: (reference: SeriesReference) => boolean;
  /** Which series are wanted by name, so that a column of that name is a series of its own; by default as `wanted`. */
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
  /** Rows read, without rejected ones. */
  readonly rows: number;
  readonly rejected: number;
  /** Missing values of wanted series: they come as NaN, and count in `samples`. */
  readonly missing: number;
  /** All series, wanted or not, in the order in which they first appear. */
  readonly series: readonly CsvSeriesCount[];
  /** What the reader concluded from the file beyond the usual, such as `decimal commas`. */
  readonly notes: readonly string[];
}

/** Reads the bytes of one file, in parts that may be cut anywhere. */
export interface CsvReader {
  /** Takes the next bytes; they may be reused after the call. */
  push(bytes: Uint8Array): void;
  /** Passes on the rows read so far, without waiting for a full chunk. */
  flush(): void;
  /** Ends the file and passes on the rest. */
  end(): CsvSummary;
  /** The names in the header as written there; empty until the header was read. */
  columns(): readonly string[];
  /** The series seen so far, in the order in which they first appear. */
  series(): readonly CsvSeriesCount[];
}

/**
 * Takes series of at most `chunkRows` samples. The arrays are views of buffers that are reused, so they are valid only
 * during the call.
 */
export type OnChunk = (series: readonly Series[]) => void;
