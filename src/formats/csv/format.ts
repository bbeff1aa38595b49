import type { Series } from '../../core/series.js';
import type { Format } from '../format.js';
import { FileReader } from './read/reader.js';
import { createCsvWriter } from './write/writer.js';

/** CSV, and tables with other separators. */
export const csv: Format = {
  name: 'csv',
  extensions: ['csv', 'tsv', 'txt'],
  read: async ({ blocks }, options, { onChunk, isStopped }) => {
    const onRows = (series: readonly Series[]): void => onChunk(series, reader.rowLine);
    const reader = new FileReader(options, onRows, { isAlone: true, isPatient: true });
    for await (const block of blocks()) {
      reader.push(block);
      if (isStopped()) return undefined;
    }
    const summary = reader.end();
    return isStopped() ? undefined : summary;
  },
  openWriter: async (onBytes) => {
    const writer = createCsvWriter(onBytes);
    return { write: writer.write, end: writer.flush };
  },
};
