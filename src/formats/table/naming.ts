import type { OptionHint } from '../../core/errors.js';
import { type SeriesReference, seriesKey, seriesName } from '../../core/series.js';

/** The metric of samples in a file that names none. */
export const RAW_METRIC = 'Raw';

export interface NamingOptions {
  readonly as?: SeriesReference | undefined;
  readonly wanted?: (reference: SeriesReference) => boolean;
}

/** The series that a series of a file is read as. */
export interface Named {
  readonly reference: SeriesReference;
  readonly isWanted: boolean;
}

const UNIT = /^(.*\S)\s*(?:\[[^\]]*\]|\([^)]*\)|\s[°%]\S{0,2})$/;

/** Names the series of a file: as the file does, without a unit if the caller does, or as the caller says (`as`). */
export class SeriesNaming {
  readonly #options: NamingOptions;
  readonly #fail: (reason: string, options: readonly OptionHint[]) => never;
  readonly #notes: string[] = [];
  #first: SeriesReference | undefined;

  constructor(options: NamingOptions, fail: (reason: string, options: readonly OptionHint[]) => never) {
    this.#options = options;
    this.#fail = fail;
  }

  get notes(): readonly string[] {
    return this.#notes;
  }

  /** The name for a series of the file. Called once for each series. */
  name(reference: SeriesReference): Named {
    const { as, wanted = () => true } = this.#options;
    if (as === undefined) return { reference, isWanted: wanted(reference) };
    this.#failAtSecond(reference);
    if (seriesKey(as) !== seriesKey(reference)) this.#notes.push(`${seriesName(reference)} as ${seriesName(as)}`);
    return { reference: as, isWanted: wanted(as) };
  }

  /** The name for a series that is a column, whose name may have a unit. */
  nameColumn(reference: SeriesReference): Named {
    const { as, wanted = () => true } = this.#options;
    const [, timeseriesId] = UNIT.exec(reference.timeseriesId) ?? [];
    if (as !== undefined || wanted(reference)) return this.name(reference);
    const bare = timeseriesId === undefined ? undefined : { ...reference, timeseriesId };
    if (bare === undefined || !wanted(bare)) return { reference, isWanted: false };
    this.#notes.push(`${reference.timeseriesId} as ${timeseriesId}`);
    return { reference: bare, isWanted: true };
  }

  #failAtSecond(reference: SeriesReference): void {
    const first = this.#first;
    this.#first ??= reference;
    if (first === undefined || seriesKey(first) === seriesKey(reference)) return;
    const told = `it has several series, among them ${seriesName(first)} and ${seriesName(reference)}`;
    const mend = 'choose one column with the option value (--value)';
    this.#fail(`${told}, which one name cannot stand for (--as); ${mend}`, [{ option: 'value' }, { option: 'as' }]);
  }
}

/** The id of a series that the file does not name: the file's name without its folder and extensions. */
export function fileSeriesName(fileName: string): string {
  const name = fileName.slice(Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\')) + 1);
  if (name === '-') return 'stdin';
  const unpacked = name.replace(/\.(?:gz|zst)$/i, '');
  return unpacked.replace(/\.(?:csv|tsv|txt|ndjson|jsonl?|lp|parquet|arrow|feather|ipc|arrows)$/i, '') || name;
}
