import { formatInstant } from '../../../core/instant.js';
import type { Series } from '../../../core/series.js';
import { LINE_FEED } from '../bytes.js';
import { createDayPrefix, NUMBER_LENGTH_MAX, putNumber, putText, putTime, TIME_LENGTH_MAX } from './put.js';

/** The header of the CSV that windrow writes, with its line end. */
export const csvHeader = 'timestamp,timeseriesId,metric,value\n';

/** Options of a writer. */
export interface CsvWriterOptions {
  /** Whether the header comes first; true without it. */
  readonly hasHeader?: boolean;
}

/** Writes series as CSV, row by row, into a buffer that is handed over when it is full. */
export interface CsvWriter {
  /** Writes the samples of a series. */
  write(series: Series): void;
  /** Hands over what is in the buffer. */
  flush(): void;
}

/** Takes bytes that are valid during the call alone; they end with a line. */
export type OnBytes = (bytes: Uint8Array) => void;

// A writer for each of many results has to be cheap.
const BUFFER_BYTES = 16_384;

/**
 * Writes `timestamp,timeseriesId,metric,value` in UTF-8, rows in the order given. Times are UTC (`formatInstant`),
 * numbers the shortest decimal that reads back, names in quotes where RFC 4180 asks for it (and where they are empty
 * or have outer spaces). The header counts as written from the start, so that no rows still make a CSV.
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
 * Series as the text of a CSV: `timestamp,timeseriesId,metric,value`, in order of series, then of samples.
 *
 * @example
 * writeCsv(runBatch(plan, inputs).series);
 */
export function writeCsv(series: readonly Series[]): string {
  const decoder = new TextDecoder();
  const texts: string[] = [];
  const writer = createCsvWriter((bytes) => texts.push(decoder.decode(bytes)));
  for (const one of series) writer.write(one);
  writer.flush();
  return texts.join('');
}
