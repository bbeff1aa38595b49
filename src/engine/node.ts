import type { Chunk } from '../core/chunk.js';
import { CHUNK_LENGTH } from '../core/chunk.js';
import { DoubleList } from '../core/list.js';
import { TIME_MS_END, TIME_MS_MIN } from '../core/series.js';
import { copyFinite } from '../kernels/check.js';
import { copyInto, scratchColumn } from '../kernels/columns.js';
import type { FilterRunner, MapRunner, Output, RegridRunner, State } from '../operations/operation.js';
import type { StepCounts } from './counts.js';

/** Where a chunk goes next. It is read before the call returns. */
export type Inlet = (chunk: Chunk) => void;

/**
 * A step in work, between the inlets of the steps before and after it. Chunks go depth first: a node hands on
 * what it makes before it returns, so that a chunk is worked on while it is in the cache.
 */
export interface Node {
  /** One for each input. */
  readonly inlets: readonly Inlet[];
  /** Where its results go; filled in while the graph is wired. */
  readonly outlets: Inlet[];
  /**
   * Takes the promise that no sample before these times (one for each input) will come; gives its own. Asked of
   * nodes with a state alone: the others pass on the promise that they are given.
   */
  readonly advance: (watermarksMs: readonly number[]) => number;
  /** The inputs have ended. */
  readonly close: (advancedMs: number) => void;
  readonly state: State | undefined;
  /** Forgets everything, as if nothing had come yet. */
  readonly reset: () => void;
}

/** What a node needs of its surroundings. */
export interface NodeContext {
  readonly counts: StepCounts;
  /** A number for each scratch column, its own within the plan. */
  readonly nextColumn: () => number;
  /** Whether it may overwrite the values that it is given: nobody else reads them. */
  readonly mayOverwrite: boolean;
  /** Stops the run when a step is about to make too many samples. */
  readonly checkLimit: (sampleCount: number) => void;
}

export function newState(slotCount: number, listCount: number): State {
  return { slots: new Float64Array(slotCount), lists: Array.from({ length: listCount }, () => new DoubleList()) };
}

export function clearState({ slots, lists }: State): void {
  slots.fill(0);
  for (const list of lists) list.clear();
}

export function scratchChunk(context: Pick<NodeContext, 'nextColumn'>): Chunk {
  const timeMs = scratchColumn(context.nextColumn());
  const value = scratchColumn(context.nextColumn());
  return { timeMs, value, count: 0, lastingTimeMs: undefined, lastingValue: undefined };
}

export function deliver(outlets: readonly Inlet[], chunk: Chunk): void {
  if (chunk.count === 0) return;
  for (let i = 0; i < outlets.length; i++) outlets[i]!(chunk);
}

const onlyWatermark = (watermarksMs: readonly number[]): number => watermarksMs[0]!;
const nothing = (): void => undefined;

/** Drops what is not finite, counts it, and hands the rest on. */
export function deliverFinite(
  outlets: readonly Inlet[],
  result: Chunk,
  spare: Chunk,
  counts: StepCounts,
  isAllFinite: boolean,
): void {
  if (isAllFinite) {
    counts.samplesOut += result.count;
    deliver(outlets, result);
    return;
  }
  spare.count = copyFinite(result.timeMs, result.value, result.count, spare.timeMs, spare.value);
  counts.nonFinite += result.count - spare.count;
  counts.samplesOut += spare.count;
  deliver(outlets, spare);
}

export function mapNode(runner: MapRunner, context: NodeContext): Node {
  const { counts, mayOverwrite } = context;
  const outlets: Inlet[] = [];
  const spare = scratchChunk(context);
  const result: Chunk = { ...spare };
  const inlet: Inlet = (chunk) => {
    counts.samplesIn += chunk.count;
    if (!mayOverwrite) copyInto(spare.value, chunk.value, chunk.count);
    result.timeMs = chunk.timeMs;
    result.lastingTimeMs = chunk.lastingTimeMs;
    result.value = mayOverwrite ? chunk.value : spare.value;
    result.count = chunk.count;
    deliverFinite(outlets, result, spare, counts, runner.apply(result.value, result.count));
  };
  // The caller's own times are not held on to.
  const reset = (): void => {
    Object.assign(result, spare);
  };
  return { inlets: [inlet], outlets, advance: onlyWatermark, close: nothing, reset, state: undefined };
}

export function filterNode(runner: FilterRunner, context: NodeContext): Node {
  const { counts } = context;
  const outlets: Inlet[] = [];
  const kept = scratchChunk(context);
  const inlet: Inlet = (chunk) => {
    counts.samplesIn += chunk.count;
    runner.select(chunk, kept);
    counts.samplesOut += kept.count;
    deliver(outlets, kept);
  };
  return { inlets: [inlet], outlets, advance: onlyWatermark, close: nothing, reset: nothing, state: undefined };
}

export function regridNode(runner: RegridRunner, context: NodeContext): Node {
  const outlets: Inlet[] = [];
  const state = newState(runner.slotCount, runner.listCount);
  runner.start?.(state);
  const output = new ChunkOutput(scratchChunk(context), outlets, context);
  const inlet: Inlet = (chunk) => {
    context.counts.samplesIn += chunk.count;
    runner.push(state, chunk, output);
    output.flush();
  };
  const advance = (watermarksMs: readonly number[]): number => {
    const watermarkMs = watermarksMs[0]!;
    if (watermarkMs === Number.NEGATIVE_INFINITY) return watermarkMs;
    runner.advance(state, watermarkMs, output);
    output.flush();
    return runner.watermark(state, watermarkMs);
  };
  const close = (advancedMs: number): void => {
    runner.close(state, advancedMs, output);
    output.flush();
  };
  const reset = (): void => {
    clearState(state);
    runner.start?.(state);
    output.clear();
  };
  return { inlets: [inlet], outlets, advance, close, reset, state };
}

/** Gathers a regrid's results into chunks. */
class ChunkOutput implements Output {
  readonly #chunk: Chunk;
  /** Runs of columns that the operation filled. */
  readonly #run: Chunk;
  readonly #timeMs: Float64Array;
  readonly #value: Float64Array;
  readonly #outlets: readonly Inlet[];
  readonly #counts: StepCounts;
  readonly #checkLimit: (sampleCount: number) => void;
  #count = 0;

  constructor(chunk: Chunk, outlets: readonly Inlet[], context: NodeContext) {
    this.#chunk = chunk;
    this.#run = { ...chunk };
    this.#timeMs = chunk.timeMs;
    this.#value = chunk.value;
    this.#outlets = outlets;
    this.#counts = context.counts;
    this.#checkLimit = context.checkLimit;
  }

  add(timeMs: number, value: number): void {
    if (value - value !== 0) this.#counts.nonFinite++;
    else if (!(timeMs >= TIME_MS_MIN && timeMs < TIME_MS_END)) this.#counts.outOfRange++;
    else {
      const count = this.#count;
      this.#timeMs[count] = timeMs;
      this.#value[count] = value;
      this.#count = count + 1;
      if (count + 1 === CHUNK_LENGTH) this.flush();
    }
  }

  addRun(timeMs: Float64Array, value: Float64Array, count: number, lastingValue?: Float64Array): void {
    if (count === 0) return;
    if (timeMs[0]! < TIME_MS_MIN || timeMs[count - 1]! >= TIME_MS_END) {
      for (let i = 0; i < count; i++) this.add(timeMs[i]!, value[i]!);
      return;
    }
    this.flush();
    const run = this.#run;
    run.timeMs = timeMs;
    run.value = value;
    run.lastingValue = lastingValue;
    this.#give(run, count);
  }

  expect(count: number): void {
    if (count > CHUNK_LENGTH) this.#checkLimit(this.#counts.samplesOut + this.#count + Math.ceil(count));
  }

  drop(reason: 'duplicate' | 'insufficient', count: number): void {
    this.#counts[reason] += count;
  }

  clear(): void {
    this.#count = 0;
    Object.assign(this.#run, this.#chunk); // the caller's own values are not held on to
  }

  flush(): void {
    const count = this.#count;
    this.#count = 0;
    if (count > 0) this.#give(this.#chunk, count);
  }

  #give(chunk: Chunk, count: number): void {
    chunk.count = count;
    this.#counts.samplesOut += count;
    this.#checkLimit(this.#counts.samplesOut);
    deliver(this.#outlets, chunk);
  }
}
