import packageJson from '../../../package.json' with { type: 'json' };
import { patternOf } from '../../core/pattern.js';
import { seriesKey, seriesName } from '../../core/series.js';
import type { Report } from '../../engine/report.js';
import type { Plan } from '../../plan/plan.js';
import { counted, grouped } from '../command.js';
import { lackingMembers } from './check-sources.js';
import type { Outcome } from './execute.js';
import type { FileOutcome } from './file-outcome.js';

/** What a summary or a report says about a run. */
export interface RunFacts {
  readonly plan: Plan;
  readonly mode: 'batch' | 'stream';
  readonly outcome: Outcome;
  /** The number of samples of each result, in the order of the request. */
  readonly sampleCounts: readonly number[];
  /** The number of series of each result, if there are patterns. */
  readonly seriesCounts: readonly number[] | undefined;
  readonly seconds: number;
}

function rowCountOf({ files }: Outcome): number {
  return files.reduce((sum, { rows, rejected }) => sum + rows + rejected, 0);
}

/** A summary in a few lines: what was read and written, and what was left out and why. */
export function describeRun(facts: RunFacts): string {
  const { plan, mode, outcome, sampleCounts, seriesCounts, seconds } = facts;
  const rows = rowCountOf(outcome);
  const rate = grouped(Math.round(rows / Math.max(seconds, 0.001)));
  const time = seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(1);
  const read = `${counted(rows, 'row')} of ${counted(outcome.files.length, 'file')}`;
  const lines = [...warnings(facts), `${read} in ${time} s (${rate} rows a second), as ${mode}`];
  for (const { path, notes } of outcome.files) if (notes.length > 0) lines.push(`  ${path}: ${notes.join('; ')}`);
  if (outcome.unordered !== undefined) {
    lines.push(`  ${seriesName(outcome.unordered)} is not in time order, so everything was sorted in memory`);
  }
  const width = Math.max(...plan.items.map(({ output }) => seriesName(output).length));
  for (const [index, { output }] of plan.items.entries()) {
    const of =
      patternOf(output.timeseriesId) === undefined ? '' : ` of ${counted(seriesCounts?.[index] ?? 0, 'series')}`;
    lines.push(`  ${seriesName(output).padEnd(width)}  ${counted(sampleCounts[index] ?? 0, 'sample')}${of}`);
  }
  const dropped = describeDropped(outcome);
  if (dropped.length > 0) lines.push('left out:', ...dropped.map((line) => `  ${line}`));
  return `${lines.map((line) => `windrow: ${line}`).join('\n')}\n`;
}

/** A warning is given if at least this share of a series' samples was replaced. */
const REPLACED_SHARE_MIN = 0.01;

// Lines that point to a mistake come first.
function warnings({ plan, outcome: { files, report, unordered } }: RunFacts): string[] {
  const lacking = lackingMembers(plan, files).map((line) => `WARNING: ${line}`);
  const replaced = report.sources.flatMap((source) => {
    const { samplesIn, dropped } = source;
    if (dropped.duplicate === 0 || dropped.duplicate < REPLACED_SHARE_MIN * samplesIn) return [];
    const share = `${grouped(dropped.duplicate)} of ${counted(samplesIn, 'sample')} of ${seriesName(source)}`;
    const ofSeries = 'if a column says which series a row belongs to, name it with --series';
    const mend = `${ofSeries}; if one holds the time of day, name it beside the date with --time`;
    return [`WARNING: ${share} were replaced by a later one at the same time; ${mend}`];
  });
  const outside = report.sources
    .filter(({ samplesIn, dropped }) => samplesIn > 0 && dropped.outOfRun === samplesIn)
    .map((one) => `WARNING: no sample of ${seriesName(one)} lies within --from and --until`);
  return [...lacking, ...mixed(unordered, files), ...outside, ...replaced];
}

/** Of a series that comes from several files which do not follow each other in time: most often it is several. */
function mixed(unordered: Outcome['unordered'], files: Outcome['files']): string[] {
  if (unordered === undefined) return [];
  const isThere = ({ series }: FileOutcome) => series.some((one) => seriesKey(one) === seriesKey(unordered));
  const paths = files.filter(isThere).map(({ path }) => path);
  if (paths.length < 2) return [];
  const shown = paths.length > 3 ? `${paths.slice(0, 2).join(', ')} and ${paths.length - 2} more` : paths.join(', ');
  const told = `${seriesName(unordered)} was taken for one series of ${paths.length} files (${shown})`;
  const mend = 'if each has a series of its own, give their columns different names';
  return [`WARNING: ${told}, which do not follow each other in time; ${mend}`];
}

function describeDropped({ files, report }: Outcome): string[] {
  const lines: string[] = [];
  for (const { path, rejected } of files) if (rejected > 0) lines.push(`${counted(rejected, 'bad row')} of ${path}`);
  for (const source of report.sources) {
    const { missing, outOfRun, duplicate, late } = source.dropped;
    lines.push(
      ...reasons(`of ${seriesName(source)}`, [
        [missing, 'missing value'],
        [outOfRun, 'sample', 'outside --from and --until'],
        [duplicate, 'sample', 'replaced by a later sample at the same time'],
        [late, 'sample', 'later than --lateness allows'],
      ]),
    );
  }
  for (const step of report.steps) lines.push(...droppedInStep(step));
  return lines;
}

function droppedInStep({ operation, output, dropped }: Report['steps'][number]): string[] {
  const { nonFinite, outOfRange, unmatched, duplicate, insufficient } = dropped;
  return reasons(`by ${operation} for ${seriesName(output)}`, [
    [nonFinite, 'result', 'not a finite number'],
    [outOfRange, 'result', 'outside the years 0001 to 9999'],
    [unmatched[0], 'sample', 'of the first input without a partner'],
    [unmatched[1], 'sample', 'of the second input without a partner'],
    [duplicate, 'sample', 'moved to the time of a later one'],
    [insufficient, 'window', 'with too few samples'],
  ]);
}

type Reason = readonly [count: number, noun: string, why?: string];

function reasons(where: string, list: readonly Reason[]): string[] {
  const told = list.filter(([count]) => count > 0);
  return told.map(([count, noun, why]) => `${counted(count, noun)} ${where}${why === undefined ? '' : `: ${why}`}`);
}

/** The report of a run as JSON: samples in and out of every step, what was left out and why, and the speed. */
export function reportText({ plan, mode, outcome, sampleCounts, seriesCounts, seconds }: RunFacts): string {
  const { report, files, unordered } = outcome;
  const rows = rowCountOf(outcome);
  const data = {
    version: packageJson.version,
    mode,
    timezone: plan.timezone,
    seconds: Number(seconds.toFixed(6)),
    rows,
    rowsPerSecond: Math.round(rows / Math.max(seconds, 1e-6)),
    isSortedInMemory: unordered !== undefined,
    files: files.map(({ path, layout, rows: taken, rejected, missing, series, notes }) => ({
      path,
      layout,
      ...(notes.length === 0 ? {} : { notes }),
      rows: taken + rejected,
      dropped: { rejected },
      missing,
      series,
    })),
    sources: report.sources,
    steps: report.steps,
    results: plan.items.map(({ output }, index) => ({
      ...output,
      ...(seriesCounts === undefined ? {} : { series: seriesCounts[index] ?? 0 }),
      samples: sampleCounts[index] ?? 0,
    })),
  };
  return `${JSON.stringify(data, null, 2)}\n`;
}
