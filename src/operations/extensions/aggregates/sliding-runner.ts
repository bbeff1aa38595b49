import type { Chunk } from '../../../core/chunk.js';
import { firstStartFrom, type Windows } from '../../../core/windows.js';
import { firstAfter, firstAtOrAfter } from '../../../kernels/search.js';
import type { Held, Samples } from '../../aggregate-functions.js';
import type { Output, RegridRunner, State } from '../../operation.js';
import type { MovingFunction } from './moving-functions.js';

/** Sliding windows at work: the samples of one, which leave it at its start as its end moves on. */

const COUNT = 0; // samples in the window
const IS_ON = 1; // whether there is a next window
const END_MS = 2; // where that ends
const HAS_RESULT = 3;
const RESULT = 4; // the last finite result, for `empty: hold`
const FUNCTION = 5; // the function's own slots

/** The window of a run, as the function and its samples. */
class MovingWindow {
  readonly slotCount: number;
  readonly listCount: number;
  readonly #of: MovingFunction;

  constructor(of: MovingFunction) {
    this.#of = of;
    this.slotCount = FUNCTION + of.slotCount;
    // The lists of the function, then the times and values of the samples.
    this.listCount = of.listCount + 2;
  }

  take(state: State, chunk: Chunk, from: number, to: number): void {
    const { times, values } = this.#samplesOf(state);
    times.append(chunk.timeMs, from, to);
    values.append(chunk.value, from, to);
    this.#of.add(state, FUNCTION, chunk, from, to, state.slots[COUNT]!);
    state.slots[COUNT] = times.length;
  }

  /** Lets go of the samples before the window, and with `isStartOut` of one at its start. */
  moveTo(state: State, startMs: number, isStartOut: boolean): void {
    const samples = this.#samplesOf(state);
    const { times, values } = samples;
    while (times.length > 0 && (isStartOut ? times.at(0) <= startMs : times.at(0) < startMs)) {
      this.#of.remove(state, FUNCTION, samples);
      times.shift(1);
      values.shift(1);
    }
    state.slots[COUNT] = times.length;
    if (times.length > 0) return;
    state.slots.fill(0, FUNCTION + (this.#of.keptSlotCount ?? 0));
    for (const list of state.lists) list.clear();
  }

  result(state: State, startMs: number, endMs: number): number | undefined {
    const count = state.slots[COUNT]!;
    if (count < this.#of.sampleCountMin) return undefined;
    return this.#of.result(state, FUNCTION, count, this.#samplesOf(state), startMs, endMs);
  }

  #samplesOf({ lists }: Held): Samples {
    return { times: lists[this.#of.listCount]!, values: lists[this.#of.listCount + 1]! };
  }
}

/** A window for each sample: that and those less than `sizeMs` older. */
export function trailingRunner(of: MovingFunction, sizeMs: number): RegridRunner {
  const window = new MovingWindow(of);
  return {
    kind: 'regrid',
    slotCount: window.slotCount,
    listCount: window.listCount,
    push: (state, chunk, out) => {
      for (let i = 0; i < chunk.count; i++) {
        const t = chunk.timeMs[i]!;
        window.moveTo(state, t - sizeMs, true);
        window.take(state, chunk, i, i + 1);
        const result = window.result(state, t - sizeMs, t);
        if (result === undefined) out.drop('insufficient', 1);
        else out.add(t, result);
      }
    },
    advance: () => undefined,
    close: () => undefined,
    watermark: (_state, watermarkMs) => watermarkMs,
  };
}

/** Where windows end and begin, and what becomes of their results. */
interface SlidingOptions {
  readonly ends: Windows;
  readonly startFor: (endMs: number) => number;
  readonly label: 'start' | 'end';
  /** `(start, end]` in place of `[start, end)`. */
  readonly isRight: boolean;
  readonly empty: 'omit' | 'zero' | 'hold';
}

/** A window at each border of an interval. */
export function slidingRunner(of: MovingFunction, options: SlidingOptions): RegridRunner {
  const { ends, startFor, label, isRight, empty } = options;
  const window = new MovingWindow(of);
  const firstBeyond = isRight ? firstAfter : firstAtOrAfter;
  const labelOf = (endMs: number): number => (label === 'end' ? endMs : startFor(endMs));
  const isPassed = (endMs: number, timeMs: number): boolean => (isRight ? endMs < timeMs : endMs <= timeMs);
  /** The end of the first window that holds a time. */
  const endFor = (timeMs: number): number => (isRight ? firstStartFrom(ends, timeMs) : ends.next(ends.startOf(timeMs)));

  function give({ slots }: State, result: number | undefined, out: Output): void {
    if (result === undefined) out.drop('insufficient', 1);
    else out.add(labelOf(slots[END_MS]!), result);
    if (result === undefined || !Number.isFinite(result)) return;
    slots[HAS_RESULT] = 1;
    slots[RESULT] = result;
  }

  // A window without samples of its own: what is held or filled.
  function giveEmpty(state: State, startMs: number, out: Output): void {
    const { slots } = state;
    const endMs = slots[END_MS]!;
    const held = of.heldUntilMs === undefined ? undefined : window.result(state, startMs, endMs);
    if (held !== undefined) give(state, held, out);
    else if (empty === 'zero' || (empty === 'hold' && slots[HAS_RESULT] === 1)) {
      out.add(labelOf(endMs), empty === 'zero' ? 0 : slots[RESULT]!);
    }
  }

  /** Gives the windows that end by `timeMs`; those without samples only where one will come at or after `certainMs`. */
  function giveTo(state: State, timeMs: number, certainMs: number, out: Output): void {
    const { slots } = state;
    let isAnnounced = false;
    while (slots[IS_ON] === 1 && isPassed(slots[END_MS]!, timeMs)) {
      const endMs = slots[END_MS]!;
      const startMs = startFor(endMs);
      window.moveTo(state, startMs, isRight);
      if (slots[COUNT] === 0) {
        const heldUntilMs = of.heldUntilMs?.(state, FUNCTION) ?? Number.NEGATIVE_INFINITY;
        if (empty === 'omit' && !(startMs < heldUntilMs)) {
          // Nothing before the next sample.
          slots[IS_ON] = 0;
          return;
        }
        if (!isPassed(endMs, certainMs)) return;
        if (!isAnnounced) {
          const lastMs = empty === 'omit' ? Math.min(certainMs, heldUntilMs) : certainMs;
          out.expect((lastMs - endMs) / ends.lengthMsMax);
          isAnnounced = true;
        }
        giveEmpty(state, startMs, out);
      } else {
        const result = window.result(state, startMs, endMs);
        // Nothing is known of a window whose values are not held at all.
        if (result === undefined && of.heldUntilMs !== undefined) giveEmpty(state, startMs, out);
        else give(state, result, out);
      }
      slots[END_MS] = ends.next(endMs);
    }
  }

  return {
    kind: 'regrid',
    slotCount: window.slotCount,
    listCount: window.listCount,
    push: (state, chunk, out) => {
      const { slots } = state;
      const { timeMs, count } = chunk;
      for (let from = 0; from < count; ) {
        const t = timeMs[from]!;
        if (slots[IS_ON] === 1) giveTo(state, t, t, out);
        if (slots[IS_ON] === 0) {
          slots[IS_ON] = 1;
          slots[END_MS] = endFor(t);
        }
        const to = firstBeyond(timeMs, from, count, slots[END_MS]!);
        window.take(state, chunk, from, to);
        from = to;
      }
    },
    advance: (state, watermarkMs, out, comingMs) => {
      giveTo(state, watermarkMs, Math.min(watermarkMs, comingMs), out);
    },
    close: (state, _advancedMs, out) => giveTo(state, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, out),
    watermark: ({ slots }, watermarkMs) => labelOf(slots[IS_ON] === 1 ? slots[END_MS]! : endFor(watermarkMs)),
  };
}
