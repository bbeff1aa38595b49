import { describeValue, wrongOption } from '../../../core/errors.js';
import { formatInstant } from '../../../core/instant.js';
import type { Series } from '../../../core/series.js';
import { checkColumns, checkTimes } from '../../../engine/check-input.js';
import { LINE_FEED } from '../bytes.js';
import { createDayPrefix, NUMBER_LENGTH_MAX, putNumber, putText, putTime, TIME_LENGTH_MAX } from './put.js';

/** The header of the CSV that windrow writes, with its line end. */
export const csvHeader = 'timestamp,timeseriesId,metric,value\n';

/** Options of a writer. */
export interface CsvWriterOptions {
  /** Whether to write the header first; true by default. */
  readonly hasHeader?: boolean;
}

/** Writes series as CSV, row by row, into a buffer that is passed on when it is full. */
export interface CsvWriter {
  /** Writes the samples of a series. */
  write(series: Series): void;
  /** Passes on what is in the buffer. */
  flush(): void;
}

/** Takes bytes that are valid only during the call. They end at the end of a line. */
export type OnBytes = (bytes: Uint8Array) => void;

// Small, as there may be a writer for each of many results.
const BUFFER_BYTES = 16_384;

/**
 * Writes `timestamp,timeseriesId,metric,value` in UTF-8, with rows in the order given. Times are ISO 8601 in UTC,
 * numbers the shortest decimals that read back to the same double. Names are quoted as RFC 4180 requires, and if they
 * are empty or have outer spaces. The header is written even if there are no rows.
 *
 * @example
 * const writer = createCsvWriter((bytes) => writeSync(file, bytes));
 * for (const series of run.series) writer.write(series);
 * writer.flush();
 */
export function createCsvWriter(onBytes: OnBytes, { hasHeader = true }: CsvWriterOptions = {}): CsvWriter {
  const encoder = new TextEncoder();
  const day = createDayPrefix();
  let buffer = new Uint8Array(0);
  let at = 0;
  if (hasHeader) {
    makeRoom(csvHeader.length);
    at = putText(buffer, at, csvHeader);
  }

  function flush(): void {
    if (at > 0) onBytes(buffer.subarray(0, at));
    at = 0;
  }

  function makeRoom(byteCount: number): void {
    if (at + byteCount <= buffer.length) return;
    flush();
    if (byteCount > buffer.length) buffer = new Uint8Array(Math.max(BUFFER_BYTES, byteCount));
  }

  function write(series: Series): void {
    const { timeMs, value } = series;
    const name = encoder.encode(nameFields(series));
    const rowBytes = TIME_LENGTH_MAX + name.length + NUMBER_LENGTH_MAX + 1;
    for (let row = 0; row < timeMs.length; row++) {
      makeRoom(rowBytes);
      const afterTime = putTime(buffer, at, timeMs[row]!, day);
      if (afterTime >= 0) at = afterTime;
      else putUnusualTime(timeMs[row]!, rowBytes);
      for (let i = 0; i < name.length; i++) buffer[at++] = name[i]!;
      at = putNumber(buffer, at, value[row]!);
      buffer[at++] = LINE_FEED;
    }
  }

  function putUnusualTime(timeMs: number, rowBytes: number): void {
    const text = formatInstant(timeMs);
    makeRoom(text.length + rowBytes);
    at = putText(buffer, at, text);
  }

  return { write, flush };
}

// The fields between the time and the value, with the commas around them.
function nameFields({ timeseriesId, metric }: Series): string {
  return `,${quoteName(timeseriesId)},${quoteName(metric)},`;
}

function quoteName(name: string): string {
  return /^$|^\s|\s$|[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

/**
 * The series as CSV text: `timestamp,timeseriesId,metric,value`, series by series, each in the order of its samples.
 *
 * @throws InputError for what is no array, for columns that do not fit together or are of a disposed run, and for times
 *   outside the years 0001 to 9999.
 * @example
 * writeCsv(runBatch(plan, inputs).series);
 */
export function writeCsv(series: readonly Series[]): string {
  if (!Array.isArray(series)) throw wrongOption('series', 'an array of series', describeValue(series));
  const decoder = new TextDecoder();
  const texts: string[] = [];
  const writer = createCsvWriter((bytes) => texts.push(decoder.decode(bytes)));
  for (const one of series) {
    checkColumns(one);
    checkTimes(one);
    writer.write(one);
  }
  writer.flush();
  return texts.join('');
}
