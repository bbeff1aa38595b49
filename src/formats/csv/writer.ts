import { formatInstant } from '../../core/instant.js';
import type { Series } from '../../core/series.js';

/** The header of the CSV that windrow writes, in bytes, with its line end. Not to be changed. */
export const csvHeader: Uint8Array = new TextEncoder().encode('timestamp,timeseriesId,metric,value\n');

/** Takes bytes that are valid during the call alone. */
export type OnBytes = (bytes: Uint8Array) => void;

/** Writes the header once, then rows. */
export interface CsvWriter {
  /** Writes the samples of a series. */
  write(series: Series): void;
}

/**
 * Writes `timestamp,timeseriesId,metric,value` in UTF-8, rows in the order given, the header at once. Times are UTC
 * (`formatInstant`), numbers the shortest decimal that reads back; names are quoted where RFC 4180 asks for it.
 *
 * @example
 * const writer = createCsvWriter((bytes) => writeSync(file, bytes));
 * for (const series of run.series) writer.write(series);
 */
export function createCsvWriter(onBytes: OnBytes): CsvWriter {
  onBytes(csvHeader);
  return { write: (series) => encodeRows(series, onBytes) };
}

/**
 * The samples of a series as rows of a CSV without its header, handed over in pieces that end with a row.
 *
 * @param onBytes must not call `encodeRows` again.
 */
export function encodeRows(series: Series, onBytes: OnBytes): void {
  const rows: string[] = [];
  for (let row = 0; row < series.timeMs.length; row++) rows.push(formatRow(series, row));
  onBytes(new TextEncoder().encode(rows.join('')));
}

/** The plain form of a row, to which the fast one is held. */
export function formatRow(series: Series, row: number): string {
  const name = `${quoteName(series.timeseriesId)},${quoteName(series.metric)}`;
  return `${formatInstant(series.timeMs[row]!)},${name},${String(series.value[row]!)}\n`;
}

/** A name as a field: in quotes where it holds a separator, a quote, a line end or outer spaces, or is empty. */
export function quoteName(name: string): string {
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
  return texts.join('');
}
