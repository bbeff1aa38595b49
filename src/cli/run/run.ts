import { parseDuration } from '../../core/duration.js';
import { WindrowError } from '../../core/errors.js';
import { argumentOf, type Command, type CommandOption, countOf, type Given, nameOf, textOf } from '../command.js';
import { withTempFiles } from '../files/temp-files.js';
import { runJob } from './job.js';
import { THREADS_MAX } from './thread-count.js';

const runOptions: readonly CommandOption[] = [
  { flag: '--input', value: 'FILE', isList: true, summary: 'CSV files, read in this order; `-` is standard input' },
  { flag: '--output', value: 'FILE', summary: 'where the results go (default: `-`, standard output)' },
  { flag: '--mode', value: 'MODE', summary: 'batch or stream (default: batch)' },
  {
    flag: '--chunk',
    value: 'ROWS',
    summary: 'rows given to the engine at once; the results are the same for any number',
  },
  { flag: '--from', value: 'TIME', summary: 'leave out samples before this instant, like 2024-01-31T12:00:00Z' },
  { flag: '--until', value: 'TIME', summary: 'leave out samples at or after this instant' },
  { flag: '--timezone', value: 'ZONE', summary: 'for local days and times without an offset (default: UTC)' },
  {
    flag: '--lateness',
    value: 'DURATION',
    summary: 'how late samples of a stream may come, like PT5M (default: PT0S)',
  },
  {
    flag: '--threads',
    value: 'N',
    summary: 'threads to read files with at most (default: 1); the results are the same for any number',
  },
  { flag: '--report', value: 'FILE', summary: 'write an account of the run as JSON' },
  { flag: '--plot', value: 'FILE', summary: 'draw the results as SVG' },
  { flag: '--on-bad-row', value: 'WHAT', summary: 'fail or skip, at a row that cannot be read (default: fail)' },
  { flag: '--rejects', value: 'FILE', summary: 'write rows skipped and samples that came too late, as CSV' },
  { flag: '--max-output-samples', value: 'N', summary: 'the most that a step may make (default: 100000000)' },
  { flag: '--quiet', summary: 'no summary on standard error' },
];

export const run: Command = {
  name: 'run',
  summary: 'Run a request over CSV files, and write the results as CSV.',
  argument: { name: 'REQUEST.json', summary: 'the request; `-` is standard input' },
  options: runOptions,
  notes: [
    `Input files have a header, and one of three layouts:
  long    timestamp,timeseriesId,metric,value   the metric is Raw where there is no such column
  wide    timestamp,boiler,chiller,...          each column is the series of its name, metric Raw
  single  timestamp,value                       one series, named after the file without .csv; metric Raw
Columns stand in any order, with commas, semicolons or tabs; files named .gz are unpacked. From standard input the
single layout gives the series that the request reads, if it reads one alone; else it is named stdin.`,
    `The output is timestamp,timeseriesId,metric,value in order of results, then of time. Every file that is written
appears whole or not at all. A batch needs little memory while each series is in time order; if one is not, the run
starts again and sorts it in memory, and says so.`,
    `With --threads N, large files are read by several threads: one for each 16 MB, for each 128 MB where rows are a
time and a value. It pays on idle cores, most of all for the long and the wide layout, and costs a third more processor
time, so it is for you to ask. A stream, compressed files and pipes are read by one.`,
  ],
  examples: [
    {
      line: 'windrow run request.json --input office.csv',
      does: 'results on standard output, a summary on standard error',
    },
    {
      line: 'windrow run request.json --input 2023.csv.gz 2024.csv --output hourly.csv --plot hourly.svg',
      does: 'two files one after the other, into a CSV file and a chart',
    },
    {
      line: 'windrow run request.json --input office.csv --timezone Europe/Berlin --from 2024-01-01 --until 2025-01-01',
      does: 'a year of local days',
    },
    {
      line: 'cat office.csv | windrow run request.json --input - --mode stream --chunk 1000 --lateness PT5M > out.csv',
      does: 'as a stream, samples up to five minutes late',
    },
    {
      line: 'windrow run request.json --input raw.csv --on-bad-row skip --rejects bad.csv --report report.json',
      does: 'leave bad rows out, and keep an account of everything',
    },
  ],
  act: async (given, io) => {
    const request = argumentOf(given, run);
    const settings = readSettings(given);
    return withTempFiles(io, (temps) => runJob(request, settings, io, temps));
  },
};

/** The options of `run`, checked each by itself. */
export interface Settings {
  readonly inputs: readonly string[];
  readonly output: string;
  readonly mode: 'batch' | 'stream';
  readonly chunkRows: number;
  /** Threads at most; undefined where nobody says. */
  readonly threads: number | undefined;
  readonly from: string | undefined;
  readonly until: string | undefined;
  readonly timezone: string | undefined;
  readonly lateness: string | undefined;
  readonly report: string | undefined;
  readonly plot: string | undefined;
  readonly onBadRow: 'fail' | 'skip';
  readonly rejects: string | undefined;
  readonly maxOutputSamples: number;
  readonly isQuiet: boolean;
}

// Two columns of it stay in the second cache between the reader and the engine.
const CHUNK_ROWS = 8192;
const CHUNK_ROWS_MAX = 10_000_000;

function readSettings(given: Given): Settings {
  const inputs = given.options.get('--input') ?? [];
  if (inputs.length === 0) {
    throw new WindrowError('arguments', 'run: expected --input FILE.csv, received none; `--input -` is standard input');
  }
  const mode = nameOf(given, '--mode', ['batch', 'stream']) === 'stream' ? 'stream' : 'batch';
  const lateness = textOf(given, '--lateness');
  checkLateness(lateness, mode);
  return {
    inputs,
    output: textOf(given, '--output') ?? '-',
    mode,
    chunkRows: checkedCount(given, '--chunk', CHUNK_ROWS_MAX) ?? CHUNK_ROWS,
    threads: checkedCount(given, '--threads', THREADS_MAX),
    from: textOf(given, '--from'),
    until: textOf(given, '--until'),
    timezone: textOf(given, '--timezone'),
    lateness,
    report: textOf(given, '--report'),
    plot: textOf(given, '--plot'),
    onBadRow: nameOf(given, '--on-bad-row', ['fail', 'skip']) === 'skip' ? 'skip' : 'fail',
    rejects: textOf(given, '--rejects'),
    maxOutputSamples: countOf(given, '--max-output-samples', 0) ?? 100_000_000,
    isQuiet: given.options.has('--quiet'),
  };
}

function checkedCount(given: Given, flag: string, most: number): number | undefined {
  const count = countOf(given, flag, 1);
  if (count === undefined || count <= most) return count;
  throw new WindrowError('arguments', `${flag}: expected at most ${most}, received ${count}`);
}

function checkLateness(lateness: string | undefined, mode: 'batch' | 'stream'): void {
  if (lateness === undefined) return;
  if (parseDuration(lateness) === undefined) {
    const received = JSON.stringify(lateness);
    throw new WindrowError('arguments', `--lateness: expected an ISO 8601 duration like PT5M, received ${received}`);
  }
  if (mode === 'batch') {
    const hint = 'a batch takes samples in any order; leave --lateness out, or add --mode stream';
    throw new WindrowError('arguments', `--lateness: expected only with --mode stream; ${hint}`);
  }
}
