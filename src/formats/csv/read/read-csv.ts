import type { Series } from '../../../core/series.js';
import { SeriesParts } from '../../series-parts.js';
import type { CsvReaderOptions, CsvSummary } from '../options.js';
import { FileReader } from './reader.js';

/** Options of `readCsv`: those of a reader, the name of the file not required. */
export type ReadCsvOptions = Partial<Omit<CsvReaderOptions, 'chunkRows'>>;

/**
 * Reads a whole CSV into series, in order of first sight, samples in the order of the rows. Missing values are NaN,
 * as the engine takes them.
 *
 * @param csv The text, or its bytes in UTF-8, in any of the layouts (see `createCsvReader`).
 * @throws CsvError for what is not CSV, and for a row that cannot be read unless `onBadRow` is `'skip'`.
 * @example
 * const { series } = readCsv('timestamp,value\n2024-01-01T00:00:00Z,20.5\n', { fileName: 'office.csv' });
 * // [{ timeseriesId: 'office', metric: 'Raw', timeMs: [1704067200000], value: [20.5] }]
 */
export function readCsv(
  csv: string | Uint8Array,
  options: ReadCsvOptions = {},
): { readonly series: Series[]; readonly summary: CsvSummary } {
  const parts = new SeriesParts();
  const reader = new FileReader({ fileName: 'csv', ...options }, parts.add, { isPatient: true });
  reader.push(typeof csv === 'string' ? new TextEncoder().encode(csv) : csv);
  const summary = reader.end();
  return { series: parts.joined(), summary };
}
