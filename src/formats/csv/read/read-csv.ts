import { DoubleList } from '../../../core/list.js';
import { type Series, type SeriesReference, seriesKey } from '../../../core/series.js';
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
  const columns = new Map<string, { reference: SeriesReference; timeMs: DoubleList; value: DoubleList }>();
  const onChunk = (chunk: readonly Series[]): void => {
    for (const { timeseriesId, metric, timeMs, value } of chunk) {
      const reference = { timeseriesId, metric };
      const key = seriesKey(reference);
      const column = columns.get(key) ?? { reference, timeMs: new DoubleList(), value: new DoubleList() };
      columns.set(key, column);
      column.timeMs.append(timeMs, 0, timeMs.length);
      column.value.append(value, 0, value.length);
    }
  };
  const reader = new FileReader({ fileName: 'csv', ...options }, onChunk, { isPatient: true });
  reader.push(typeof csv === 'string' ? new TextEncoder().encode(csv) : csv);
  const summary = reader.end();
  const series = [...columns.values()].map(({ reference, timeMs, value }) => ({
    ...reference,
    timeMs: timeMs.view().slice(),
    value: value.view().slice(),
  }));
  return { series, summary };
}
