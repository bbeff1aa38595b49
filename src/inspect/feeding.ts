import { formatDuration } from '../core/duration.js';
import { concatenate, type Series, seriesKey } from '../core/series.js';
import { openEvery, restoreEvery, runEvery } from '../engine/every/index.js';
import type { RunOptions } from '../engine/options.js';
import type { Plan } from '../plan/plan.js';

/** What samples are run by: the engine, or in tests one with a fault. */
export interface Engine {
  readonly runBatch: typeof runEvery;
  readonly openStream: typeof openEvery;
  readonly restoreStream: typeof restoreEvery;
}

export const engine: Engine = { runBatch: runEvery, openStream: openEvery, restoreStream: restoreEvery };

/** What is done with a stream between samples, as entries of a feeding; samples are numbers from 0. */
export const PUSH = -1;
export const ADVANCE = -2;
export const RESTORE = -3;
export const PREVIEW = -4;

/**
 * How a stream is fed: samples in the order of their arrival, each by its number among all of the inputs, and between
 * them what is done. What is gathered is pushed before it is.
 */
export type Feeding = Int32Array;

/** One thing that is done with a stream. */
export type Action =
  | { readonly kind: 'push'; readonly series: readonly Series[] }
  | { readonly kind: 'advance'; readonly timeMs: number }
  | { readonly kind: 'restore' | 'preview' };

/** Samples of all inputs, numbered one input after the other. */
export class Samples {
  readonly inputs: readonly Series[];
  /** The number of each input's first sample, and at last how many there are. */
  readonly starts: readonly number[];

  constructor(inputs: readonly Series[]) {
    this.inputs = inputs;
    const starts = [0];
    for (const [index, { timeMs }] of inputs.entries()) starts.push(starts[index]! + timeMs.length);
    this.starts = starts;
  }

  get count(): number {
    return this.starts.at(-1)!;
  }

  inputOf(sample: number): number {
    let input = this.inputs.length - 1;
    while (this.starts[input]! > sample) input--;
    return input;
  }

  timeMs(sample: number): number {
    const input = this.inputOf(sample);
    return this.inputs[input]!.timeMs[sample - this.starts[input]!]!;
  }

  /** Some samples as series; those without a sample are left out where `isWhole` is false. */
  pick(numbers: ArrayLike<number>, isWhole: boolean): Series[] {
    const byInput = this.inputs.map((): number[] => []);
    for (let i = 0; i < numbers.length; i++) byInput[this.inputOf(numbers[i]!)]!.push(numbers[i]!);
    return byInput.flatMap((own, input) => {
      if (own.length === 0 && !isWhole) return [];
      const [{ timeseriesId, metric, timeMs, value }, start] = [this.inputs[input]!, this.starts[input]!];
      const column = (from: Float64Array): Float64Array => Float64Array.from(own, (sample) => from[sample - start]!);
      return [{ timeseriesId, metric, timeMs: column(timeMs), value: column(value) }];
    });
  }
}

/** The actions of a feeding, one after the other. An advance promises the least time that is still to come. */
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

/** All results of a stream that is fed so. */
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

/** All parts of the series that the end of a stream gives. */
function joinResults(last: readonly Series[], parts: readonly Series[]): Series[] {
  const byKey = new Map(last.map((one) => [seriesKey(one), [] as Series[]]));
  for (const part of parts) byKey.get(seriesKey(part))!.push(part);
  return last.map(({ timeseriesId, metric }) => {
    return { timeseriesId, metric, ...concatenate(byKey.get(seriesKey({ timeseriesId, metric }))!) };
  });
}
