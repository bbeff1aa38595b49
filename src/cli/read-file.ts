import { type Series, type SeriesReference, seriesKey } from '../core/series.js';
import { type CsvSummary, createCsvReader } from '../formats/csv/index.js';
import type { Plan } from '../plan/plan.js';
import type { Job, Listener } from './execute.js';
import { type InputFile, STANDARD_INPUT } from './inputs.js';

/** What a file held. */
export interface FileOutcome extends CsvSummary {
  /** As the caller wrote it. */
  readonly path: string;
}

/**
 * Reads one file and hands over the series that the plan reads.
 *
 * @param isStopped asked after each block; once it is true, the rest is left and the result is undefined.
 */
export async function readFile(
  { plan, chunkRows, onBadRow, options }: Job,
  { onReject, onRead }: Listener,
  input: InputFile,
  onChunk: (series: readonly Series[]) => void,
  isStopped: () => boolean,
): Promise<FileOutcome | undefined> {
  const wanted = new Set(plan.sources.map(seriesKey));
  const rename = input.path === '-' ? renameUnnamed(plan) : undefined;
  const { timezone } = options;
  const reader = createCsvReader(
    {
      fileName: input.name,
      chunkRows,
      onBadRow,
      onReject,
      wanted: (reference) => wanted.has(seriesKey(rename?.(reference) ?? reference)),
      ...(timezone === undefined ? {} : { timezone }),
    },
    rename === undefined ? onChunk : (series) => onChunk(series.map(rename)),
  );
  for await (const block of input.blocks(onRead)) {
    reader.push(block);
    if (isStopped()) return undefined;
  }
  const summary = reader.end();
  if (isStopped()) return undefined;
  return { ...summary, series: rename === undefined ? summary.series : summary.series.map(rename), path: input.path };
}

// A series is named after its file where nothing else names it, and standard input has no name: where the request
// reads one series alone, it is that.
function renameUnnamed({ sources }: Plan): (<T extends SeriesReference>(reference: T) => T) | undefined {
  const ids = new Set(sources.map(({ timeseriesId }) => timeseriesId));
  const only = sources[0]?.timeseriesId;
  if (ids.size !== 1 || only === undefined) return undefined;
  return (reference) => (reference.timeseriesId === STANDARD_INPUT ? { ...reference, timeseriesId: only } : reference);
}
