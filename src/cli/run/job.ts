import { parseDuration } from '../../core/duration.js';
import { WindrowError } from '../../core/errors.js';
import { patternOf } from '../../core/pattern.js';
import { seriesName } from '../../core/series.js';
import { zoneOf } from '../../core/zone.js';
import type { RangePool } from '../../formats/csv/threaded/pool.js';
import { readTime } from '../../formats/table/read-text.js';
import type { Plan } from '../../plan/plan.js';
import type { ChartData } from '../../plot/index.js';
import { defined } from '../command.js';
import { EXIT_DONE, isClosedPipe, unlessMissing } from '../failure.js';
import { instantOption } from '../files/input-options.js';
import { openInputs } from '../files/inputs.js';
import { checkStandardInput, checkWritten, type NamedPaths } from '../files/paths.js';
import { openPicture, type Picture } from '../files/picture.js';
import { readPlan } from '../files/request.js';
import { openTarget, type Target } from '../files/target.js';
import type { TempFiles } from '../files/temp-files.js';
import type { Io } from '../terminal/io.js';
import { Progress } from '../terminal/progress.js';
import { execute, type Job, type Listener } from './execute.js';
import { Rejects, Results } from './results.js';
import type { Settings } from './settings.js';
import { SpooledResults } from './spooled-results.js';
import { describeRun, type RunFacts, reportText } from './summary.js';
import { threadsFor } from './thread-count.js';

/** Runs a request over its input, writes every requested output, and returns the exit code. */
export async function runJob(requestPath: string, settings: Settings, io: Io, temps: TempFiles): Promise<number> {
  const startedMs = io.clock();
  checkPaths(requestPath, settings, io);
  const plan = await readPlan(requestPath, settings.timezone, io);
  const job = createJob(plan, settings, io, temps);
  const output = await openTarget(settings.output, io, temps);
  const outputs = plan.items.map((item) => item.output);
  const results =
    plan.every === undefined && settings.outputFormat.name === 'csv'
      ? new Results(outputs, output, io, temps)
      : new SpooledResults(settings, outputs, output, io, temps);
  const rejectsTarget = await optionalTarget(settings.rejects, io, temps);
  const rejects = rejectsTarget && new Rejects(rejectsTarget);
  const report = await optionalTarget(settings.report, io, temps);
  const plot = settings.plot === undefined ? undefined : await openPlot(settings.plot, plan, settings, io, temps);
  const progress = new Progress(totalBytes(job), io);
  const listener: Listener = {
    onResults: (series) => {
      results.add(series);
      plot?.data.add(series);
    },
    onReject: (rejected) => rejects?.addRow(rejected),
    onLate: (file, late) => rejects?.addLate(file, late),
    onRead: progress.add,
    onRestart: () => {
      results.reset();
      rejects?.reset();
      plot?.data.reset();
      progress.restart();
    },
  };
  const threads = threadCount(job, settings, io);
  const pool = threads > 1 ? await openThreads(threads - 1, settings, io) : undefined;
  const outcome = await execute({ ...job, pool }, listener, io).finally(async () => {
    progress.stop();
    await pool?.close();
  });
  await rejects?.finish();
  await plot?.picture.write(plot.draw());
  const closed = await results.finish().then(() => undefined, closedPipe);
  const seconds = (io.clock() - startedMs) / 1000;
  const { sampleCounts } = results;
  const seriesCounts = plan.every !== undefined && 'seriesCounts' in results ? results.seriesCounts : undefined;
  const facts: RunFacts = { plan, mode: settings.mode, outcome, sampleCounts, seriesCounts, seconds };
  if (report !== undefined) await writeText(report, reportText(facts));
  for (const target of [output, rejectsTarget, report, plot?.picture]) target?.keep();
  if (closed !== undefined) throw closed;
  if (!settings.isQuiet) await io.stderr.write(describeRun(facts));
  return EXIT_DONE;
}

/** Threads beside the main one; without the package for them, the main one reads alone, with the same results. */
async function openThreads(count: number, { isQuiet }: Settings, io: Io): Promise<RangePool | undefined> {
  const pool = await io.threads.open(count).catch(unlessMissing);
  if (pool === undefined && !isQuiet) {
    const mend = '`npm install windrow --include=optional` installs it';
    await io.stderr.write(`windrow: one thread reads, as the package piscina is not installed; ${mend}\n`);
  }
  return pool;
}

function createJob(plan: Plan, settings: Settings, io: Io, temps: TempFiles): Job {
  const { mode, chunkRows, onBadRow, from, until, warmup, timezone, lateness, maxOutputSamples } = settings;
  return {
    plan,
    mode,
    chunkRows,
    onBadRow,
    input: settings.input,
    format: settings.format,
    span: spanOf(settings),
    inputs: openInputs(settings.inputs, mode === 'batch', io, temps),
    options: {
      clock: io.clock,
      maxOutputSamples,
      ...defined({
        from: from && instantOption(from),
        until: until && instantOption(until),
        warmup,
        timezone,
        allowedLateness: lateness,
      }),
    },
  };
}

// One thread reads for a stream, because its limits and late samples depend on where the input is cut.
function threadCount({ inputs }: Job, { mode, threads }: Settings, { threads: possible, fs }: Io): number {
  const most = threads ?? possible.usual;
  if (mode === 'stream' || most === 1) return 1;
  return threadsFor(inputs, most, possible.bytesEach, fs);
}

// The span of the run; parts of a file outside it need not be read.
function spanOf({ from, until, warmup, timezone }: Settings): Job['span'] {
  const zone = timezone === undefined ? undefined : zoneOf(timezone);
  const msOf = (text: string | undefined): number | undefined => {
    const instant = text === undefined ? undefined : instantOption(text);
    if (typeof instant !== 'string') return instant;
    const reading = readTime(instant, zone);
    return 'timeMs' in reading ? reading.timeMs : undefined;
  };
  const warmupMs = warmup === undefined ? 0 : (parseDuration(warmup) ?? Number.POSITIVE_INFINITY);
  const fromMs = msOf(from);
  return { fromMs: fromMs === undefined ? undefined : fromMs - warmupMs, untilMs: msOf(until) };
}

async function optionalTarget(path: string | undefined, io: Io, temps: TempFiles): Promise<Target | undefined> {
  return path === undefined ? undefined : await openTarget(path, io, temps);
}

interface Plot {
  readonly picture: Picture;
  readonly data: ChartData;
  readonly draw: () => string;
}

async function openPlot(
  path: string,
  plan: Plan,
  { timezone = 'UTC' }: Settings,
  io: Io,
  temps: TempFiles,
): Promise<Plot> {
  const { ChartData, drawSvg } = await import('../../plot/index.js');
  // Series of patterns are named as they appear.
  const outputs = plan.items
    .map((item) => item.output)
    .filter(({ timeseriesId }) => patternOf(timeseriesId) === undefined);
  const [id, ...others] = new Set(outputs.map(({ timeseriesId }) => timeseriesId));
  // An id that all series share is shown once, as the title.
  const isShared = plan.every === undefined && outputs.length > 1 && others.length === 0;
  const data = new ChartData(outputs, isShared ? ({ metric }) => metric : seriesName);
  const title = isShared && id !== undefined ? id : '';
  const picture = await openPicture('--plot', path, io, temps);
  return { picture, data, draw: () => drawSvg(data.lines(), { title, timezone }) };
}

// `| head` may have closed the pipe before all results were read: other outputs are complete nevertheless.
function closedPipe(error: unknown): unknown {
  if (isClosedPipe(error)) return error;
  throw error;
}

function totalBytes({ inputs }: Job): number | undefined {
  const sizes = inputs.map(({ sizeBytes }) => sizeBytes);
  return sizes.includes(undefined) ? undefined : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

async function writeText(target: Target, text: string): Promise<void> {
  await target.write(new TextEncoder().encode(text));
}

/** Checks that no path has two roles in a run. @throws WindrowError */
function checkPaths(requestPath: string, settings: Settings, io: Io): void {
  const { inputs, output, report, plot, rejects } = settings;
  checkStandardInput('run', [
    ['the request', [requestPath]],
    ['--input', inputs],
  ]);
  const pathsOf = (path: string | undefined): string[] => (path === undefined ? [] : [path]);
  const besides: NamedPaths = [
    ['--report', pathsOf(report)],
    ['--plot', pathsOf(plot)],
    ['--rejects', pathsOf(rejects)],
  ];
  for (const [flag, paths] of besides) {
    if (!paths.includes('-')) continue;
    throw new WindrowError('arguments', `${flag}: expected a file, received \`-\`: standard output is for the results`);
  }
  checkWritten([...inputs, requestPath], [['--output', [output]], ...besides], io);
}
