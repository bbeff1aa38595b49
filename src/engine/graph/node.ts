import type { Chunk } from '../../core/chunk.js';
import { DoubleList } from '../../core/list.js';
import type { Series } from '../../core/series.js';
import { copyFinite } from '../../kernels/check.js';
import type { FilterRunner, MapRunner, State } from '../../operations/operation.js';
import type { StepCounts } from './counts.js';

/** Where a chunk goes next. The receiver reads it before the call returns. */
export interface Inlet {
  receive(chunk: Chunk): void;
  /** Whether it needs only the count of a chunk. */
  readonly isCounting?: boolean;
}

/** Gathers the results of one item. */
export interface Sink extends Inlet {
  /** How many samples have come since `take`. */
  count(): number;
  /** What has come since the last `take`, in arrays that belong to the caller. */
  take(): Series;
}

/**
 * A step at work. Chunks go depth first: a node delivers its results before it returns, so that a chunk is worked on
 * while it is in the cache.
 *
 * Nodes are classes because V8 ties compiled code to the function: the code of a method serves every graph, that of a
 * closure only its own.
 */
export interface Node {
  /** One for each input. */
  readonly inlets: readonly Inlet[];
  /** Where its results go; filled in while the graph is wired. */
  readonly outlets: Inlet[];
  /**
   * Takes the watermark of each input. Only nodes with a state are called, here and in `watermarkMs`; the others pass
   * on the watermark of their input. `coming[0]` is a time at or after which a sample is certain to come, −Infinity if
   * none is.
   */
  advance(watermarksMs: Float64Array, coming: Float64Array): void;
  /** Its own watermark after `advance`: the time before which it will give nothing more. */
  watermarkMs(watermarksMs: Float64Array): number;
  /** The inputs have ended. */
  close(advancedMs: number): void;
  readonly state: State | undefined;
  /** Forgets everything, as if nothing had come yet. */
  reset(): void;
}

/** Stops the run when a step makes too many samples. */
export interface OutputLimit {
  check(sampleCount: number): void;
}

/** What a node needs from its graph. */
export interface NodeContext {
  readonly counts: StepCounts;
  /** A scratch column of its own, one chunk long. */
  readonly column: () => Float64Array;
  /** Whether it may overwrite the values of its input, because nobody else reads them. */
  readonly mayOverwrite: boolean;
  readonly limit: OutputLimit;
}

export function newState(slotCount: number, listCount: number): State {
  return { slots: new Float64Array(slotCount), lists: Array.from({ length: listCount }, () => new DoubleList()) };
}

export function clearState({ slots, lists }: State): void {
  slots.fill(0);
  for (const list of lists) list.clear();
}

export function scratchChunk({ column }: Pick<NodeContext, 'column'>): Chunk {
  return chunkOver(column(), column());
}

/** An empty chunk over two columns. All chunks are made here, so that V8 gives them one hidden class. */
export function chunkOver(timeMs: Float64Array, value: Float64Array): Chunk {
  return { timeMs, value, count: 0, inputTimeMs: undefined, isReadOnly: false };
}

export function deliver(outlets: readonly Inlet[], chunk: Chunk): void {
  if (chunk.count === 0) return;
  for (let i = 0; i < outlets.length; i++) outlets[i]!.receive(chunk);
}

/** Drops and counts values that are not finite, and delivers the rest. */
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

/** A node that treats each chunk by itself and passes on the watermark of its input. */
abstract class StatelessNode implements Node, Inlet {
  readonly inlets: readonly Inlet[] = [this];
  readonly outlets: Inlet[] = [];
  readonly state = undefined;

  abstract receive(chunk: Chunk): void;

  advance(): void {}

  watermarkMs(watermarksMs: Float64Array): number {
    return watermarksMs[0]!;
  }

  close(): void {}

  reset(): void {}
}

export class MapNode extends StatelessNode {
  readonly #runner: MapRunner;
  readonly #counts: StepCounts;
  readonly #mayOverwrite: boolean;
  readonly #spare: Chunk;
  readonly #result: Chunk;

  constructor(runner: MapRunner, context: NodeContext) {
    super();
    this.#runner = runner;
    this.#counts = context.counts;
    this.#mayOverwrite = context.mayOverwrite;
    this.#spare = scratchChunk(context);
    this.#result = chunkOver(this.#spare.timeMs, this.#spare.value);
  }

  receive(chunk: Chunk): void {
    const spare = this.#spare;
    const result = this.#result;
    const { count } = chunk;
    this.#counts.samplesIn += count;
    result.timeMs = chunk.timeMs;
    result.inputTimeMs = chunk.inputTimeMs;
    result.value = this.#mayOverwrite && !chunk.isReadOnly ? chunk.value : spare.value;
    result.count = count;
    const isAllFinite = this.#runner.apply(chunk.value, count, result.value);
    deliverFinite(this.outlets, result, spare, this.#counts, isAllFinite);
  }

  override reset(): void {
    Object.assign(this.#result, this.#spare); // lets go of the input's columns
  }
}

const NO_COLUMN = new Float64Array(0);

export class FilterNode extends StatelessNode {
  readonly #runner: FilterRunner;
  readonly #counts: StepCounts;
  readonly #kept: Chunk;
  readonly #counted = chunkOver(NO_COLUMN, NO_COLUMN);

  constructor(runner: FilterRunner, context: NodeContext) {
    super();
    this.#runner = runner;
    this.#counts = context.counts;
    this.#kept = scratchChunk(context);
  }

  receive(chunk: Chunk): void {
    const { outlets } = this;
    const kept = outlets.length === 1 && outlets[0]!.isCounting === true ? this.#counted : this.#kept;
    this.#counts.samplesIn += chunk.count;
    this.#runner.select(chunk, kept);
    this.#counts.samplesOut += kept.count;
    deliver(outlets, kept);
  }
}
