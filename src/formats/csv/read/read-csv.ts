import { describeValue, wrongOption } from '../../../core/errors.js';
import type { Series } from '../../../core/series.js';
import { isTyped } from '../../../core/typed-array.js';
import { SeriesParts } from '../../series-parts.js';
import type { CsvReaderOptions, CsvSummary } from '../options.js';
import { checkReaderOptions } from './check-options.js';
import { FileReader } from './reader.js';

/** Options of `readCsv`: those of a reader, with `fileName` optional. */
export type ReadCsvOptions = Partial<Omit<CsvReaderOptions, 'chunkRows'>>;

/**
 * Reads a whole CSV into series, in the order in which they first appear, with samples in the order of the rows. Times
 * are epoch milliseconds in UTC; missing values are NaN.
 *
 * @param csv The text, or its bytes, in any of the layouts (see `createCsvReader`).
 * @throws InputError for an option that does not exist or is of another type.
 * @throws CsvError for a file that is not CSV or is not clear and, unless `onBadRow` is `'skip'`, for a bad row.
 * @example
 * const { series } = readCsv('timestamp,value\n2024-01-01T00:00:00Z,20.5\n', { fileName: 'office.csv' });
 * // [{ timeseriesId: 'office', metric: 'Raw', timeMs: [1704067200000], value: [20.5] }]
 */
export function readCsv(
  csv: string | Uint8Array,
  options: ReadCsvOptions = {},
): { readonly series: Series[]; readonly summary: CsvSummary } {
  checkReaderOptions(options);
  const isText = typeof csv === 'string';
  if (!isText && !isTyped(csv, 'Uint8Array')) throw wrongOption('csv', 'text or its bytes', describeValue(csv));
  const parts = new SeriesParts();
  const own: CsvReaderOptions = { fileName: 'csv', ...options, ...(isText && { encoding: 'utf-8' }) };
  const reader = new FileReader(own, parts.add, { isPatient: true });
  reader.push(isText ? new TextEncoder().encode(csv) : csv);
  const summary = reader.end();
  return { series: parts.joined(), summary };
}
