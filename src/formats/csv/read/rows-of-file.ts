import { fileSeriesName, RAW_METRIC, SeriesNaming } from '../../table/naming.js';
import { CsvError } from '../errors.js';
import { namesSeries } from '../head/header.js';
import type { CsvReaderOptions } from '../options.js';
import { createLongRows } from './long.js';
import type { Rows, RowsSettings } from './rows.js';
import { createTableRows } from './table.js';

/** Creates the reader of rows for a file's layout, with the names of its series. */
export function createRows(settings: RowsSettings, options: CsvReaderOptions): Rows {
  const { header } = settings;
  const { fileName, unnamed = fileSeriesName(fileName) } = options;
  const naming = new SeriesNaming(options, (reason, hints) => {
    throw new CsvError('csv.unclear', { file: fileName }, reason, { options: hints });
  });
  if (namesSeries(header)) return createLongRows(settings, naming, unnamed);
  const series = header.values.map(({ column, name }) => {
    const timeseriesId = header.layout === 'single' ? unnamed : name;
    const { reference, isWanted } = naming.nameColumn({ timeseriesId, metric: RAW_METRIC });
    return { timeseriesId: reference.timeseriesId, metric: reference.metric, column, isWanted };
  });
  return createTableRows(settings, series, naming.notes);
}
