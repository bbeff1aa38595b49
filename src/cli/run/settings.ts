import { parseDuration } from '../../core/duration.js';
import { WindrowError } from '../../core/errors.js';
import { type CommandOption, countOf, type Given, nameOf, textOf } from '../command.js';
import { THREADS_MAX } from './thread-count.js';

export const runOptions: readonly CommandOption[] = [
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

export function readSettings(given: Given): Settings {
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
