import type { Chunk } from '../../core/chunk.js';
import { parseDuration } from '../../core/duration.js';
import { InputError } from '../../core/errors.js';
import { concatenate, type Series, seriesKey, seriesName } from '../../core/series.js';
import { type Arena, currentArena, workIn } from '../../kernels/arena.js';
import { firstAtOrAfter } from '../../kernels/search.js';
import { operationOf } from '../../operations/index.js';
import { planInTimezone } from '../../plan/create-plan.js';
import type { Plan } from '../../plan/plan.js';
import { checkColumns, checkList, checkTimes } from '../check-input.js';
import type { SourceCounts } from '../graph/counts.js';
import { buildGraph, type Graph } from '../graph/graph.js';
import { GraphCache } from '../graph/graph-cache.js';
import { type RunOptions, type RunSettings, readOptions, readWarmup } from '../options.js';
import { createReport, type Report } from '../report.js';
import { BatchSink, CountingSink } from './batch-sink.js';
import { checkExpectedCounts, expectedCounts } from './expected-counts.js';
import { loadedOf } from './loaded-series.js';
import { FinishedRun, type Run } from './run.js';
import { type SortedInput, sortInput } from './sorted-input.js';

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
  const settings = { ...asked, fromMs: asked.fromMs - readWarmup(options) };
  const warmUntilMs = options.warmup === undefined ? undefined : asked.fromMs;
  const startedMs = settings.clock();
  checkList(inputs);
  const { given, unused } = chooseInputs(planned, inputs);
  const job = { plan: planned, settings, shareTimes: options.shareTimes === true, warmUntilMs };
  const { series, report, shared } = workIn(arenaOf(given), () => runGiven(job, given));
  const durationMs = settings.clock() - startedMs;
  return new FinishedRun(series, { ...report, unused, durationMs }, shared);
}

/** What is to be run, and how. */
interface Job {
  readonly plan: Plan;
  readonly settings: RunSettings;
  readonly shareTimes: boolean;
  readonly warmUntilMs: number | undefined;
}

interface Results {
  readonly series: readonly Series[];
  readonly report: Report;
  /** Arrays of times that belong to an input. */
  readonly shared: ReadonlySet<Float64Array>;
}

function runGiven(job: Job, given: readonly SortedInput[]): Results {
  const results = tryRun(job, given);
  if (results !== undefined) return results;
  const inputs = given.map((one) => sorted(one, job.settings));
  const again = tryRun(job, inputs);
  if (again === undefined) throw new Error('assertion failed: sorted input does not rise');
  return again;
}

// The arena of the loaded series; of the longest one if they lie in several.
function arenaOf(given: readonly SortedInput[]): Arena {
  let arena: Arena | undefined;
  let length = -1;
  for (const { series } of given) {
    const loaded = loadedOf(series);
    if (loaded === undefined || series.timeMs.length <= length) continue;
    arena = loaded.arena;
    length = series.timeMs.length;
  }
  return arena ?? currentArena();
}

function chooseInputs(plan: Plan, inputs: readonly Series[]): { given: SortedInput[]; unused: number } {
  const parts = new Map<string, Series[]>(plan.sources.map((source) => [seriesKey(source), []]));
  let unused = 0;
  for (const input of inputs) {
    checkColumns(input);
    const wanted = parts.get(seriesKey(input));
    if (wanted === undefined) unused += sampleCountOf(input);
    else wanted.push(input);
  }
  const given = plan.sources.map((source) => {
    const [first, ...more] = parts.get(seriesKey(source)) ?? [];
    if (first !== undefined) return asGiven([first, ...more]);
    const names = inputs.map(seriesName).join(', ') || 'none';
    throw new InputError('input.missing', `inputs: expected the series ${seriesName(source)}, received ${names}`);
  });
  return { given, unused };
}

// Of a loaded series this includes the samples that loading left out.
function sampleCountOf(series: Series): number {
  const loaded = loadedOf(series);
  return series.timeMs.length + (loaded === undefined ? 0 : loaded.missing + loaded.duplicateMs.length);
}

const NO_TIMES: readonly number[] = [];

function asGiven(parts: readonly [Series, ...Series[]]): SortedInput {
  const [first] = parts;
  const series = parts.length === 1 ? first : { ...first, ...concatenate(parts) };
  const loaded = parts.flatMap((part) => loadedOf(part) ?? []);
  if (loaded.length === 0) return { series, missing: 0, outOfRun: 0, duplicateMs: NO_TIMES };
  const missing = loaded.reduce((sum, one) => sum + one.missing, 0);
  return { series, missing, outOfRun: 0, duplicateMs: loaded.flatMap((one) => one.duplicateMs) };
}

function sorted(given: SortedInput, settings: RunSettings): SortedInput {
  if (loadedOf(given.series) !== undefined) return given;
  checkTimes(given.series);
  const own = sortInput(given.series, settings.fromMs, settings.untilMs ?? Number.POSITIVE_INFINITY);
  const duplicateMs = [...given.duplicateMs, ...own.duplicateMs];
  return { ...own, missing: given.missing + own.missing, duplicateMs };
}

// Undefined if the times of an input do not rise: that costs only the time until it was noticed.
function tryRun(job: Job, inputs: readonly SortedInput[]): Results | undefined {
  const { plan, settings, warmUntilMs } = job;
  const whole = inputs.map((input) => input.series);
  checkExpectedCounts(plan, whole, settings);
  const wired = graphs.take(plan, settings) ?? wire(plan, settings);
  const { graph, sinks } = wired;
  const isWarm = warmUntilMs === undefined || warmUp(plan, wired, whole, warmUntilMs);
  const series =
    warmUntilMs === undefined ? whole : whole.map((one) => partOf(one, warmUntilMs, Number.POSITIVE_INFINITY));
  // Parts do not have the times of their input.
  const shareTimes = job.shareTimes && warmUntilMs === undefined;
  const expected = expectedCounts(plan, series, settings);
  const isCounted =
    warmUntilMs === undefined &&
    expected.some(({ count, isFiltered }) => isFiltered && count >= COUNTED_MIN) &&
    isElementwise(plan);
  const counts = isCounted ? countResults(plan, wired, series) : expected.map(({ count }) => count);
  if (counts === undefined) return undefined;
  const own = plan.items.map(({ output }, item) => new BatchSink(output, counts[item]!, shareTimes));
  sinks.push(...own);
  for (const [index, source] of graph.sources.entries()) addCounts(source.counts, inputs[index]!, settings);
  const isRising = isWarm && pushAll(plan, graph, series, isCounted);
  if (isRising) graph.close(Number.NEGATIVE_INFINITY);
  const results = own.map((sink) => sink.take());
  const shared = new Set(results.flatMap(({ timeMs }, item) => (own[item]!.isTimeShared ? [timeMs] : [])));
  const report = createReport(plan, graph, 0, 0);
  sinks.length = 0;
  graphs.keep(plan, settings, wired);
  return isRising ? { series: results, report, shared } : undefined;
}

// Takes the samples before a time as a stream that advances to it would. False if the times of an input do not rise.
function warmUp(plan: Plan, { graph, sinks }: WiredPlan, inputs: readonly Series[], untilMs: number): boolean {
  sinks.push(...plan.items.map(() => new CountingSink()));
  const before = inputs.map((one) => partOf(one, Number.NEGATIVE_INFINITY, untilMs));
  const isRising = pushAll(plan, graph, before, false);
  for (const source of graph.sources) source.advance(untilMs);
  graph.advance();
  sinks.length = 0;
  return isRising;
}

function partOf(series: Series, fromMs: number, untilMs: number): Series {
  const { timeMs, value } = series;
  const from = firstAtOrAfter(timeMs, 0, timeMs.length, fromMs);
  const to = firstAtOrAfter(timeMs, from, timeMs.length, untilMs);
  return { ...series, timeMs: timeMs.subarray(from, to), value: value.subarray(from, to) };
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

// Whether every step works sample by sample. Such a plan is cheap: running it twice, first to count its results, costs
// less than fresh memory for samples that a filter then drops.
function isElementwise({ steps }: Plan): boolean {
  return steps.every((step) => operationOf(step).shape !== 'regrid');
}

// Counts what sorting or loading left out of an input.
function addCounts(counts: SourceCounts, { missing, outOfRun, duplicateMs }: SortedInput, settings: RunSettings): void {
  const duplicate = countWithin(duplicateMs, settings);
  counts.samplesIn += missing + outOfRun + duplicateMs.length;
  counts.missing += missing;
  counts.outOfRun += outOfRun + duplicateMs.length - duplicate;
  counts.duplicate += duplicate;
}

function countWithin(timesMs: readonly number[], { fromMs, untilMs = Number.POSITIVE_INFINITY }: RunSettings): number {
  let count = 0;
  for (const t of timesMs) if (t >= fromMs && t < untilMs) count++;
  return count;
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
  return { graph: buildGraph(plan, settings, inlets), sinks };
}

// Pushes chunk by chunk, always to the source that is furthest behind, so that steps with two inputs hold little back.
// With a `frequency` no chunk crosses a boundary between two runs. False if the times of an input do not rise.
function pushAll(plan: Plan, graph: Graph, inputs: readonly Series[], areChecked: boolean): boolean {
  const frequencyMs = shortestFrequencyMs(plan);
  const order = pushOrder(plan);
  const position = inputs.map(() => 0);
  const areLoaded = inputs.map((input) => loadedOf(input) !== undefined);
  let checked: { readonly timeMs: Float64Array; readonly from: number; readonly to: number } | undefined;
  let lastMs = Number.NaN;
  for (;;) {
    const at = furthestBack(inputs, position, order);
    if (at < 0) return true;
    const input = inputs[at]!;
    const { timeMs } = input;
    const from = position[at]!;
    const nextMs = timeMs[from]!;
    // Chunks that begin at the same time go in with no advance between them, so their samples need not wait in lists.
    if (nextMs !== lastMs) graph.advance();
    lastMs = nextMs;
    let to = Math.min(from + graph.sources[at]!.chunkLength, timeMs.length);
    if (frequencyMs !== undefined) {
      const boundaryMs = (Math.floor(nextMs / frequencyMs) + 1) * frequencyMs;
      to = Math.max(from + 1, firstAtOrAfter(timeMs, from, to, boundaryMs));
    }
    // A column of times that several series share is checked once.
    const isChecked = checked !== undefined && checked.timeMs === timeMs && checked.from === from && checked.to === to;
    const known = areLoaded[at] === true ? 'all' : isChecked || areChecked ? 'times' : 'nothing';
    if (!graph.sources[at]!.pushRising(input, from, to, known)) return false;
    checked = { timeMs, from, to };
    position[at] = to;
  }
}

// The input whose next sample is the earliest, the first in `order` among equals; −1 if none has any left.
function furthestBack(inputs: readonly Series[], position: readonly number[], order: readonly number[]): number {
  let at = -1;
  let earliestMs = Number.POSITIVE_INFINITY;
  for (const k of order) {
    const nextMs = inputs[k]!.timeMs[position[k]!];
    if (nextMs === undefined || (at >= 0 && !(nextMs < earliestMs))) continue;
    at = k;
    earliestMs = nextMs;
  }
  return at;
}

// Sources that a step with two inputs reads directly go first: the step can hold their chunks without copying them, but
// has to copy the results of other steps.
function pushOrder({ sources, steps }: Plan): number[] {
  const pairs = steps.flatMap(({ inputs }) => (inputs.length === 2 ? inputs : []));
  const held = new Set(pairs.flatMap(({ from, index }) => (from === 'source' ? index : [])));
  const order = [...sources.keys()];
  return [...order.filter((source) => held.has(source)), ...order.filter((source) => !held.has(source))];
}

function shortestFrequencyMs(plan: Plan): number | undefined {
  const lengths = plan.items.flatMap(({ frequency }) =>
    frequency === undefined ? [] : [parseDuration(frequency) ?? 0],
  );
  return lengths.length === 0 ? undefined : Math.min(...lengths);
}
