// The entry point `windrow/csv`.
export { type CsvColumn, CsvError } from './errors.js';
export type {
  CsvLayout,
  CsvReader,
  CsvReaderOptions,
  CsvSeriesCount,
  CsvSummary,
  OnChunk,
  RejectedRow,
} from './options.js';
export { createCsvReader } from './read/csv-reader.js';
export { type ReadCsvOptions, readCsv } from './read/read-csv.js';
export {
  type CsvWriter,
  type CsvWriterOptions,
  createCsvWriter,
  csvHeader,
  type OnBytes,
  writeCsv,
} from './write/writer.js';
