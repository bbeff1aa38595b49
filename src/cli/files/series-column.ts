import { WindrowError } from '../../core/errors.js';
import { CsvError } from '../../formats/csv/index.js';
import type { CommandOption, Given } from '../command.js';

/** What `run` calls `--series`, in commands where that names a series. */
const SERIES_COLUMN = '--series-column';

/** Options of `run` with that one under its other name. */
export function withSeriesColumn(options: readonly CommandOption[]): readonly CommandOption[] {
  return options.map((option) =>
    option.flag === '--series'
      ? { ...option, flag: SERIES_COLUMN, summary: `${option.summary} (\`run\` calls this --series)` }
      : option,
  );
}

/** What was given, under the names that `run` has for it. */
export function asForRun(given: Given): Given {
  const columns = given.options.get(SERIES_COLUMN);
  const options = new Map([...given.options].filter(([flag]) => flag !== '--series'));
  if (columns !== undefined) options.set('--series', columns);
  return { ...given, options };
}

/** Reads files; an error that advises `--series` calls it as the command does. */
export async function callingItSeriesColumn<Read>(read: () => Promise<Read>): Promise<Read> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const message = error.message.replace('(--series', `(${SERIES_COLUMN}`);
    throw new WindrowError(error.code, message, { options: error.options, cause: error });
  }
}
