import type { Series } from '../core/series.js';
import type { CsvReaderOptions, CsvSummary } from './csv/options.js';

/** A file to read. */
export interface FormatSource {
  /** For messages. */
  readonly name: string;
  /** Its bytes, unpacked, from the start. Each block is valid until the next is asked for. */
  readonly blocks: () => AsyncIterable<Uint8Array>;
  /** Its size and its bytes at any place; absent where it is compressed or a pipe. */
  readonly random?: { readonly sizeBytes: number; readonly readAt: (bytes: Uint8Array, position: number) => number };
}

/** What is asked of a file, whatever its format: see `CsvReaderOptions`. */
export interface FormatOptions extends CsvReaderOptions {
  readonly chunkRows: number;
  /** What lies outside of `[fromMs, untilMs)` may be left unread. */
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

/** Where the samples of a file go. */
export interface FormatListener {
  /** Takes series of at most `chunkRows` samples in all, valid during the call alone. */
  readonly onChunk: (series: readonly Series[]) => void;
  /** Asked now and then; once true, reading stops and gives undefined. */
  readonly isStopped: () => boolean;
}

/** Writes series, one after the other, into bytes that are handed over now and then. */
export interface FormatWriter {
  /** Writes samples of a series; the next ones of it come next. */
  readonly write: (series: Series) => void;
  /** Writes what is left, and the end of the file. */
  readonly end: () => void;
}

/** A format of files: add one as a file with this object, and a line in `formats.ts`. */
export interface Format {
  readonly name: string;
  /** Endings of file names, in lower case, without the point. */
  readonly extensions: readonly string[];
  readonly read: (
    source: FormatSource,
    options: FormatOptions,
    listener: FormatListener,
  ) => Promise<CsvSummary | undefined>;
  /** Absent where it is only read. Loads the packages that it takes. */
  readonly openWriter?: (onBytes: (bytes: Uint8Array) => void) => Promise<FormatWriter>;
}
