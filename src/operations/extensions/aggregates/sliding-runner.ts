import type { Chunk } from '../../../core/chunk.js';
import { TIME_MS_MIN } from '../../../core/series.js';
import { firstStartFrom, type Windows } from '../../../core/windows.js';
import { firstAfter, firstAtOrAfter } from '../../../kernels/search.js';
import { emit, type Samples } from '../../aggregate/functions.js';
import type { Output, RegridRunner, State } from '../../operation.js';
import type { MovingFunction } from './moving-functions.js';

/** Runs sliding windows: the samples of one window, which leave at its start as its end moves on. */

const COUNT = 0; // samples in the window
const IS_ON = 1; // whether there is a next window
const END_MS = 2; // the end of that window
const HAS_RESULT = 3;
const RESULT = 4; // the last finite result, for `empty: hold`
const IS_WAITING = 5; // whether a result waits, as the next window begins at the same time
const WAITING = 6; // that result
const FUNCTION = 7; // the function's own slots

/** A function and the samples of its window. */
class MovingWindow {
  readonly slotCount: number;
  readonly listCount: number;
  readonly #function: MovingFunction;

  constructor(movingFunction: MovingFunction) {
    this.#function = movingFunction;
    this.slotCount = FUNCTION + movingFunction.slotCount;
    // The lists of the function, then the times, the values and the second input's values of the samples.
    this.listCount = movingFunction.listCount + 3;
  }

  take(state: State, chunk: Chunk, from: number, to: number): void {
    const { times, values, seconds } = this.#samplesOf(state);
    times.append(chunk.timeMs, from, to);
    values.append(chunk.value, from, to);
    const { second } = this.#function;
    if (second !== undefined) seconds.append(second, from, to);
    this.#function.add(state, FUNCTION, chunk, from, to, state.slots[COUNT]!);
    state.slots[COUNT] = times.length;
  }

  /** Drops the first samples, those for whose times `isOut` holds. */
  drop(state: State, isOut: (timeMs: number) => boolean): void {
    const samples = this.#samplesOf(state);
    const { times, values, seconds } = samples;
    // If all samples leave, there is no result to update. Only the last goes through `remove`, which may keep it.
    const isEmptied = times.length > 1 && isOut(times.at(times.length - 1));
    if (isEmptied) for (const list of [times, values, seconds]) list.shift(Math.max(list.length - 1, 0));
    while (times.length > 0 && isOut(times.at(0))) {
      this.#function.remove(state, FUNCTION, samples);
      times.shift(1);
      values.shift(1);
      if (seconds.length > 0) seconds.shift(1);
    }
    state.slots[COUNT] = times.length;
    if (times.length > 0) return;
    state.slots.fill(0, FUNCTION + (this.#function.keptSlotCount ?? 0));
    for (const list of state.lists) list.clear();
  }

  result(state: State, startMs: number, endMs: number): number | undefined {
    const count = state.slots[COUNT]!;
    if (count < this.#function.sampleCountMin) return undefined;
    return this.#function.result(state, FUNCTION, count, this.#samplesOf(state), startMs, endMs);
  }

  #samplesOf({ lists }: State): Samples {
    const at = this.#function.listCount;
    return { times: lists[at]!, values: lists[at + 1]!, seconds: lists[at + 2]! };
  }
}

/** A window for each sample: that sample and those less than `sizeMs` older. */
export function trailingRunner(movingFunction: MovingFunction, sizeMs: number): RegridRunner {
  const window = new MovingWindow(movingFunction);
  return {
    kind: 'regrid',
    slotCount: window.slotCount,
    listCount: window.listCount,
    push: (state, chunk, out) => {
      for (let i = 0; i < chunk.count; i++) {
        const t = chunk.timeMs[i]!;
        // Exact, while t - sizeMs may be rounded.
        window.drop(state, (old) => t - old >= sizeMs);
        window.take(state, chunk, i, i + 1);
        emit(window.result(state, t - sizeMs, t), t, out);
      }
    },
    advance: () => undefined,
    close: () => undefined,
    watermark: (_state, watermarkMs) => watermarkMs,
  };
}

/** Where windows end and begin, and how their results are stamped. */
interface SlidingOptions {
  readonly ends: Windows;
  readonly startFor: (endMs: number) => number;
  readonly label: 'start' | 'end';
  /** `(start, end]` instead of `[start, end)`. */
  readonly isRight: boolean;
  readonly empty: 'omit' | 'zero' | 'hold';
}

/** A window that ends at each boundary of an interval. */
export function slidingRunner(movingFunction: MovingFunction, options: SlidingOptions): RegridRunner {
  const { ends, isRight } = options;
  const window = new MovingWindow(movingFunction);
  const borders = new WindowsAtBorders(movingFunction, window, options);
  const firstBeyond = isRight ? firstAfter : firstAtOrAfter;
  /** The end of the first window that holds a time. */
  const endFor = (timeMs: number): number => (isRight ? firstStartFrom(ends, timeMs) : ends.next(ends.startOf(timeMs)));
  return {
    kind: 'regrid',
    slotCount: window.slotCount,
    listCount: window.listCount,
    push: (state, chunk, out) => {
      const { slots } = state;
      const { timeMs, count } = chunk;
      for (let from = 0; from < count; ) {
        const t = timeMs[from]!;
        if (slots[IS_ON] === 1) {
          movingFunction.setNext?.(state, FUNCTION, t, chunk.value[from]!);
          borders.giveTo(state, t, t, out);
        }
        movingFunction.setNext?.(state, FUNCTION, Number.POSITIVE_INFINITY, 0);
        if (slots[IS_ON] === 0) {
          slots[IS_ON] = 1;
          slots[END_MS] = endFor(t);
        }
        // Drops samples before taking new ones: if all of them leave, that is faster than removing one by one.
        const startMs = options.startFor(slots[END_MS]!);
        window.drop(state, (old) => (isRight ? old <= startMs : old < startMs));
        const to = firstBeyond(timeMs, from, count, slots[END_MS]!);
        window.take(state, chunk, from, to);
        from = to;
      }
    },
    advance: (state, watermarkMs, out, comingMs) => {
      if (watermarkMs <= (movingFunction.openUntilMs?.(state, FUNCTION) ?? Number.NEGATIVE_INFINITY)) return;
      borders.giveTo(state, watermarkMs, Math.min(watermarkMs, comingMs), out);
    },
    close: (state, _advancedMs, out) => {
      borders.giveTo(state, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, out);
    },
    watermark: ({ slots }, watermarkMs) => borders.labelOf(slots[IS_ON] === 1 ? slots[END_MS]! : endFor(watermarkMs)),
  };
}

/** Turns windows that end at the boundaries of an interval into results. */
class WindowsAtBorders {
  readonly #function: MovingFunction;
  readonly #window: MovingWindow;
  readonly #options: SlidingOptions;

  constructor(movingFunction: MovingFunction, window: MovingWindow, options: SlidingOptions) {
    this.#function = movingFunction;
    this.#window = window;
    this.#options = options;
  }

  labelOf(endMs: number): number {
    return this.#options.label === 'end' ? endMs : this.#options.startFor(endMs);
  }

  /** Emits the windows that end by `timeMs`; those without samples only if they end by `certainMs`. */
  giveTo(state: State, timeMs: number, certainMs: number, out: Output): void {
    const { slots } = state;
    const { ends, startFor, isRight, empty } = this.#options;
    let isAnnounced = false;
    while (slots[IS_ON] === 1 && this.#isPassed(slots[END_MS]!, timeMs)) {
      const endMs = slots[END_MS]!;
      const startMs = startFor(endMs);
      this.#window.drop(state, (old) => (isRight ? old <= startMs : old < startMs));
      if (slots[COUNT] === 0) {
        const heldUntilMs = this.#function.heldUntilMs?.(state, FUNCTION) ?? Number.NEGATIVE_INFINITY;
        if (empty === 'omit' && !(startMs < heldUntilMs)) {
          // No window has a result before the next sample.
          slots[IS_ON] = 0;
          return;
        }
        if (!this.#isPassed(endMs, certainMs)) return;
        const lastMs = empty === 'omit' ? Math.min(certainMs, heldUntilMs) : certainMs;
        if (!isAnnounced) out.expect((lastMs - endMs) / ends.lengthMsMax);
        isAnnounced = true;
      }
      this.#give(state, startMs, out);
      slots[END_MS] = ends.next(endMs);
    }
  }

  #isPassed(endMs: number, timeMs: number): boolean {
    return this.#options.isRight ? endMs < timeMs : endMs <= timeMs;
  }

  #give(state: State, startMs: number, out: Output): void {
    const { slots } = state;
    const { empty } = this.#options;
    const isHeld = this.#function.heldUntilMs !== undefined;
    const result = slots[COUNT]! > 0 || isHeld ? this.#window.result(state, startMs, slots[END_MS]!) : undefined;
    if (result !== undefined) {
      this.#add(state, result, out);
      if (!Number.isFinite(result)) return;
      slots[HAS_RESULT] = 1;
      slots[RESULT] = result;
    } else if (slots[COUNT]! > 0 && !isHeld) out.drop('insufficient', 1);
    else if (empty === 'zero') this.#add(state, 0, out);
    else if (empty === 'hold' && slots[HAS_RESULT] === 1) this.#add(state, slots[RESULT]!, out);
  }

  // If several windows begin at the same time (as months that end on 29, 30 and 31 March do), the last result stays.
  #add({ slots }: State, value: number, out: Output): void {
    const { ends, startFor, label } = this.#options;
    const endMs = slots[END_MS]!;
    const timeMs = this.labelOf(endMs);
    if (!Number.isFinite(value) || timeMs < TIME_MS_MIN) out.add(timeMs, value);
    else {
      if (slots[IS_WAITING] === 1) out.drop('duplicate', 1);
      slots[IS_WAITING] = 1;
      slots[WAITING] = value;
    }
    if (slots[IS_WAITING] === 0 || (label === 'start' && startFor(ends.next(endMs)) === timeMs)) return;
    slots[IS_WAITING] = 0;
    out.add(timeMs, slots[WAITING]!);
  }
}
