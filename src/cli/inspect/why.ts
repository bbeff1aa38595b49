import { WindrowError } from '../../core/errors.js';
import { exactJson, jsonNumber } from '../../core/json-number.js';
import { patternOf } from '../../core/pattern.js';
import { type SeriesReference, seriesKey, seriesName } from '../../core/series.js';
import { type Sample, type Why, type WhyStep, why as whyOf } from '../../inspect/index.js';
import type { Plan } from '../../plan/plan.js';
import { argumentOf, type Command, counted, defined, type Given, requiredOf, textOf } from '../command.js';
import { EXIT_DONE } from '../failure.js';
import { instantOption, requestArgument } from '../files/input-options.js';
import { readPlan } from '../files/request.js';
import { asForRun, callingItSeriesColumn, withSeriesColumn } from '../files/series-column.js';
import { type TempFiles, withTempFiles } from '../files/temp-files.js';
import type { Io } from '../terminal/io.js';
import {
  checkReads,
  fileOptions,
  findLines,
  type Line,
  localTime,
  openGiven,
  readSources,
  runOptionsOf,
} from './input.js';

export const why: Command = {
  name: 'why',
  summary: 'Show how one result came about, step by step back to the rows of the input.',
  argument: requestArgument,
  options: [
    { flag: '--series', value: 'ID/METRIC', summary: 'the series of the result, such as office/DailyAverage' },
    { flag: '--at', value: 'TIME', summary: 'the time of the result, as written in the output' },
    ...withSeriesColumn(fileOptions),
  ],
  notes: [
    `Each step runs again by itself, with samples of its input removed and changed, to find out which ones it used, so
the answer holds for every operation. Windows are shown in local time, and samples of the input with the file and the
line of their row (in Parquet and Arrow, the number of the row). A result of a run with --warmup is asked for without
--from.`,
  ],
  examples: [
    {
      line: 'windrow why request.json --input office.csv --series office/DailyAverage --at 2013-07-05',
      does: 'where the average of a day comes from',
    },
    {
      line: 'windrow why request.json --input office.csv --series office/Mean --at 2013-07-05 --json | jq .sources',
      does: 'the same, for a program',
    },
  ],
  act: (given, io) => withTempFiles(io, (temps) => tellWhy(given, io, temps)),
};

async function tellWhy(given: Given, io: Io, temps: TempFiles): Promise<number> {
  const path = argumentOf(given, why);
  const name = requiredOf(given, why, '--series');
  const at = instantOption(requiredOf(given, why, '--at'));
  checkReads(given, 'why', [['the request', [path]]]);
  const plan = await readPlan(path, textOf(given, '--timezone'), io);
  const inputs = openGiven(asForRun(given), 'why', io, temps);
  const series = await callingItSeriesColumn(() => readSources(plan, inputs, io));
  const told = whyOf(plan, series, referenceOf(plan, name), at, runOptionsOf(given));
  const wanted = new Map(
    told.sources.map(({ series, used, leftOut }) => [
      seriesKey(series),
      new Set([...used, ...leftOut].map(({ position }) => position)),
    ]),
  );
  const lines = await findLines(plan, inputs, wanted, io);
  const lineOf: LineOf = (series, position) => lines.get(seriesKey(series))?.get(position);
  await io.stdout.write(
    given.options.has('--json') ? `${exactJson(asJson(told, lineOf), 2)}\n` : describe(told, lineOf),
  );
  return EXIT_DONE;
}

type LineOf = (series: SeriesReference, position: number) => Line | undefined;

// Ids and metrics may contain slashes, so names of the request are tried first.
function referenceOf({ items, steps, every }: Plan, name: string): SeriesReference {
  const known = [...items, ...steps].find(({ output }) => seriesName(output) === name)?.output;
  const isPattern = known !== undefined && every !== undefined && patternOf(known.timeseriesId) !== undefined;
  if (known !== undefined && !isPattern) return known;
  const slash = name.lastIndexOf('/');
  if (slash > 0 && !isPattern) return { timeseriesId: name.slice(0, slash), metric: name.slice(slash + 1) };
  const results = items.map(({ output }) => seriesName(output)).join(', ');
  const expected = isPattern ? 'the result of one series instead of a pattern' : `ID/METRIC, such as ${results}`;
  throw new WindrowError('arguments', `--series: expected ${expected}, received ${JSON.stringify(name)}`);
}

function asJson(told: Why, lineOf: LineOf) {
  const timestamped = <Of extends Sample>(sample: Of) => ({
    timestamp: localTime(sample.timeMs, told.timezone),
    ...sample,
  });
  const { steps, sources, ...result } = told;
  return {
    ...timestamped(result),
    steps: steps.map(({ window, results, inputs, ...step }) => ({
      ...step,
      ...defined({ window: window && windowText(window) }),
      results: results.map(timestamped),
      inputs: inputs.map(({ used, leftOut, ...input }) => ({
        ...input,
        used: used.map(timestamped),
        leftOut: leftOut.map(timestamped),
      })),
    })),
    sources: sources.map(({ series, used, leftOut }) => ({
      series,
      used: used.map((sample) => ({ ...timestamped(sample), ...lineOf(series, sample.position) })),
      leftOut: leftOut.map((sample) => ({ ...timestamped(sample), ...lineOf(series, sample.position) })),
    })),
  };
}

function windowText({ startMs, endMs, timezone }: NonNullable<WhyStep['window']>) {
  return { start: localTime(startMs, timezone), end: localTime(endMs, timezone), timezone };
}

/** How many samples are shown at the start and at the end of a list. */
const SHOWN = 3;

function describe(told: Why, lineOf: LineOf): string {
  const { timezone } = told;
  const lines = [`${seriesName(told.series)} at ${localTime(told.timeMs, timezone)} is ${jsonNumber(told.value)}`];
  for (const { operation, does, output, results, window, inputs, pointer, isProved } of told.steps) {
    lines.push('', `${operation}: ${does}  (${pointer})`);
    if (window !== undefined) {
      const { start, end } = windowText(window);
      lines.push(`  window  ${start} to ${end} (${window.timezone})`);
    }
    lines.push(`  gave    ${counted(results.length, 'result')} of ${seriesName(output)}`, ...listed(results, timezone));
    for (const { series, used, leftOut } of inputs) {
      lines.push(`  used    ${counted(used.length, 'sample')} of ${seriesName(series)}`, ...listed(used, timezone));
      if (leftOut.length === 0) continue;
      lines.push(
        `  dropped ${counted(leftOut.length, 'sample')} of these`,
        ...listed(leftOut, timezone, ({ reason }) => reason),
      );
    }
    if (!isProved) lines.push('  It could not be run by itself: these are the samples of the same times.');
  }
  for (const { series, used, leftOut } of told.sources) {
    const place = ({ position }: { readonly position: number }): string => {
      const line = lineOf(series, position);
      return line === undefined ? `sample ${position + 1}` : `${line.file}:${line.line}`;
    };
    lines.push('', `Input ${seriesName(series)}: ${counted(used.length, 'sample')}`, ...listed(used, timezone, place));
    if (leftOut.length === 0) continue;
    const why = (sample: (typeof leftOut)[number]): string => `${place(sample)}: ${sample.reason}`;
    lines.push(`  left out ${counted(leftOut.length, 'sample')} between them`, ...listed(leftOut, timezone, why));
  }
  return `${lines.join('\n')}\n`;
}

function listed<Of extends Sample>(
  samples: readonly Of[],
  timezone: string,
  more: (sample: Of) => string = () => '',
): string[] {
  const rows = samples.map((sample) =>
    `    ${localTime(sample.timeMs, timezone)}  ${jsonNumber(sample.value)}  ${more(sample)}`.trimEnd(),
  );
  if (rows.length <= 2 * SHOWN + 1) return rows;
  return [...rows.slice(0, SHOWN), `    … ${counted(rows.length - 2 * SHOWN, 'other')} …`, ...rows.slice(-SHOWN)];
}
