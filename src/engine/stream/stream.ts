import { CheckpointError, InputError } from '../../core/errors.js';
import { type Series, seriesKey } from '../../core/series.js';
import { planInTimezone } from '../../plan/create-plan.js';
import type { Plan } from '../../plan/plan.js';
import { FinishedRun, type Run } from '../batch/run.js';
import { checkColumns, checkList, checkTimes } from '../check-input.js';
import { snapshotOf } from '../checkpoint/snapshot.js';
import { type Progress, readCheckpoint, writeCheckpoint } from '../checkpoint/stream-checkpoint.js';
import { buildGraph, type Graph } from '../graph/graph.js';
import { GraphCache } from '../graph/graph-cache.js';
import type { Sink } from '../graph/node.js';
import { type Instant, type RunSettings, readOptions, type StreamOptions, toMs } from '../options.js';
import { createReport, type Report } from '../report.js';
import { StreamSink } from './stream-sink.js';

/** A plan at work on samples as they come. */
export interface Stream {
  /**
   * Takes samples, in any order within the allowed lateness, and gives what became final: a series for each
   * item that has new results. A call is taken as a whole or, when it throws an InputError, not at all.
   */
  push(series: readonly Series[]): Series[];
  /** Promises that no sample before this instant will come, and gives what became final by that. */
  advance(instant: Instant): Series[];
  /** Ends the stream; `series` is what became final since the last call, one for each item. */
  close(): Run;
  /**
   * What `close` would give now, one series for each item, while the stream goes on as if it had not been asked:
   * all results so far and these together are one batch over the samples pushed so far. Costs a copy of what the
   * stream remembers.
   *
   * @throws OutputLimitError as `close` would; the stream goes on all the same.
   */
  preview(): Series[];
  /**
   * Everything that the stream remembers, as bytes for `restoreStream`. They follow from the plan, the options and
   * the calls so far: no clock is in them.
   */
  checkpoint(): Uint8Array;
  /** What became of every sample since the start. */
  report(): Report;
  /** Samples of the last call that came later than allowed: they are in no result. */
  readonly late: readonly Series[];
}

/**
 * Opens a stream. Whatever the chunks, what it has given by `close` equals one batch over the same samples.
 *
 * @throws InputError for options that cannot be taken.
 */
export function openStream(plan: Plan, options: StreamOptions = {}): Stream {
  return startStream(planInTimezone(plan, options.timezone), options, undefined);
}

/**
 * Opens a stream where another left off, on this machine or any other.
 *
 * @param bytes from `checkpoint` of a stream of the same plan and options.
 * @throws CheckpointError when the bytes are damaged, or belong to another plan, options or version.
 */
export function restoreStream(plan: Plan, bytes: Uint8Array, options: StreamOptions = {}): Stream {
  return startStream(planInTimezone(plan, options.timezone), options, { bytes });
}

/** What one stream after another can work with. */
interface Machine {
  readonly graph: Graph;
  readonly sinks: readonly Sink[];
  readonly progress: Progress;
}

const graphs = new GraphCache<Machine>();

function buildMachine(plan: Plan, settings: RunSettings): Machine {
  const sinks = plan.items.map(({ output }) => new StreamSink(output));
  const progress = newProgress();
  return { graph: buildGraph(plan, settings, sinks, () => progress.advancedMs), sinks, progress };
}

function newProgress(): Progress {
  return { advancedMs: Number.NEGATIVE_INFINITY, unused: 0 };
}

/** All that a stream works with, for the functions below. */
interface Engine extends Machine {
  readonly plan: Plan;
  readonly settings: RunSettings;
  readonly sourceIndex: ReadonlyMap<string, number>;
  readonly startedMs: number;
  late: readonly Series[];
  isOpen: boolean;
  /** Why it can go no further: the rest of a stream that failed half way would be wrong. */
  failure: unknown;
  /** What is left of a closed stream, whose graph is no longer its own. */
  lastReport: Report | undefined;
}

function startStream(plan: Plan, options: StreamOptions, kept: { readonly bytes: Uint8Array } | undefined): Stream {
  const settings = readOptions(options, plan.timezone);
  const { graph, sinks, progress } = graphs.take(plan, settings) ?? buildMachine(plan, settings);
  const engine: Engine = {
    plan,
    settings,
    graph,
    sinks,
    sourceIndex: new Map(plan.sources.map((source, index) => [seriesKey(source), index])),
    progress,
    startedMs: settings.clock(),
    late: [],
    isOpen: true,
    failure: undefined,
    lastReport: undefined,
  };
  if (kept !== undefined) readCheckpoint(kept.bytes, plan, settings, graph, progress);
  return {
    push: (series) => push(engine, series),
    advance: (instant) => advance(engine, instant),
    close: () => close(engine),
    preview: () => preview(engine),
    checkpoint: () => checkpoint(engine),
    report: () => reportOf(engine),
    get late() {
      return engine.late;
    },
  };
}

function push(engine: Engine, series: readonly Series[]): Series[] {
  checkList(series);
  for (let k = 0; k < series.length; k++) {
    checkColumns(series[k]!);
    checkTimes(series[k]!);
  }
  call(engine, pushAll, series);
  return takeNew(engine);
}

function pushAll(engine: Engine, series: readonly Series[]): void {
  const { graph, progress } = engine;
  for (let k = 0; k < series.length; k++) {
    const one = series[k]!;
    const index = indexOf(engine, one);
    if (index === undefined) progress.unused += one.timeMs.length;
    else graph.sources[index]!.push(one);
  }
  graph.advance();
}

function advance(engine: Engine, instant: Instant): Series[] {
  call(engine, advanceAll, toMs('advance', instant, engine.plan.timezone));
  return takeNew(engine);
}

function advanceAll({ graph, progress }: Engine, timeMs: number): void {
  progress.advancedMs = Math.max(progress.advancedMs, timeMs);
  for (const source of graph.sources) source.advance(timeMs);
  graph.advance();
}

function close(engine: Engine): Run {
  const { plan, settings, sinks, progress } = engine;
  call(engine, closeAll, undefined);
  const run = new FinishedRun(
    sinks.map((sink) => sink.take()),
    reportOf(engine),
  );
  engine.isOpen = false;
  engine.lastReport = run.report;
  Object.assign(progress, newProgress());
  // Whole, not its parts alone: while one engine is left, so are the shape of all of them and the code for it.
  graphs.keep(plan, settings, engine);
  return run;
}

function closeAll({ graph, progress }: Engine): void {
  graph.close(progress.advancedMs);
}

function preview(engine: Engine): Series[] {
  const { graph, sinks, progress } = engine;
  checkUsable(engine);
  const putBack = snapshotOf(graph);
  graph.resetLimit();
  try {
    graph.close(progress.advancedMs);
    return sinks.map((sink) => sink.take());
  } finally {
    putBack();
    // After a failure they hold a part.
    for (const sink of sinks) if (sink.count() > 0) sink.take();
  }
}

function checkpoint({ plan, settings, graph, progress, isOpen, failure }: Engine): Uint8Array {
  if (failure !== undefined || !isOpen) {
    const reason = isOpen ? 'has failed' : 'is closed';
    throw new CheckpointError('stream.closed', `the stream ${reason}, so there is no state to keep`);
  }
  return writeCheckpoint(plan, settings, graph, progress);
}

function checkUsable(engine: Engine): void {
  if (!engine.isOpen) {
    throw new InputError('stream.closed', 'the stream is closed; open another, or restore a checkpoint');
  }
  if (engine.failure !== undefined) {
    const message = 'the stream has failed before; restore its last checkpoint';
    throw new InputError('stream.closed', message, { cause: engine.failure });
  }
}

// `work` is a function that stays, so that a call makes no closure.
function call<T>(engine: Engine, work: (engine: Engine, given: T) => void, given: T): void {
  const { graph, plan } = engine;
  checkUsable(engine);
  graph.resetLimit();
  try {
    work(engine, given);
  } catch (error) {
    engine.failure = error;
    throw error;
  }
  if (engine.late.length > 0) engine.late = [];
  for (let k = 0; k < graph.sources.length; k++) {
    const taken = graph.sources[k]!.takeLate();
    if (taken !== undefined) engine.late = [...engine.late, { ...plan.sources[k]!, ...taken }];
  }
}

function indexOf({ plan, sourceIndex }: Engine, series: Series): number | undefined {
  const { sources } = plan;
  if (sources.length > 4) return sourceIndex.get(seriesKey(series));
  // Few sources are found faster by comparing than by making a key.
  for (let k = 0; k < sources.length; k++) {
    const source = sources[k]!;
    if (source.timeseriesId === series.timeseriesId && source.metric === series.metric) return k;
  }
  return undefined;
}

function takeNew({ sinks }: Engine): Series[] {
  const results: Series[] = [];
  for (let k = 0; k < sinks.length; k++) if (sinks[k]!.count() > 0) results.push(sinks[k]!.take());
  return results;
}

function reportOf({ plan, graph, progress, settings, startedMs, lastReport }: Engine): Report {
  const durationMs = settings.clock() - startedMs;
  return lastReport === undefined
    ? createReport(plan, graph, progress.unused, durationMs)
    : { ...lastReport, durationMs };
}
