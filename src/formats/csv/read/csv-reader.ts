import { describeValue, InputError, wrongOption } from '../../../core/errors.js';
import { isTyped } from '../../../core/typed-array.js';
import type { CsvReader, CsvReaderOptions, CsvSeriesCount, CsvSummary, OnChunk } from '../options.js';
import { checkReaderOptions } from './check-options.js';
import { FileReader } from './reader.js';

/**
 * Reads CSV from bytes into series, chunk by chunk, in memory that does not grow with the file.
 *
 * The header tells the separator (comma, semicolon, tab or bar) and, with the first rows, what each column is for and
 * how times and values are written. Options say what the file does not tell. The time column is the first of
 * timestamp, time, datetime, date and ts that the header has, or else the only column that holds times. For layouts see
 * `CsvLayout`. Names may be in any case and order, quoted or not. Quotes and line ends are those of RFC 4180, or LF
 * alone. Blank lines, comments (`# …`) before the header and a byte order mark are skipped; UTF-16 is recognised by its
 * mark, and Windows-1252 where the text can hardly be in another encoding. Columns that the long layout does not use
 * are ignored, and so are columns without a name; the notes of the summary name both. Where the separator is no
 * comma, or the first row leaves something open, as that of a wide table does, rows wait until some 16 KiB of them are
 * there; `flush` ends that.
 *
 * Times are ISO 8601 instants, dates in other orders, or epoch numbers: below 1e11 seconds, below 1e14 milliseconds,
 * below 1e17 microseconds, else nanoseconds. They become epoch milliseconds in UTC. Local times that occur twice are
 * told apart by the order of their series. Values are decimals of any length, correctly rounded; empty fields, null,
 * NA, NaN and inf in any case are missing and become NaN.
 *
 * @throws InputError for an unknown zone, or an option that does not exist or is of another type. `push` and `end`
 * throw a `CsvError` for a file that is not CSV or is not clear and, with `onBadRow: 'fail'`, for a row that cannot be
 * read; after an error and after `end`, they throw an InputError, as a part of the rows would be missing.
 * @example
 * const reader = createCsvReader({ fileName: 'office.csv' }, (series) => stream.push(series));
 * for await (const bytes of createReadStream('office.csv')) reader.push(bytes);
 * const { rows, missing } = reader.end();
 */
export function createCsvReader(options: CsvReaderOptions, onChunk: OnChunk): CsvReader {
  checkReaderOptions(options);
  if (typeof onChunk !== 'function') throw wrongOption('onChunk', 'a function', describeValue(onChunk));
  return new CheckedReader(new FileReader(options, onChunk));
}

/** Checks how a reader is used. */
class CheckedReader implements CsvReader {
  readonly #reader: FileReader;
  #isEnded = false;
  #failure: unknown;

  constructor(reader: FileReader) {
    this.#reader = reader;
  }

  push(bytes: Uint8Array): void {
    if (!isTyped(bytes, 'Uint8Array')) {
      throw wrongOption('bytes', 'a Uint8Array (of a text, new TextEncoder().encode(text))', describeValue(bytes));
    }
    this.#use(() => this.#reader.push(bytes));
  }

  flush(): void {
    this.#use(() => this.#reader.flush());
  }

  end(): CsvSummary {
    const summary = this.#use(() => this.#reader.end());
    this.#isEnded = true;
    return summary;
  }

  columns(): readonly string[] {
    return this.#reader.columns();
  }

  series(): readonly CsvSeriesCount[] {
    return this.#reader.series();
  }

  #use<Result>(work: () => Result): Result {
    if (this.#isEnded) throw new InputError('stream.closed', 'the reader has ended its file; create another');
    if (this.#failure !== undefined) {
      const message = 'the reader has failed before, in the middle of its rows; create another';
      throw new InputError('stream.closed', message, { cause: this.#failure });
    }
    try {
      return work();
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}
