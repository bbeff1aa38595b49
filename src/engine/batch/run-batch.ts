import type { Chunk } from '../../core/chunk.js';
import type { Series } from '../../core/series.js';
import { workIn } from '../../kernels/arena.js';
import { firstAtOrAfter } from '../../kernels/search.js';
import { operationOf } from '../../operations/index.js';
import { planInTimezone } from '../../plan/create-plan.js';
import type { Plan } from '../../plan/plan.js';
import { checkList } from '../check-input.js';
import { buildGraph, type Graph } from '../graph/graph.js';
import { GraphCache } from '../graph/graph-cache.js';
import { type RunOptions, type RunSettings, readOptions, readWarmup } from '../options.js';
import { createReport, type Report } from '../report.js';
import { BatchSink, CountingSink } from './batch-sink.js';
import { checkExpectedCounts, type Expected, expectedCounts } from './expected-counts.js';
import { arenaOf, chooseInputs, countLeftOut, sorted } from './inputs.js';
import { pushAll } from './push-all.js';
import { FinishedRun, type Run } from './run.js';
import type { BatchInput } from './sort-input.js';

export interface BatchOptions extends RunOptions {
  /**
   * Whether a result with a sample at each time of its input uses the input's own array of times instead of a copy;
   * false by default. It saves memory and time if nobody changes or transfers these arrays.
   */
  readonly shareTimes?: boolean;
  /**
   * How far before `from` the run reads samples to warm up, as a stream would have by then: an ISO 8601 duration, or
   * `all`. The results are those that were not final at `from`, so consecutive runs together give what one run gives.
   */
  readonly warmup?: string;
}

/**
 * Runs a plan over whole series.
 *
 * @param plan from `createPlan`.
 * @param inputs the series that the plan reads, in any order; parts of one series are joined in the order given. They
 *   are never changed, and results do not share their memory unless `shareTimes` is set.
 * @returns one series for each item of the request, and a report.
 * @throws InputError for invalid options, columns or times, and for a missing series.
 * @throws OutputLimitError if a step would make more than `maxOutputSamples`.
 */
export function runBatch(plan: Plan, inputs: readonly Series[], options: BatchOptions = {}): Run {
  const planned = planInTimezone(plan, options);
  const asked = readOptions(options, planned.timezone);
  const warmUntilMs = options.warmup === undefined ? undefined : asked.fromMs;
  const settings = { ...asked, fromMs: asked.fromMs - readWarmup(options), warmUntilMs };
  const startedMs = settings.clock();
  checkList(inputs);
  const { given, unused } = chooseInputs(planned, inputs);
  const job = { plan: planned, settings, shareTimes: options.shareTimes === true };
  const { series, report, shared } = workIn(arenaOf(given), () => runGiven(job, given));
  const durationMs = settings.clock() - startedMs;
  return new FinishedRun(series, { ...report, unused, durationMs }, shared);
}

/** What is to be run, and how. */
interface Job {
  readonly plan: Plan;
  readonly settings: RunSettings;
  readonly shareTimes: boolean;
}

interface Results {
  readonly series: readonly Series[];
  readonly report: Report;
  /** Arrays of times that belong to an input. */
  readonly shared: ReadonlySet<Float64Array>;
}

function runGiven(job: Job, given: readonly BatchInput[]): Results {
  const results = tryRun(job, given);
  if (results !== undefined) return results;
  const inputs = given.map((one) => sorted(one, job.settings));
  const again = tryRun(job, inputs);
  if (again === undefined) throw new Error('assertion failed: order');
  return again;
}

// Undefined if the times of an input do not rise: that costs only the time until it was noticed.
function tryRun(job: Job, inputs: readonly BatchInput[]): Results | undefined {
  const { plan, settings } = job;
  const whole = inputs.map((input) => input.series);
  checkExpectedCounts(plan, whole, settings);
  const wired = graphs.take(plan, settings) ?? wire(plan, settings);
  const { warmUntilMs } = settings;
  const series = warmUntilMs === undefined ? whole : warmUp(plan, wired, whole, warmUntilMs);
  const results = series && gather(job, wired, series, inputs);
  wired.sinks.length = 0;
  graphs.keep(plan, settings, wired);
  return results;
}

// Takes the samples before a time as a stream that advances to it would, and returns those after it; undefined if the
// times of an input do not rise.
function warmUp(plan: Plan, { graph, sinks }: WiredPlan, inputs: readonly Series[], untilMs: number) {
  sinks.push(...plan.items.map(() => new CountingSink()));
  const before = inputs.map((one) => partOf(one, Number.NEGATIVE_INFINITY, untilMs));
  if (!pushAll(plan, graph, before, false)) return undefined;
  for (const source of graph.sources) source.advance(untilMs);
  graph.advance();
  sinks.length = 0;
  return inputs.map((one) => partOf(one, untilMs, Number.POSITIVE_INFINITY));
}

function partOf(series: Series, fromMs: number, untilMs: number): Series {
  const { timeMs, value } = series;
  const from = firstAtOrAfter(timeMs, 0, timeMs.length, fromMs);
  const to = firstAtOrAfter(timeMs, from, timeMs.length, untilMs);
  return { ...series, timeMs: timeMs.subarray(from, to), value: value.subarray(from, to) };
}

// Runs over these series, and gathers the results; undefined if the times of one do not rise.
function gather(
  { plan, settings, shareTimes }: Job,
  wired: WiredPlan,
  series: readonly Series[],
  inputs: readonly BatchInput[],
): Results | undefined {
  const { graph } = wired;
  const isWhole = settings.warmUntilMs === undefined;
  const expected = expectedCounts(plan, series, settings);
  const isCounted = isWhole && isWorthCounting(plan, expected);
  const counts = isCounted ? countResults(plan, wired, series) : expected.map(({ count }) => count);
  if (counts === undefined) return undefined;
  // Parts do not have the times of their input.
  const sinks = plan.items.map(({ output }, item) => new BatchSink(output, counts[item]!, shareTimes && isWhole));
  wired.sinks.push(...sinks);
  for (const [index, source] of graph.sources.entries()) countLeftOut(source.counts, inputs[index]!, settings);
  if (!pushAll(plan, graph, series, isCounted)) return undefined;
  graph.close(Number.NEGATIVE_INFINITY);
  const results = sinks.map((sink) => sink.take());
  const shared = new Set(results.flatMap(({ timeMs }, item) => (sinks[item]!.isTimeShared ? [timeMs] : [])));
  return { series: results, report: createReport(plan, graph, 0, 0), shared };
}

/** Fewer results are copied as fast as they are counted. */
const COUNTED_MIN = 131_072;

// How many results each item has; undefined if the times of an input do not rise.
function countResults(plan: Plan, { graph, sinks }: WiredPlan, inputs: readonly Series[]): number[] | undefined {
  const counting = plan.items.map(() => new CountingSink());
  sinks.push(...counting);
  const isRising = pushAll(plan, graph, inputs, false);
  if (isRising) graph.close(Number.NEGATIVE_INFINITY);
  sinks.length = 0;
  graph.reset();
  return isRising ? counting.map((sink) => sink.count()) : undefined;
}

// A plan that works sample by sample is cheap: running it twice, first to count its results, costs less than fresh
// memory for samples that a filter then drops.
function isWorthCounting({ steps }: Plan, expected: readonly Expected[]): boolean {
  const isElementwise = steps.every((step) => operationOf(step).shape !== 'regrid');
  return isElementwise && expected.some(({ count, isFiltered }) => isFiltered && count >= COUNTED_MIN);
}

/** A graph, and its sinks, which each run replaces. */
interface WiredPlan {
  readonly graph: Graph;
  readonly sinks: (BatchSink | CountingSink)[];
}

const graphs = new GraphCache<WiredPlan>();

function wire(plan: Plan, settings: RunSettings): WiredPlan {
  const sinks: WiredPlan['sinks'] = [];
  const inlets = plan.items.map((_, item) => ({
    receive: (chunk: Chunk): void => sinks[item]!.receive(chunk),
    get isCounting(): boolean {
      return sinks[item] instanceof CountingSink;
    },
  }));
  return { graph: buildGraph(plan, settings, inlets, () => settings.warmUntilMs ?? Number.NEGATIVE_INFINITY), sinks };
}
