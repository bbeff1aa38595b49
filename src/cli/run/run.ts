import { argumentOf, type Command } from '../command.js';
import { interruptible } from '../terminal/interruptible.js';
import { runJob } from './job.js';
import { readSettings, runOptions } from './settings.js';

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
    return interruptible(io, (temps) => runJob(request, settings, io, temps));
  },
};
