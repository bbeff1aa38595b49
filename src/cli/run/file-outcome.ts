import { type SeriesReference, seriesKey } from '../../core/series.js';
import type { CsvSummary } from '../../formats/csv/index.js';

/** What a file held. */
export interface FileOutcome extends CsvSummary {
  /** As the caller wrote it. */
  readonly path: string;
}

/** The series that files held, each once. */
export function presentIn(files: readonly FileOutcome[]): SeriesReference[] {
  const present = new Map<string, SeriesReference>();
  for (const { series } of files) for (const one of series) present.set(seriesKey(one), one);
  return [...present.values()];
}
