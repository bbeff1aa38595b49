import { parseDuration } from '../../core/duration.js';
import { WindrowError } from '../../core/errors.js';
import type { Format } from '../../formats/format.js';
import { formatOf, writtenFormats } from '../../formats/formats.js';
import { countOf, type Given, nameOf, textOf } from '../command.js';
import { formatOption, onBadRowOf, readInputOptions } from '../files/input-options.js';
import { THREADS_MAX } from './thread-count.js';

export const MODES = ['batch', 'stream'] as const;

/** The options of `run`, checked each by itself. */
export type Settings = ReturnType<typeof readSettings>;

const CHUNK_ROWS_MAX = 10_000_000;

/** @throws WindrowError for the first option that is wrong, or that does not go with the mode. */
export function readSettings(given: Given) {
  const inputs = given.options.get('--input') ?? [];
  if (inputs.length === 0) {
    throw new WindrowError(
      'arguments',
      'run: expected --input FILE, received nothing; use `--input -` for standard input',
    );
  }
  const mode = nameOf(given, '--mode', MODES) ?? 'batch';
  const lateness = textOf(given, '--lateness');
  checkLateness(lateness, mode);
  checkWarmup(given, mode);
  return {
    inputs,
    input: readInputOptions(given),
    format: formatOption(given, '--format'),
    outputFormat: outputFormatOf(given),
    output: textOf(given, '--output') ?? '-',
    mode,
    chunkRows: checkedCount(given, '--chunk', CHUNK_ROWS_MAX),
    threads: checkedCount(given, '--threads', THREADS_MAX),
    from: textOf(given, '--from'),
    until: textOf(given, '--until'),
    warmup: textOf(given, '--warmup'),
    timezone: textOf(given, '--timezone'),
    lateness,
    report: textOf(given, '--report'),
    plot: textOf(given, '--plot'),
    onBadRow: onBadRowOf(given),
    rejects: textOf(given, '--rejects'),
    maxOutputSamples: countOf(given, '--max-output-samples', 0) ?? 100_000_000,
    isQuiet: given.options.has('--quiet'),
  };
}

/** Names that promise a format which is not written: a spreadsheet program would call such a file damaged. */
const OTHER_FORMATS = /\.(?:avro|db|duckdb|h5|html?|json|mat|npy|npz|ods|orc|pdf|pkl|sqlite|tsv|xlsx?|xml|zip)$/i;

function outputFormatOf(given: Given): Format {
  const chosen = formatOption(given, '--output-format', writtenFormats);
  const output = textOf(given, '--output') ?? '-';
  const format = chosen ?? formatOf(output);
  const names = writtenFormats.map(({ extensions: [first] }) => `.${first}`).join(', ');
  if (format.openWriter === undefined) {
    const received = `received ${format.name}, only read`;
    throw new WindrowError('arguments', `--output: expected a format that is written (${names}), ${received}`);
  }
  if (chosen === undefined && OTHER_FORMATS.test(output)) {
    const mend = 'or name the format with --output-format';
    throw new WindrowError('arguments', `--output: expected a name that ends in ${names}, received ${output}; ${mend}`);
  }
  return format;
}

function checkedCount(given: Given, flag: string, most: number): number | undefined {
  const count = countOf(given, flag, 1);
  if (count === undefined || count <= most) return count;
  throw new WindrowError('arguments', `${flag}: expected at most ${most}, received ${count}`);
}

function checkWarmup(given: Given, mode: 'batch' | 'stream'): void {
  const warmup = textOf(given, '--warmup');
  if (warmup === undefined) return;
  if (warmup !== 'all' && parseDuration(warmup) === undefined) {
    const received = JSON.stringify(warmup);
    throw new WindrowError(
      'arguments',
      `--warmup: expected an ISO 8601 duration like P1D, or all, received ${received}`,
    );
  }
  if (mode === 'stream' || textOf(given, '--from') === undefined) {
    const hint =
      mode === 'stream' ? 'a stream warms up by what it was given; leave --mode stream out' : 'add --from TIME';
    throw new WindrowError('arguments', `--warmup: expected only in a batch with --from; ${hint}`);
  }
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
