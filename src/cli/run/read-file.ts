import { InputError } from '../../core/errors.js';
import { type Series, type SeriesReference, seriesKey, seriesName } from '../../core/series.js';
import { nearestName } from '../../core/suggest.js';
import type { CsvSummary, RejectedRow } from '../../formats/csv/index.js';
import { FileReader } from '../../formats/csv/read/reader.js';
import type { RangePool } from '../../formats/csv/threaded/pool.js';
import { readThreaded, type ThreadedRead } from '../../formats/csv/threaded/read-threaded.js';
import type { Plan } from '../../plan/plan.js';
import { counted } from '../command.js';
import { fileFailure } from '../failure.js';
import { type InputFile, openToRead, readNow, STANDARD_INPUT } from '../files/inputs.js';
import type { Io } from '../terminal/io.js';

/** What a file held. */
export interface FileOutcome extends CsvSummary {
  /** As the caller wrote it. */
  readonly path: string;
}

/** How the files of a run are read. */
export interface FileSettings {
  readonly plan: Plan;
  readonly timezone: string | undefined;
  /** Rows given to the engine at once. */
  readonly chunkRows: number;
  readonly onBadRow: 'fail' | 'skip';
  /** Threads that read beside the main one. */
  readonly pool?: RangePool | undefined;
}

/** What is reported while a file is read. */
export interface FileListener {
  readonly onReject: (rejected: RejectedRow) => void;
  readonly onRead: (byteCount: number) => void;
}

/** Where the rows of a file go. */
interface Reading extends FileListener {
  readonly onChunk: (series: readonly Series[]) => void;
  /** Asked after each block; once true, reading stops and the result is undefined. */
  readonly isStopped: () => boolean;
}

/** Reads one file and passes on the series that the plan reads. */
export async function readFile(
  { plan, timezone, chunkRows, onBadRow, pool }: FileSettings,
  input: InputFile,
  { onReject, onRead, onChunk, isStopped }: Reading,
  io: Io,
): Promise<FileOutcome | undefined> {
  const keys = plan.sources.map(seriesKey);
  const wanted = new Set(keys);
  const rename = input.path === '-' ? renameUnnamed(plan) : undefined;
  const options = {
    fileName: input.name,
    chunkRows,
    onBadRow,
    onReject,
    wanted: (reference: SeriesReference) => wanted.has(seriesKey(rename?.(reference) ?? reference)),
    ...(timezone === undefined ? {} : { timezone }),
  };
  if (pool !== undefined && input.isRegular) {
    const read = { options, wantedKeys: keys, onChunk, onRead, isStopped };
    const summary = await readByThreads(input, read, pool, io);
    if (summary !== 'alone') return summary && { ...summary, path: input.path };
  }
  const onSeries = rename === undefined ? onChunk : (series: readonly Series[]) => onChunk(series.map(rename));
  const reader = new FileReader(options, onSeries, { isAlone: true });
  for await (const block of input.blocks(onRead)) {
    reader.push(block);
    if (isStopped()) return undefined;
  }
  const summary = reader.end();
  if (isStopped()) return undefined;
  return { ...summary, series: rename === undefined ? summary.series : summary.series.map(rename), path: input.path };
}

async function readByThreads(
  { path, name, sizeBytes = 0 }: InputFile,
  read: Omit<ThreadedRead, 'descriptor' | 'sizeBytes' | 'rangeBytes' | 'readAt'>,
  pool: RangePool,
  io: Io,
): Promise<CsvSummary | 'alone' | undefined> {
  const descriptor = openToRead(path, io);
  const readAt: ThreadedRead['readAt'] = (block, position) => readNow(io, descriptor, block, name, position);
  try {
    return await readThreaded({ ...read, descriptor, sizeBytes, rangeBytes: io.threads.rangeBytes, readAt }, pool);
  } catch (error) {
    throw fileFailure(error, name, 'read');
  } finally {
    io.fs.closeSync(descriptor);
  }
}

// A single series is named after its file, and standard input has no name. If the request reads only one series, it is
// that one.
function renameUnnamed({ sources }: Plan): (<T extends SeriesReference>(reference: T) => T) | undefined {
  const ids = new Set(sources.map(({ timeseriesId }) => timeseriesId));
  const only = sources[0]?.timeseriesId;
  if (ids.size !== 1 || only === undefined) return undefined;
  return (reference) => (reference.timeseriesId === STANDARD_INPUT ? { ...reference, timeseriesId: only } : reference);
}

const SHOWN_MAX = 12;

/** Checks that the files have every series that the plan reads. @throws InputError naming those that they lack */
export function checkSources({ sources }: Plan, files: readonly FileOutcome[]): void {
  const present = new Map<string, SeriesReference>();
  for (const { series } of files) for (const one of series) present.set(seriesKey(one), one);
  const lacking = sources.filter((source) => !present.has(seriesKey(source)));
  if (lacking.length === 0) return;
  const names = [...present.values()].map(seriesName);
  const lines = lacking.map((source) => `  ${seriesName(source)}${mend(source, [...present.values()], files)}`);
  const verb = lacking.length === 1 ? 'is' : 'are';
  const title = `the request reads ${counted(lacking.length, 'series')} that ${verb} not in the input`;
  throw new InputError('input.missing', [`${title}:`, ...lines, describePresent(names)].join('\n'));
}

function mend(lacking: SeriesReference, present: readonly SeriesReference[], files: readonly FileOutcome[]): string {
  const near = nearestName(seriesName(lacking), present.map(seriesName));
  if (near !== undefined) return `: did you mean \`${near}\`?`;
  const sameId = present.find(({ timeseriesId }) => timeseriesId === lacking.timeseriesId);
  if (sameId !== undefined) return `: that series has the metric \`${sameId.metric}\``;
  const single = files.find(({ layout, path }) => layout === 'single' && path !== '-');
  if (single === undefined) return '';
  return `: a file of times and values holds the series named after it; rename ${single.path}, or the series`;
}

function describePresent(names: readonly string[]): string {
  if (names.length === 0) return 'the input has no series: its files have no rows';
  const more = names.length > SHOWN_MAX ? `, and ${counted(names.length - SHOWN_MAX, 'other')}` : '';
  return `the input has ${names.slice(0, SHOWN_MAX).join(', ')}${more}`;
}
