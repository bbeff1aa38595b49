import { formatDuration } from '../core/duration.js';
import { concatenate, type Series, seriesKey } from '../core/series.js';
import { openEvery, restoreEvery, runEvery } from '../engine/every/index.js';
import type { RunOptions } from '../engine/options.js';
import type { Plan } from '../plan/plan.js';

/** The functions that run samples: the engine's, or in tests some with a fault. */
export interface Engine {
  readonly runBatch: typeof runEvery;
  readonly openStream: typeof openEvery;
  readonly restoreStream: typeof restoreEvery;
}

export const engine: Engine = { runBatch: runEvery, openStream: openEvery, restoreStream: restoreEvery };

/** Entries of a feeding that are calls of a stream; entries from 0 on are samples. */
export const PUSH = -1;
export const ADVANCE = -2;
export const RESTORE = -3;
export const PREVIEW = -4;

/**
 * How a stream is fed: samples in the order of their arrival, each by its number among those of all inputs, and calls
 * between them. Samples since the last call are pushed before the next one.
 */
export type Feeding = Int32Array;

/** One call of a stream. */
export type Action =
  | { readonly kind: 'push'; readonly series: readonly Series[] }
  | { readonly kind: 'advance'; readonly timeMs: number }
  | { readonly kind: 'restore' | 'preview' };

/** Samples of all inputs, numbered one input after the other. */
export class Samples {
  readonly inputs: readonly Series[];
  /** The number of each input's first sample. */
  readonly #starts: readonly number[];
  /** The input and the time of each sample, which every comparison of a sort needs. */
  readonly #inputOf: Uint32Array;
  readonly #timeMs: Float64Array;

  constructor(inputs: readonly Series[]) {
    this.inputs = inputs;
    const starts: number[] = [];
    let count = 0;
    for (const { timeMs } of inputs) {
      starts.push(count);
      count += timeMs.length;
    }
    this.#starts = starts;
    this.#inputOf = new Uint32Array(count);
    this.#timeMs = new Float64Array(count);
    for (const [input, { timeMs }] of inputs.entries()) {
      this.#inputOf.fill(input, starts[input]!, starts[input]! + timeMs.length);
      this.#timeMs.set(timeMs, starts[input]!);
    }
  }

  get count(): number {
    return this.#timeMs.length;
  }

  inputOf(sample: number): number {
    return this.#inputOf[sample]!;
  }

  timeMs(sample: number): number {
    return this.#timeMs[sample]!;
  }

  /** Some samples as series, in the order of the inputs; unless `isWhole`, only series that have any of them. */
  pick(numbers: ArrayLike<number>, isWhole: boolean): Series[] {
    const byInput = new Map<number, number[]>(isWhole ? this.inputs.map((_, input) => [input, []]) : []);
    for (let i = 0; i < numbers.length; i++) {
      const input = this.inputOf(numbers[i]!);
      const own = byInput.get(input);
      if (own === undefined) byInput.set(input, [numbers[i]!]);
      else own.push(numbers[i]!);
    }
    const rows = [...byInput].sort(([a], [b]) => a - b);
    return rows.map(([input, own]) => {
      const [{ timeseriesId, metric, timeMs, value }, start] = [this.inputs[input]!, this.#starts[input]!];
      const column = (from: Float64Array): Float64Array => Float64Array.from(own, (sample) => from[sample - start]!);
      return { timeseriesId, metric, timeMs: column(timeMs), value: column(value) };
    });
  }
}

/** The calls of a feeding, one after the other. An advance promises the least time that is still to come. */
export function* actionsOf(samples: Samples, feeding: Feeding): Generator<Action> {
  const toComeMs = new Float64Array(feeding.length + 1).fill(Number.POSITIVE_INFINITY);
  for (let i = feeding.length - 1; i >= 0; i--) {
    toComeMs[i] = feeding[i]! < 0 ? toComeMs[i + 1]! : Math.min(toComeMs[i + 1]!, samples.timeMs(feeding[i]!));
  }
  let from = 0;
  for (let i = 0; i <= feeding.length; i++) {
    const entry = feeding[i] ?? PUSH;
    if (entry >= 0) continue;
    if (i > from) yield { kind: 'push', series: samples.pick(feeding.subarray(from, i), false) };
    from = i + 1;
    if (entry === RESTORE || entry === PREVIEW) yield { kind: entry === RESTORE ? 'restore' : 'preview' };
    if (entry === ADVANCE && toComeMs[i]! < Number.POSITIVE_INFINITY) yield { kind: 'advance', timeMs: toComeMs[i]! };
  }
}

/** All results of a stream that is fed this way. */
export function runFeeding(
  plan: Plan,
  samples: Samples,
  feeding: Feeding,
  latenessMs: number,
  options: RunOptions,
  by: Engine,
): Series[] {
  const streamOptions = { ...options, allowedLateness: formatDuration(latenessMs) };
  const parts: Series[] = [];
  let stream = by.openStream(plan, streamOptions);
  for (const action of actionsOf(samples, feeding)) {
    if (action.kind === 'push') parts.push(...stream.push(action.series));
    else if (action.kind === 'advance') parts.push(...stream.advance(action.timeMs));
    else if (action.kind === 'restore') stream = by.restoreStream(plan, stream.checkpoint(), streamOptions);
    else stream.preview();
  }
  const last = stream.close().series;
  return joinResults(last, [...parts, ...last]);
}

/** Joins the parts of each series, which `close` gives in full number and order. */
function joinResults(last: readonly Series[], parts: readonly Series[]): Series[] {
  const byKey = new Map(last.map((one) => [seriesKey(one), [] as Series[]]));
  for (const part of parts) byKey.get(seriesKey(part))!.push(part);
  return last.map(({ timeseriesId, metric }) => {
    return { timeseriesId, metric, ...concatenate(byKey.get(seriesKey({ timeseriesId, metric }))!) };
  });
}
