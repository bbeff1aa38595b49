import { describeValue } from '../../core/errors.js';
import { patternOf } from '../../core/pattern.js';
import type { Series, SeriesReference } from '../../core/series.js';
import { SourceMatcher } from '../../core/source-matcher.js';
import { CsvError, type CsvSummary, type RejectedRow } from '../../formats/csv/index.js';
import type { RangePool } from '../../formats/csv/threaded/pool.js';
import { readThreaded, type ThreadedRead } from '../../formats/csv/threaded/read-threaded.js';
import type { Format, FormatOptions } from '../../formats/format.js';
import { formatOf } from '../../formats/formats.js';
import { SeriesParts } from '../../formats/series-parts.js';
import type { Plan } from '../../plan/plan.js';
import { counted, defined } from '../command.js';
import { fileFailure } from '../failure.js';
import type { InputOptions } from '../files/input-options.js';
import { checkLength, type InputFile, openToRead, readNow, STANDARD_INPUT } from '../files/inputs.js';
import type { Io } from '../terminal/io.js';
import { checkSources } from './check-sources.js';
import type { FileOutcome } from './file-outcome.js';

/** How the files of a run are read. */
export interface FileSettings {
  readonly plan: Plan;
  readonly timezone: string | undefined;
  /** How many rows are pushed into the engine at once; undefined for the reader's own choice. */
  readonly chunkRows?: number | undefined;
  readonly onBadRow: 'fail' | 'skip';
  /** What the caller says about the files. */
  readonly input: InputOptions;
  /** The format of all files; by default that of each file's name. */
  readonly format?: Format | undefined;
  /** The span outside of which samples may be left unread. */
  readonly span?: Pick<FormatOptions, 'fromMs' | 'untilMs'> | undefined;
  /** Threads that read besides the main one. */
  readonly pool?: RangePool | undefined;
}

/** What is reported while a file is read. */
export interface FileListener {
  readonly onReject: (rejected: RejectedRow) => void;
  readonly onRead: (byteCount: number) => void;
}

/** Where the rows of a file go. */
interface Reading extends FileListener {
  /** Takes series and, except from threads, the line on which the last row read begins. */
  readonly onChunk: (series: readonly Series[], line?: number) => void;
  /** Called after each block; once it returns true, reading stops and the result is undefined. */
  readonly isStopped: () => boolean;
}

/** Reads one file and passes on the series that the plan reads. @throws CsvError, also if no row can be read. */
export async function readFile(
  { plan, timezone, chunkRows, onBadRow, input: given, format, span, pool }: FileSettings,
  input: InputFile,
  { onReject, onRead, onChunk, isStopped }: Reading,
  io: Io,
): Promise<FileOutcome | undefined> {
  const matcher = new SourceMatcher(plan.sources);
  let firstReject: RejectedRow | undefined;
  const options = {
    ...given,
    ...span,
    fileName: input.name,
    unnamed: unnamedOf(plan, input),
    chunkRows,
    onBadRow,
    onReject: (rejected: RejectedRow) => {
      firstReject ??= rejected;
      onReject(rejected);
    },
    wanted: (reference: SeriesReference) => matcher.wants(reference),
    isNamed: (reference: SeriesReference) => matcher.names(reference),
    ...defined({ timezone }),
  };
  const reading = { onReject, onRead, onChunk, isStopped };
  const of = format ?? formatOf(input.path);
  const summary = await readSummary(of, options, plan.sources, input, reading, io, pool);
  if (summary === undefined) return undefined;
  if (summary.rows === 0 && firstReject !== undefined) throw allBad(input, summary, firstReject);
  return { ...summary, path: input.path };
}

/** Reads files into memory: the series that the plan reads, each in the order of its rows. @throws WindrowError */
export async function readAll(
  settings: FileSettings,
  inputs: readonly InputFile[],
  listener: FileListener,
  io: Io,
): Promise<{ readonly series: Series[]; readonly files: readonly FileOutcome[] }> {
  const parts = new SeriesParts();
  const files: FileOutcome[] = [];
  for (const input of inputs) {
    const file = await readFile(settings, input, { ...listener, onChunk: parts.add, isStopped: () => false }, io);
    if (file !== undefined) files.push(file);
  }
  checkSources(settings.plan, files);
  return { series: parts.joined(), files };
}

async function readSummary(
  format: Format,
  options: FormatOptions,
  sources: readonly SeriesReference[],
  input: InputFile,
  { onRead, onChunk, isStopped }: Reading,
  io: Io,
  pool: RangePool | undefined,
): Promise<CsvSummary | undefined> {
  if (pool !== undefined && input.isRegular && format.name === 'csv') {
    const summary = await readByThreads(input, { options, sources, onChunk, onRead, isStopped }, pool, io);
    if (summary !== 'alone') return summary;
  }
  return readFormat(format, options, input, { onRead, onChunk, isStopped }, io);
}

/** Reads a file in its format; undefined where it was stopped. */
export async function readFormat(
  format: Format,
  options: FormatOptions,
  input: InputFile,
  { onRead, ...listener }: Pick<Reading, 'onRead' | 'onChunk' | 'isStopped'>,
  io: Io,
): Promise<CsvSummary | undefined> {
  const source = { name: input.name, blocks: (): AsyncIterable<Uint8Array> => input.blocks(onRead) };
  if (format.name === 'csv' || !input.isRegular) return format.read(source, options, listener);
  return readOpened(input, io, (_, sizeBytes, readAt) =>
    format.read({ ...source, random: { sizeBytes, readAt } }, options, listener),
  );
}

/** What there is to tell of a file: what was concluded from it, and how many of its rows were left out. */
export function notesOf({ notes, rejected }: CsvSummary): string[] {
  return rejected === 0 ? [...notes] : [...notes, `${counted(rejected, 'bad row')} left out`];
}

/** Opens a file for a reader that reads at any place of it, which may take what is missing for zeros. */
async function readOpened<Result>(
  { path, name, sizeBytes = 0 }: InputFile,
  io: Io,
  read: (descriptor: number, sizeBytes: number, readAt: ThreadedRead['readAt']) => Promise<Result>,
): Promise<Result> {
  const descriptor = openToRead(path, io);
  try {
    const [ended] = await Promise.allSettled([
      read(descriptor, sizeBytes, (bytes, position) => readNow(io, descriptor, bytes, name, position)),
    ]);
    // What is missing may have ended the reading, too.
    checkLength(descriptor, sizeBytes, name, io);
    if (ended.status === 'rejected') throw ended.reason;
    return ended.value;
  } finally {
    io.fs.closeSync(descriptor);
  }
}

// Some skipped rows are acceptable; a file with nothing else is an error.
function allBad({ path, name }: InputFile, { rejected }: CsvSummary, first: RejectedRow): CsvError {
  const { line, column, text, reason, options } = first;
  const rows = rejected === 1 ? 'its only row is' : `all ${counted(rejected, 'row')} are`;
  const place = column === undefined ? '' : `, column ${column.number} (${column.name})`;
  const problem = `${describeValue(text)} ${reason}`;
  const message = `${rows} bad, so nothing is left to compute; the first is line ${line}${place}: ${problem}`;
  return new CsvError('csv.row', { file: path === '-' ? name : path }, message, { text, options });
}

/**
 * The id of a series that standard input does not name: that of the only series that the request reads, or `stdin`.
 * Undefined for a file, whose name is used.
 */
function unnamedOf({ sources }: Plan, { path }: InputFile): string | undefined {
  if (path !== '-') return undefined;
  const ids = new Set(sources.map(({ timeseriesId }) => timeseriesId));
  const [id = STANDARD_INPUT] = ids;
  return ids.size === 1 && patternOf(id) === undefined ? id : STANDARD_INPUT;
}

async function readByThreads(
  input: InputFile,
  read: Omit<ThreadedRead, 'descriptor' | 'sizeBytes' | 'rangeBytes' | 'readAt'>,
  pool: RangePool,
  io: Io,
): Promise<CsvSummary | 'alone' | undefined> {
  const { rangeBytes } = io.threads;
  try {
    return await readOpened(input, io, (descriptor, sizeBytes, readAt) =>
      readThreaded({ ...read, descriptor, sizeBytes, rangeBytes, readAt }, pool),
    );
  } catch (error) {
    throw fileFailure(error, input.name, 'read');
  }
}
