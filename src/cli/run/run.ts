import { writtenFormats } from '../../formats/formats.js';
import { argumentOf, type Command, type CommandOption } from '../command.js';
import { badRowOption, inputOptions, requestArgument, spanOptions } from '../files/input-options.js';
import { withTempFiles } from '../files/temp-files.js';
import { runJob } from './job.js';
import { MODES, readSettings } from './settings.js';

const runOptions: readonly CommandOption[] = [
  {
    flag: '--input',
    value: 'FILE',
    isList: true,
    summary: 'files of series, read in this order (`-` for standard input)',
  },
  ...inputOptions,
  { flag: '--output', value: 'FILE', summary: 'where to write the results (default: `-`, standard output)' },
  {
    flag: '--output-format',
    value: 'FORMAT',
    values: writtenFormats.map(({ name }) => name),
    summary: 'csv, ndjson, parquet or arrow (default: by its name, or csv)',
  },
  { flag: '--mode', value: 'MODE', values: MODES, summary: 'batch or stream (default: batch)' },
  { flag: '--chunk', value: 'ROWS', summary: 'rows per chunk; results stay the same' },
  ...spanOptions,
  {
    flag: '--warmup',
    value: 'DURATION',
    summary: 'warm up with samples from this long before --from, or `all`, so that results match those of one run',
  },
  {
    flag: '--lateness',
    value: 'DURATION',
    summary: 'how late the samples of a stream may be, such as PT5M (default: PT0S)',
  },
  { flag: '--threads', value: 'N', summary: 'use up to N threads to read files (default: 1); results stay the same' },
  { flag: '--report', value: 'FILE', summary: 'write a report of the run as JSON' },
  { flag: '--plot', value: 'FILE', summary: 'draw the results as a chart: PNG if the name ends in .png, else SVG' },
  badRowOption,
  { flag: '--rejects', value: 'FILE', summary: 'write skipped rows and late samples as CSV' },
  {
    flag: '--max-output-samples',
    value: 'N',
    summary: 'the most samples that windows and grids may make (default: 100000000)',
  },
  { flag: '--watch', summary: 'run again whenever the request or an input file changes, until Ctrl-C' },
  { flag: '--quiet', summary: 'print no summary on standard error' },
];

export const run: Command = {
  name: 'run',
  summary: 'Run a request over files of series and write the results: CSV, NDJSON, Parquet or Arrow.',
  argument: requestArgument,
  options: runOptions,
  notes: [
    `Tables have columns with names, and one of these layouts:
  long    timestamp,timeseriesId,metric,value
  wide    timestamp,boiler,chiller,...   each column is a series of that name
  single  timestamp,value                one series, named after the file
  days    date,00:00,00:15,...           a day in each row`,
    `Without a column for it, the metric is Raw. Columns may come in any order. CSV may be separated by commas,
semicolons, tabs or bars. Files ending in .gz or .zst are decompressed. A single series on standard input takes the name
of the only series that the request reads, or stdin.`,
    `Ids in the request may be patterns: zone-{n} for every zone in the files, or * for every series. Each zone or
series has its own results in one run; series with plain ids beside patterns are shared by all.`,
    `The run finds out from the names and the first rows how to read dates, decimals and columns, and says so in the
summary. If they are ambiguous, it stops and names the option to use: --series for a column that tells devices apart,
--time-format for dates like 03/04/2024, and so on. Local times that occur twice when clocks go back are told apart by
their order.`,
    `Formats: csv, ndjson (.ndjson, .jsonl), parquet and arrow (.arrow, .feather, .ipc; .arrows: a stream) are read and
written; an array of JSON objects (.json, or as ndjson) and the line protocol of InfluxDB (.lp) are only read. Parquet
and Arrow need optional packages, and times in them are exact to the microsecond. The same layouts work in all formats.
Of Parquet row groups outside --from and --until only the names of series are read.`,
    `The output is timestamp,timeseriesId,metric,value, ordered by result, then by time. An output file appears complete
or not at all. A batch uses little memory as long as every series is in time order. If one is not, the run starts
again, sorts in memory, and says so.`,
    `With --warmup, runs in parts, such as day by day with --from and --until, give what a single run gives: each part
takes the samples before --from into account, and gives the results that were not final by then. If two parts give a
result for the same time, as for a window cut by --until, that of the later part counts. Steps that choose samples, such
as SwingingDoor, Downsample or a Where after a window, choose anew at --until. The input is held in memory.`,
    `With --threads N, up to N threads read large files: one per 16 MB, or per 128 MB if a row is a time and one value.
This is faster when cores are idle, above all for the long and wide layouts, but takes about a third more CPU time.
Streams, compressed files and pipes are always read by one thread.`,
  ],
  examples: [
    {
      line: 'windrow run request.json --input office.csv',
      does: 'results on standard output, a summary on standard error',
    },
    {
      line: 'windrow run request.json --input 2023.csv.gz 2024.csv --output hourly.csv --plot hourly.svg',
      does: 'two files in sequence, into a CSV file and a chart',
    },
    {
      line: 'windrow run request.json --input office.csv --timezone Europe/Berlin --from 2024-01-01 --until 2025-01-01',
      does: 'a year of local days',
    },
    {
      line: 'cat office.csv | windrow run request.json --input - --mode stream --chunk 1000 --lateness PT5M > out.csv',
      does: 'a stream whose samples may be up to five minutes late',
    },
    {
      line: 'windrow run request.json --input office.csv --output hourly.csv --plot hourly.svg --watch',
      does: 'a chart that follows as you edit the request',
    },
    {
      line: 'windrow run request.json --input raw.csv --on-bad-row skip --rejects bad.csv --report report.json',
      does: 'skip bad rows, and keep them and a report',
    },
  ],
  act: async (given, io) => {
    const request = argumentOf(given, run);
    const settings = readSettings(given);
    const runOnce = (): Promise<number> => withTempFiles(io, (temps) => runJob(request, settings, io, temps));
    if (!given.options.has('--watch')) return runOnce();
    const { watchFiles } = await import('./watch.js');
    return watchFiles([request, ...settings.inputs], io, runOnce);
  },
};
