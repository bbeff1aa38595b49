import type { Series } from '../core/series.js';
import type { CsvReaderOptions, CsvSummary } from './csv/options.js';

/** A file to read. */
export interface FormatSource {
  /** For messages. */
  readonly name: string;
  /** Its decompressed bytes from the start. Each block is valid until the next one is requested. */
  readonly blocks: () => AsyncIterable<Uint8Array>;
  /** Random access; absent if the file is compressed or a pipe. */
  readonly random?: { readonly sizeBytes: number; readonly readAt: (bytes: Uint8Array, position: number) => number };
}

/** Options for reading a file of any format: see `CsvReaderOptions`. */
export interface FormatOptions extends CsvReaderOptions {
  /** Samples outside `[fromMs, untilMs)` may be left unread. */
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

/** Where the samples of a file go. */
export interface FormatListener {
  /**
   * Takes series of at most `chunkRows` samples in all, valid only during the call, and the line on which the last row
   * read begins, counted from 1: in formats without lines, the number of the row.
   */
  readonly onChunk: (series: readonly Series[], line: number) => void;
  /** Called now and then; once it returns true, reading stops and `read` returns undefined. */
  readonly isStopped: () => boolean;
}

/** Writes series, one after the other, as bytes that are passed on now and then. */
export interface FormatWriter {
  /** Writes samples of a series. All calls for one series come one after another. */
  readonly write: (series: Series) => void;
  /** Writes what is left, and the end of the file. */
  readonly end: () => void;
}

/** A file format. To add one, write a file with such an object and a line in `formats.ts`. */
export interface Format {
  readonly name: string;
  /** File name extensions, in lower case, without the point. */
  readonly extensions: readonly string[];
  readonly read: (
    source: FormatSource,
    options: FormatOptions,
    listener: FormatListener,
  ) => Promise<CsvSummary | undefined>;
  /**
   * Absent for a format that is only read. Loads the packages that it needs.
   *
   * @param fileName what the bytes are for; decides where a format has several forms.
   */
  readonly openWriter?: (onBytes: (bytes: Uint8Array) => void, fileName: string) => Promise<FormatWriter>;
}
