import { formatDuration } from '../core/duration.js';
import { InputError, WindrowError } from '../core/errors.js';
import type { IntervalName } from '../core/interval.js';
import { patternOf } from '../core/pattern.js';
import { type Series, type SeriesReference, seriesKey, seriesName } from '../core/series.js';
import { formatOf } from '../formats/formats.js';
import { argumentOf, type Command, counted, defined, type Given, shellWord, textOf } from './command.js';
import { EXIT_DONE } from './failure.js';
import { badRowOption, formatOption, inputOptions, onBadRowOf, readInputOptions } from './files/input-options.js';
import { openInputs } from './files/inputs.js';
import { openTarget } from './files/target.js';
import { type TempFiles, withTempFiles } from './files/temp-files.js';
import { notesOf, readFormat } from './run/read-file.js';
import type { Io } from './terminal/io.js';

export const init: Command = {
  name: 'init',
  summary: 'Look at a file and write a request to start from.',
  argument: { name: 'FILE', summary: 'any file that `run` reads' },
  options: [
    { flag: '--output', value: 'FILE', summary: 'where to write the request (default: `-`, standard output)' },
    { flag: '--timezone', value: 'ZONE', summary: 'time zone of times without an offset (default: UTC)' },
    ...inputOptions,
    badRowOption,
  ],
  notes: [
    `The request averages each series over windows that suit the distance between its samples; edit it from there.
A summary of the file goes to standard error.`,
  ],
  examples: [
    { line: 'windrow init office.csv --output request.json', does: 'write a request that `run` takes as it is' },
    { line: 'windrow init office.csv | windrow run - --input office.csv', does: 'try it at once' },
  ],
  act: async (given, io) => {
    const path = argumentOf(given, init);
    return withTempFiles(io, async (temps) => {
      const output = textOf(given, '--output') ?? '-';
      refuseExisting(output, io);
      const found = await lookInto(path, given, io, temps);
      const target = await openTarget(output, io, temps);
      await target.write(new TextEncoder().encode(requestFor(found.series)));
      target.keep();
      await io.stderr.write(describe(path, given, found));
      return EXIT_DONE;
    });
  },
};

/** A request with more items would be no good start. */
const ITEMS_MAX = 20;

function refuseExisting(path: string, io: Io): void {
  if (path === '-' || io.fs.statSync(path, { throwIfNoEntry: false }) === undefined) return;
  throw new WindrowError('arguments', `--output: ${path} exists already; remove it, or name another file`);
}

/** What is known of a series after reading its samples. */
interface Found {
  readonly series: SeriesReference;
  count: number;
  missing: number;
  firstMs: number;
  lastMs: number;
  /** The first distances between samples; their median is the usual one. */
  readonly steps: number[];
}

interface Content {
  readonly series: readonly Found[];
  /** Series that a request cannot name: it would take their ids for patterns. */
  readonly patterns: readonly Found[];
  /** What was told from the file and is not plain, such as columns of texts, which are left out. */
  readonly notes: readonly string[];
}

const STEPS_LOOKED_AT = 1000;
const CHUNK_ROWS = 65_536;

async function lookInto(path: string, given: Given, io: Io, temps: TempFiles): Promise<Content> {
  const found = new Map<string, Found>();
  const notes: string[] = [];
  const timezone = textOf(given, '--timezone');
  const said = {
    ...readInputOptions(given),
    onBadRow: onBadRowOf(given),
    chunkRows: CHUNK_ROWS,
    areTextsLeft: true,
    ...defined({ timezone }),
  };
  const format = formatOption(given, '--format');
  for (const input of openInputs([path], false, io, temps)) {
    const options = { ...said, fileName: input.name };
    const onChunk = (parts: readonly Series[]): void => {
      for (const part of parts) note(found, part);
    };
    const listener = { onRead: () => undefined, onChunk, isStopped: () => false };
    const summary = await readFormat(format ?? formatOf(input.path), options, input, listener, io);
    notes.push(...notesOf(summary!)); // it is never stopped
  }
  const series = [...found.values()].filter((one) => !isPattern(one));
  const patterns = [...found.values()].filter(isPattern);
  if (series.length > 0) return { series, patterns, notes };
  const [pattern] = patterns;
  const problem =
    pattern === undefined
      ? 'expected samples, received a file with no rows, or only bad ones'
      : `expected a series that a request can name, received ${seriesName(pattern.series)}: its id is a pattern`;
  throw new InputError('input.missing', `${path}: ${problem}`);
}

function isPattern({ series: { timeseriesId } }: Found): boolean {
  return patternOf(timeseriesId) !== undefined || timeseriesId.includes('*');
}

function note(found: Map<string, Found>, { timeseriesId, metric, timeMs, value }: Series): void {
  const series = { timeseriesId, metric };
  const one = found.get(seriesKey(series)) ?? {
    series,
    count: 0,
    missing: 0,
    firstMs: Number.POSITIVE_INFINITY,
    lastMs: Number.NEGATIVE_INFINITY,
    steps: [],
  };
  found.set(seriesKey(series), one);
  for (const [index, at] of timeMs.entries()) {
    if (Number.isNaN(value[index])) {
      one.missing++;
      continue;
    }
    if (one.count > 0 && one.steps.length < STEPS_LOOKED_AT) one.steps.push(Math.abs(at - one.lastMs));
    one.count++;
    one.firstMs = Math.min(one.firstMs, at);
    one.lastMs = Math.max(one.lastMs, at);
  }
}

function usualStepMs({ steps }: Found): number {
  return [...steps].sort((a, b) => a - b)[steps.length >> 1] ?? 0;
}

const QUARTER_MS = 900_000;

/** An interval whose windows have at least about four samples. */
function intervalFor(found: Found): IntervalName {
  const stepMs = usualStepMs(found);
  if (stepMs > 0 && stepMs <= QUARTER_MS) return 'Hourly';
  return stepMs <= 24 * QUARTER_MS ? 'Daily' : 'Monthly';
}

function requestFor(found: readonly Found[]): string {
  const taken = new Set(found.map(({ series }) => seriesKey(series)));
  const items = found.slice(0, ITEMS_MAX).map((one) => {
    const { timeseriesId, metric } = one.series;
    const interval = intervalFor(one);
    const made = freeName(`${metric === 'Raw' ? '' : `${metric} `}${interval}Average`, timeseriesId, taken);
    const reference = (name: string): string =>
      `[{ "timeseriesId": ${JSON.stringify(timeseriesId)}, "metric": ${JSON.stringify(name)} }]`;
    return `  {
    "metric": ${JSON.stringify(made)},
    "processingType": "batch",
    "operations": [
      {
        "operation": "Aggregate",
        "input": ${reference(metric)},
        "output": ${reference(made)},
        "parameters": { "function": "Average", "interval": ${JSON.stringify(interval)} }
      }
    ]
  }`;
  });
  return `[\n${items.join(',\n')}\n]\n`;
}

/** A name for a result that no other one, and no series of the file, has; it is taken from then on. */
function freeName(name: string, timeseriesId: string, taken: Set<string>): string {
  for (let number = 1; ; number++) {
    const metric = number === 1 ? name : `${name} ${number}`;
    const key = seriesKey({ timeseriesId, metric });
    if (taken.has(key)) continue;
    taken.add(key);
    return metric;
  }
}

function describe(path: string, given: Given, { series: found, patterns, notes }: Content): string {
  const lines = found.slice(0, ITEMS_MAX).map((one) => {
    const missing = one.missing === 0 ? '' : ` and ${one.missing} missing`;
    const step = one.count < 2 ? '' : `, usually every ${formatDuration(usualStepMs(one))}`;
    const span = one.count === 0 ? '' : `, ${instantText(one.firstMs)} to ${instantText(one.lastMs)}`;
    return `  ${seriesName(one.series)}: ${counted(one.count, 'sample')}${missing}${step}${span}`;
  });
  const left = found.length - lines.length;
  const more = left === 0 ? [] : [`  and ${left} more, which the request leaves out`];
  const output = textOf(given, '--output');
  const line = ['windrow', 'run', output ?? '', '--input', path, ...saidOf(given)].map(shellWord).join(' ');
  const next = [undefined, '-'].includes(output) ? [] : [`next: ${line}`, 'all operations: windrow operations'];
  const noun = counted(found.length + patterns.length, 'series');
  const names = patterns.map(({ series }) => seriesName(series)).join(', ');
  const told = [
    ...(names === '' ? [] : [`  ${names}: left out, as a request takes such an id for a pattern`]),
    ...notes.map((note) => `  ${note}`),
  ];
  return `${[`windrow: ${path} has ${noun}`, ...lines, ...more, ...told, ...next].join('\n')}\n`;
}

/** What the caller said about the file, which `run` has to know too. */
function saidOf(given: Given): string[] {
  return init.options.flatMap(({ flag, isList }) => {
    const values = given.options.get(flag);
    if (values === undefined || flag === '--output') return [];
    return [flag, ...(isList === true ? values : values.slice(-1))];
  });
}

function instantText(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
