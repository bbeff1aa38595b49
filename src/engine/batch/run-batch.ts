import type { Chunk } from '../../core/chunk.js';
import { parseDuration } from '../../core/duration.js';
import { InputError } from '../../core/errors.js';
import { concatenate, type Series, seriesKey, seriesName } from '../../core/series.js';
import { type Arena, currentArena, workIn } from '../../kernels/arena.js';
import { firstAtOrAfter } from '../../kernels/search.js';
import { operationsByName } from '../../operations/index.js';
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
   * Whether a result with a sample at each time of its input has the input's own array of times, instead of a copy:
   * false by default. It saves memory and time where nobody changes, transfers or gives away these arrays.
   */
  readonly shareTimes?: boolean;
  /**
   * How far before `from` samples are taken as a stream would have taken them by then: an ISO 8601 duration, or `all`.
   * The results are those that were not final at `from`, so runs one after another give what one run gives.
   */
  readonly warmup?: string;
}

/**
 * Runs a plan over whole series.
 *
 * @param plan from `createPlan`.
 * @param inputs the series that the plan reads, in any order; more than one part of a series are joined in the
 *   order given. They are never changed, and results do not share their memory unless `shareTimes` says so.
 * @throws InputError for options, columns or times that cannot be taken, or a series that is not there.
 * @throws OutputLimitError when a step would make more than `maxOutputSamples`.
 */
export function runBatch(plan: Plan, inputs: readonly Series[], options: BatchOptions = {}): Run {
  const planned = planInTimezone(plan, options.timezone);
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
  /** Times that are an input's. */
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

// Loaded series are worked on where they lie, the longest of them if they lie apart.
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

// Of a series that was loaded, also those that loading left out.
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

// Undefined when an input does not rise in time: then nothing has been lost but the time until it was seen.
function tryRun(job: Job, inputs: readonly SortedInput[]): Results | undefined {
  const { plan, settings, warmUntilMs } = job;
  const whole = inputs.map((input) => input.series);
  checkExpectedCounts(plan, whole, settings);
  const machine = graphs.take(plan, settings) ?? buildMachine(plan, settings);
  const { graph, sinks } = machine;
  const isWarm = warmUntilMs === undefined || warmUp(plan, machine, whole, warmUntilMs);
  const series =
    warmUntilMs === undefined ? whole : whole.map((one) => partOf(one, warmUntilMs, Number.POSITIVE_INFINITY));
  // Parts do not have the times of their input.
  const shareTimes = job.shareTimes && warmUntilMs === undefined;
  const expected = expectedCounts(plan, series, settings);
  const isCounted =
    warmUntilMs === undefined &&
    expected.some(({ count, isFiltered }) => isFiltered && count >= COUNTED_MIN) &&
    isElementwise(plan);
  const counts = isCounted ? countResults(plan, machine, series) : expected.map(({ count }) => count);
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
  graphs.keep(plan, settings, machine);
  return isRising ? { series: results, report, shared } : undefined;
}

// Takes the samples before a time as a stream would, to its advance; false when an input does not rise in time.
function warmUp(plan: Plan, { graph, sinks }: Machine, inputs: readonly Series[], untilMs: number): boolean {
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

// How many results each item has; undefined when an input does not rise in time.
function countResults(plan: Plan, { graph, sinks }: Machine, inputs: readonly Series[]): number[] | undefined {
  const counting = plan.items.map(() => new CountingSink());
  sinks.push(...counting);
  const isRising = pushAll(plan, graph, inputs, false);
  if (isRising) graph.close(Number.NEGATIVE_INFINITY);
  sinks.length = 0;
  graph.reset();
  return isRising ? counting.map((sink) => sink.count()) : undefined;
}

// Whether every step takes sample by sample: then to run it twice, first to count, costs less than memory for all
// samples of which only some come through.
function isElementwise({ steps }: Plan): boolean {
  return steps.every(({ operation }) => operationsByName.get(operation)?.shape !== 'regrid');
}

// What sorting or loading left out of an input.
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

/** A graph and where its results go: set anew for each run. */
interface Machine {
  readonly graph: Graph;
  readonly sinks: (BatchSink | CountingSink)[];
}

const graphs = new GraphCache<Machine>();

function buildMachine(plan: Plan, settings: RunSettings): Machine {
  const sinks: Machine['sinks'] = [];
  const inlets = plan.items.map((_, item) => ({
    receive: (chunk: Chunk): void => sinks[item]!.receive(chunk),
    get isCounting(): boolean {
      return sinks[item] instanceof CountingSink;
    },
  }));
  return { graph: buildGraph(plan, settings, inlets), sinks };
}

// Chunk by chunk, the source that lies furthest back first, so that steps with two inputs wait for little.
// With a `frequency` no chunk reaches over a boundary between two runs. False when an input does not rise in time.
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
    // Chunks that begin together go in together: then their samples meet without waiting in lists.
    if (nextMs !== lastMs) graph.advance();
    lastMs = nextMs;
    let to = Math.min(from + graph.sources[at]!.chunkLength, timeMs.length);
    if (frequencyMs !== undefined) {
      const boundaryMs = (Math.floor(nextMs / frequencyMs) + 1) * frequencyMs;
      to = Math.max(from + 1, firstAtOrAfter(timeMs, from, to, boundaryMs));
    }
    // Series that share one column of times have it checked once.
    const isChecked = checked !== undefined && checked.timeMs === timeMs && checked.from === from && checked.to === to;
    const known = areLoaded[at] === true ? 'all' : isChecked || areChecked ? 'times' : 'nothing';
    if (!graph.sources[at]!.pushRising(input, from, to, known)) return false;
    checked = { timeMs, from, to };
    position[at] = to;
  }
}

// The input whose next sample is the earliest, −1 when all are used up; among equals the first in the order.
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

// Sources that a step with two inputs reads go first: such a step can hold their chunks as they lie, but has to copy
// what other steps made.
function pushOrder({ sources, steps }: Plan): number[] {
  const isHeld = (source: number): boolean =>
    steps.some(
      ({ inputs }) => inputs.length === 2 && inputs.some(({ from, index }) => from === 'source' && index === source),
    );
  const order = [...sources.keys()];
  return [...order.filter(isHeld), ...order.filter((source) => !isHeld(source))];
}

function shortestFrequencyMs(plan: Plan): number | undefined {
  const lengths = plan.items.flatMap(({ frequency }) =>
    frequency === undefined ? [] : [parseDuration(frequency) ?? 0],
  );
  return lengths.length === 0 ? undefined : Math.min(...lengths);
}
