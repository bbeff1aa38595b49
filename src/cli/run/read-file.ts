import { type Series, type SeriesReference, seriesKey } from '../../core/series.js';
import type { CsvSummary } from '../../formats/csv/index.js';
import { openReader } from '../../formats/csv/read/reader.js';
import type { Plan } from '../../plan/plan.js';
import { type InputFile, STANDARD_INPUT } from '../files/inputs.js';
import type { Io } from '../terminal/io.js';
import type { Job, Listener } from './execute.js';

/** What a file held. */
export interface FileOutcome extends CsvSummary {
  /** As the caller wrote it. */
  readonly path: string;
}

/** Where the rows of a file go. */
export interface Reading {
  readonly onChunk: (series: readonly Series[]) => void;
  /** Asked now and then; once it is true, the rest is left and the result is undefined. */
  readonly isStopped: () => boolean;
}

/** Reads one file and hands over the series that the plan reads. */
export async function readFile(
  job: Job,
  { onReject, onRead }: Listener,
  input: InputFile,
  { onChunk, isStopped }: Reading,
  io: Io,
): Promise<FileOutcome | undefined> {
  const { plan, chunkRows, onBadRow } = job;
  const keys = plan.sources.map(seriesKey);
  const wanted = new Set(keys);
  const rename = input.path === '-' ? renameUnnamed(plan) : undefined;
  const { timezone } = job.options;
  const options = {
    fileName: input.name,
    chunkRows,
    onBadRow,
    onReject,
    wanted: (reference: SeriesReference) => wanted.has(seriesKey(rename?.(reference) ?? reference)),
    ...(timezone === undefined ? {} : { timezone }),
  };
  if (job.crew !== undefined) {
    const read = { options, wantedKeys: keys, onChunk, onRead, isStopped };
    const { readWithCrew } = await import('../read-ranges.js');
    const summary = await readWithCrew(input, read, job.crew, io);
    if (summary !== 'alone') return summary && { ...summary, path: input.path };
  }
  const onSeries = rename === undefined ? onChunk : (series: readonly Series[]) => onChunk(series.map(rename));
  const reader = openReader(options, onSeries, { isAlone: true });
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
