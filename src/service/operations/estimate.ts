import { DAY_MS } from '../../core/calendar.js';
import { longestMs } from '../../core/interval.js';
import { TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import type { Windows } from '../../core/windows.js';
import { timeWeightedNames } from '../../operations/aggregate/parameters.js';
import { stagesOf } from '../../operations/aggregate/pipeline.js';
import { operationsByName } from '../../operations/index.js';
import type { WindowsMade } from '../../operations/operation.js';
import { durationMsIn, numberIn, type Parameters, textIn } from '../../operations/parameters.js';
import { isByTime, shiftMs } from '../../operations/shift.js';
import { describeStep } from '../../operations/texts/index.js';
import { checkedInterval, openWindows } from '../../operations/windowing.js';
import type { Plan, PlanStep } from '../../plan/plan.js';

/** How many samples a series has, and from when to when. */
export interface StoredRange {
  readonly sampleCount: number;
  readonly firstMs: number | null;
  readonly lastMs: number | null;
}

/** The same of a series that has samples. */
interface SomeRange {
  readonly sampleCount: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

const NOTHING: StoredRange = { sampleCount: 0, firstMs: null, lastMs: null };

/** The most samples that each step would make from what is stored, as far as counts and ranges tell. */
export function estimateOutputs(plan: Plan, sources: readonly StoredRange[]): number[] {
  const known: StoredRange[] = [];
  for (const step of plan.steps) {
    const inputs = step.inputs.map(({ from, index }) => (from === 'source' ? sources[index]! : known[index]!));
    known.push(estimateStep(step, inputs));
  }
  return known.map(({ sampleCount }) => sampleCount);
}

function estimateStep(step: PlanStep, inputs: readonly StoredRange[]): StoredRange {
  const { operation, parameters } = step;
  const own = operationsByName.get(operation);
  if (own === undefined) throw new Error(`assertion failed: the plan names ${operation}`);
  const align = own.parameters.align === undefined ? undefined : (parameters.align ?? 'inner');
  const input = meeting(inputs, align);
  if (input === undefined) return NOTHING;
  const made = own.windows?.(parameters);
  if (made !== undefined) return ofWindows(input, made, step);
  const { firstMs, lastMs, sampleCount } = input;
  const count = mostOf[operation]?.(parameters, sampleCount, lastMs - firstMs) ?? sampleCount;
  const [leastMs, greatestMs] = movesOf[operation]?.(parameters) ?? [0, 0];
  return within(count, firstMs + leastMs, lastMs + greatestMs);
}

/** Of steps without windows: the most results, if that is not one for each sample. */
const mostOf: Readonly<Record<string, (parameters: Parameters, sampleCount: number, spanMs: number) => number>> = {
  // After each sample it may turn once.
  Delay: (_, sampleCount) => 2 * sampleCount,
  Fill: (parameters, sampleCount, spanMs) =>
    parameters.method === 'series'
      ? sampleCount
      : sampleCount + Math.floor(spanMs / durationMsIn(parameters, 'frequency')!),
  // Twice the beginnings and ends of a day's hours, as in a night in which the clock goes back both passes count.
  Schedule: ({ hours }, _, spanMs) =>
    1 + 4 * (Array.isArray(hours) ? hours.length : 1) * (2 + Math.floor(spanMs / DAY_MS)),
};

/** Of these, by how much results lie after their samples, at least and at most, if that is not 0. */
const movesOf: Readonly<Record<string, (parameters: Parameters) => readonly [number, number]>> = {
  Delay: (parameters) => [0, Math.max(durationMsIn(parameters, 'on') ?? 0, durationMsIn(parameters, 'off') ?? 0)],
  Shift: (parameters) => {
    if (isByTime(parameters)) return [shiftMs(parameters), shiftMs(parameters)];
    const sign = textIn(parameters, 'direction') === 'forward' ? 1 : -1;
    const lengthMs = longestMs(checkedInterval(textIn(parameters, 'window')));
    const byMs = sign * numberIn(parameters, 'shift') * lengthMs;
    // Changes of a zone's offset, and the place in a window, make it a little more or less.
    const moreMs = lengthMs + 2 * DAY_MS;
    return [Math.min(0, byMs) - moreMs, Math.max(0, byMs) + moreMs];
  },
};

/** No result lies outside of the years that are known. */
function within(sampleCount: number, firstMs: number, lastMs: number): StoredRange {
  if (firstMs >= TIME_MS_END || lastMs < TIME_MS_MIN) return NOTHING;
  return { sampleCount, firstMs: Math.max(firstMs, TIME_MS_MIN), lastMs: Math.min(lastMs, TIME_MS_END) };
}

/** The times at which inputs meet; undefined if there are none. */
function meeting(inputs: readonly StoredRange[], align: unknown): SomeRange | undefined {
  const some = inputs.filter((one): one is SomeRange => one.sampleCount > 0);
  const counts = inputs.map(({ sampleCount }) => sampleCount);
  // Without an alignment, one input alone can give results too.
  const sampleCount =
    align === 'inner' && inputs.length > 1
      ? Math.min(...counts)
      : align === 'asof'
        ? counts[0]!
        : counts.reduce((sum, count) => sum + count, 0);
  if (sampleCount === 0) return undefined;
  const firstMs = Math.min(...some.map((one) => one.firstMs));
  return { sampleCount, firstMs, lastMs: Math.max(...some.map((one) => one.lastMs)) };
}

/** The results of a step that gives one for each of its windows at most. */
function ofWindows(
  { sampleCount, firstMs, lastMs }: SomeRange,
  { window, timezone }: WindowsMade,
  { operation, parameters }: PlanStep,
): StoredRange {
  const { label, closed } = parameters;
  const windows = openWindows(window, timezone);
  const nominalMs = longestMs(checkedInterval(window));
  const { reads } = describeStep(operation, parameters);
  const sizeMs = reads.kind === 'window' ? reads.lengthMsMax : nominalMs;
  // A window that begins at one border and ends at another than the next: sliding ones.
  const isSliding = sizeMs !== nominalMs;
  const stages = parameters.pipeline === undefined ? [parameters] : stagesOf(parameters);
  const isFilled = reads.kind !== 'window' || stages.some(canFill);
  // Stamped with the end of its window, a result counts in the next window of a stage that holds values.
  const laterMs = isFilled && closed === 'right' ? (stages.length - 1) * nominalMs : 0;
  const beyondMs = Math.max(0, sizeMs - nominalMs) + laterMs;
  const startMs = windows.startOf(firstMs);
  const fromMs = closed === 'right' && startMs === firstMs ? windows.previous(startMs) : startMs;
  const endMs = windows.startOf(lastMs + beyondMs);
  const toMs = isSliding || beyondMs > 0 ? windows.next(endMs) : endMs;
  const count = countStarts(windows, fromMs, toMs, nominalMs);
  const most = isFilled || isSliding ? count : Math.min(sampleCount, count);
  if (label === 'end') return within(most, fromMs, windows.next(toMs));
  return within(most, isSliding ? fromMs - sizeMs - windows.lengthMsMax : fromMs, toMs);
}

/** Whether windows without samples can have results. */
function canFill(stage: Parameters): boolean {
  return stage.empty !== 'omit' || timeWeightedNames.includes(textIn(stage, 'function'));
}

/** Over longer spans, clock changes are not looked up one by one. */
const COUNTED_MS_MAX = 36_525 * DAY_MS;
/** More than months are shorter than 31 days on average, and than clock changes add in such spans. */
const EXCESS = 1.02;

/** The most windows that start from one start up to another. */
function countStarts(windows: Windows, fromMs: number, toMs: number, nominalMs: number): number {
  if (windows.gridMs !== undefined) return Math.round((toMs - fromMs) / windows.gridMs) + 1;
  if (toMs - fromMs > COUNTED_MS_MAX) return 1 + Math.ceil((EXCESS * (toMs - fromMs)) / nominalMs);
  const knownMs = Math.min(toMs, TIME_MS_END);
  let count = Math.floor((knownMs - fromMs) / nominalMs);
  // Changes of the clock, and short months, make room for some more.
  for (let more = 1; windows.step(fromMs, count) < knownMs; more *= 2) count += more;
  return 1 + count + Math.ceil((toMs - knownMs) / nominalMs);
}
