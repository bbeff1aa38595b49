import type { Chunk } from '../../core/chunk.js';
import type { Windows } from '../../core/windows.js';
import { currentArena } from '../../kernels/arena.js';
import { addScalar } from '../../kernels/arithmetic.js';
import { isAllFinite } from '../../kernels/check.js';
import { firstAfter, firstAtOrAfter } from '../../kernels/search.js';
import { findWindows, sumWindows } from '../../kernels/windows.js';
import type { Output, RegridRunner, State } from '../operation.js';
import { type Accumulator, emitResult } from './functions.js';

/** Which samples a window takes, and how its result is stamped. */
export interface WindowOptions {
  readonly windows: Windows;
  /** `left`: [start, end). `right`: (start, end]. */
  readonly closed: 'left' | 'right';
  readonly label: 'start' | 'end';
  /** The result of windows without samples, between windows with samples. */
  readonly empty: 'omit' | 'zero' | 'hold';
}

const IS_OPEN = 0;
const START_MS = 1; // of the open window or, after it, of the last one that had samples
const END_MS = 2;
const COUNT = 3;
const PAST = 4; // for `empty`: NO_WINDOW, A_WINDOW once one has closed, A_RESULT once a result was finite
const RESULT = 5; // the last finite result, for `empty: hold`
const FUNCTION = 6; // the accumulator's own slots

const NO_WINDOW = 0;
const A_WINDOW = 1;
const A_RESULT = 2;

/** Looking for whole windows among fewer samples than this does not pay. */
export const WHOLE_MIN = 64;

/** Runs a function over windows: a sample opens a window, which gives its result once time has passed it. */
export function windowRunner(
  accumulator: Accumulator,
  options: WindowOptions,
  column: () => Float64Array,
): RegridRunner {
  const isRight = options.closed === 'right';
  const { label, empty, windows } = options;
  const { ofWhole, keptSlotCount = 0 } = accumulator;
  const canSumWhole = empty === 'omit' && !isRight && Number.isInteger(windows.gridMs);
  const lengthMs = windows.gridMs ?? 0;
  const isMean = ofWhole === 'mean';
  const whole = canSumWhole && ofWhole ? { isMean, lengthMs, startsMs: column(), results: column() } : undefined;
  const firstBeyond = isRight ? firstAfter : firstAtOrAfter;
  return {
    kind: 'regrid',
    slotCount: FUNCTION + accumulator.slotCount,
    listCount: accumulator.listCount,
    push: (state, chunk, out) => {
      const { slots } = state;
      const { timeMs, count } = chunk;
      let from = 0;
      while (from < count) {
        let to = slots[IS_OPEN] === 1 ? firstBeyond(timeMs, from, count, slots[END_MS]!) : from;
        if (to === from) {
          if (slots[IS_OPEN] === 1) emit(state, accumulator, label, out);
          if (whole && count - from >= WHOLE_MIN) from = emitWhole(chunk, from, options, whole, out);
          open(slots, timeMs[from]!, keptSlotCount, options, out);
          to = firstBeyond(timeMs, from, count, slots[END_MS]!);
        }
        accumulator.add(state, FUNCTION, chunk, from, to, slots[COUNT]!);
        slots[COUNT] = slots[COUNT]! + (to - from);
        from = to;
      }
    },
    advance: (state, watermarkMs, out, comingMs) => {
      const { slots } = state;
      const isPassed = isRight ? watermarkMs > slots[END_MS]! : watermarkMs >= slots[END_MS]!;
      if (slots[IS_OPEN] === 1 && isPassed) emit(state, accumulator, label, out);
      if (empty === 'omit' || slots[IS_OPEN] === 1 || slots[PAST] === NO_WINDOW) return;
      // An empty window is certain once time has passed it and a sample after it is certain to come.
      const certainMs = Math.min(watermarkMs, comingMs);
      if (certainMs > slots[END_MS]!) fillTo(slots, startFor(certainMs, options), options, out);
    },
    close: (state, _advancedMs, out) => {
      if (state.slots[IS_OPEN] === 1) emit(state, accumulator, label, out);
    },
    watermark: ({ slots }, watermarkMs) => {
      if (slots[IS_OPEN] === 1) return labelOf(slots[START_MS]!, options);
      if (empty !== 'omit' && slots[PAST] !== NO_WINDOW) return labelOf(slots[END_MS]!, options);
      return labelOf(startFor(watermarkMs, options), options);
    },
  };
}

function startFor(timeMs: number, { windows, closed }: WindowOptions): number {
  const startMs = windows.startOf(timeMs);
  return closed === 'right' && startMs === timeMs ? windows.previous(startMs) : startMs;
}

function labelOf(startMs: number, { windows, label }: WindowOptions): number {
  return label === 'start' ? startMs : windows.next(startMs);
}

function open(slots: Float64Array, timeMs: number, keptSlotCount: number, options: WindowOptions, out: Output): void {
  const startMs = startFor(timeMs, options);
  if (options.empty !== 'omit' && slots[PAST] !== NO_WINDOW) fillTo(slots, startMs, options, out);
  slots.fill(0, FUNCTION + keptSlotCount);
  slots[IS_OPEN] = 1;
  slots[START_MS] = startMs;
  slots[END_MS] = options.windows.next(startMs);
  slots[COUNT] = 0;
}

// Emits the empty windows between the last one with samples and the next.
function fillTo(slots: Float64Array, untilStartMs: number, options: WindowOptions, out: Output): void {
  const { windows, empty } = options;
  if (empty === 'hold' && slots[PAST] !== A_RESULT) return;
  const fill = empty === 'hold' ? slots[RESULT]! : 0;
  let startMs = slots[END_MS]!;
  out.expect((untilStartMs - startMs) / windows.lengthMsMax);
  for (; startMs < untilStartMs; startMs = windows.next(startMs)) out.add(labelOf(startMs, options), fill);
  slots[END_MS] = startMs;
}

function emit(state: State, accumulator: Accumulator, label: 'start' | 'end', out: Output): void {
  const { slots, lists } = state;
  slots[IS_OPEN] = 0;
  if (slots[PAST] === NO_WINDOW) slots[PAST] = A_WINDOW;
  const labelMs = slots[label === 'start' ? START_MS : END_MS]!;
  const result = emitResult(accumulator, state, FUNCTION, slots[COUNT]!, labelMs, out);
  if (result !== undefined && Number.isFinite(result)) {
    slots[PAST] = A_RESULT;
    slots[RESULT] = result;
  }
  for (const list of lists) list.clear();
}

/** What summing whole windows of one length at once needs. */
interface WholeWindows {
  readonly isMean: boolean;
  readonly lengthMs: number;
  /** The step's own scratch columns. */
  readonly startsMs: Float64Array;
  readonly results: Float64Array;
}

// Windows that begin and end within the chunk need no state: this finds their borders, then computes all their sums.
// Returns the index of the first sample that is left.
function emitWhole(chunk: Chunk, first: number, options: WindowOptions, whole: WholeWindows, out: Output): number {
  const { borders } = currentArena();
  const { timeMs, value, count } = chunk;
  const { isMean, lengthMs, startsMs, results } = whole;
  let windowCount = 0;
  borders[0] = first;
  for (;;) {
    const startMs = options.windows.startOf(timeMs[borders[windowCount]!]!);
    const found = findWindows(timeMs, count, startMs, lengthMs, borders, windowCount, startsMs);
    if (found === windowCount) break;
    windowCount = found;
  }
  const to = borders[windowCount]!;
  sumWindows(value, borders, windowCount, isMean, results);
  if (options.label === 'end') addScalar(startsMs, windowCount, lengthMs, startsMs);
  if (isAllFinite(results, 0, windowCount)) out.addRun(startsMs, results, windowCount);
  else for (let w = 0; w < windowCount; w++) out.add(startsMs[w]!, results[w]!);
  return to;
}
