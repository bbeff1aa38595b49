import type { Chunk } from '../../core/chunk.js';
import { isSameTimes } from '../../kernels/check.js';
import { copyInto } from '../../kernels/columns.js';
import { FIRST_TIMES, FIRST_VALUES, SECOND_TIMES, SECOND_VALUES } from '../../operations/match.js';
import type { CombineRunner, State } from '../../operations/operation.js';
import type { StepCounts } from './counts.js';
import { chunkOver, deliverFinite, type Inlet, type NodeContext, scratchChunk } from './node.js';

/**
 * Collects pairs of values for a combining operation. Samples are paired one by one (`add`) or a whole chunk at once:
 * the chunk of one input is held until the other input's chunk comes, usually with the next call.
 */
export class Pairs {
  readonly #runner: CombineRunner;
  readonly #outlets: readonly Inlet[];
  readonly #counts: StepCounts;
  readonly #spare: Chunk;
  /** Pairs made one by one: their times, and the values of the first input. */
  readonly #own: Chunk;
  /** The values of the second input. */
  readonly #second: Float64Array;
  readonly #result: Chunk;
  #heldInput: 0 | 1 = 0;
  #heldTimes: Float64Array;
  #heldValues: Float64Array;
  #heldCount = 0;

  constructor(runner: CombineRunner, outlets: readonly Inlet[], context: NodeContext) {
    this.#runner = runner;
    this.#outlets = outlets;
    this.#counts = context.counts;
    this.#spare = scratchChunk(context);
    this.#own = scratchChunk(context);
    this.#second = context.column();
    this.#result = chunkOver(this.#own.timeMs, this.#own.value);
    this.#heldTimes = this.#own.timeMs;
    this.#heldValues = this.#own.value;
  }

  add(timeMs: number, first: number, second: number): void {
    // Interpolation can overflow; such a pair has no result under any operation.
    if (!Number.isFinite(first) || !Number.isFinite(second)) {
      this.#counts.nonFinite++;
      return;
    }
    const own = this.#own;
    own.timeMs[own.count] = timeMs;
    own.value[own.count] = first;
    this.#second[own.count] = second;
    own.count++;
    if (own.count === own.timeMs.length) this.flush();
  }

  /** Combines and delivers the pairs made one by one. */
  flush(): void {
    const own = this.#own;
    const { count } = own;
    own.count = 0;
    if (count > 0) this.#combine(own.timeMs, undefined, own.value, this.#second, count);
  }

  /** Holds a chunk of an input (0 or 1) until its partner comes. */
  hold(input: 0 | 1, chunk: Chunk): void {
    this.flush();
    const own = this.#own;
    this.#heldInput = input;
    this.#heldCount = chunk.count;
    this.#heldTimes = chunk.inputTimeMs ?? own.timeMs;
    if (chunk.inputTimeMs === undefined) copyInto(own.timeMs, chunk.timeMs, chunk.count);
    this.#heldValues = chunk.isReadOnly ? chunk.value : input === 0 ? own.value : this.#second;
    if (!chunk.isReadOnly) copyInto(this.#heldValues, chunk.value, chunk.count);
  }

  /** Pairs the held chunk with one of the other input if their times are the same; else returns false. */
  pairHeld(input: 0 | 1, chunk: Chunk): boolean {
    const { timeMs, inputTimeMs, value, count } = chunk;
    const heldTimes = this.#heldTimes;
    if (this.#heldCount !== count || this.#heldInput === input) return false;
    const isSameColumn = inputTimeMs?.buffer === heldTimes.buffer && inputTimeMs.byteOffset === heldTimes.byteOffset;
    if (!isSameColumn && !isSameTimes(heldTimes, timeMs, count)) return false;
    this.#heldCount = 0;
    if (input === 0) this.#combine(timeMs, inputTimeMs, value, this.#heldValues, count);
    else {
      // The first input's array of times, where there is one.
      const firstTimeMs = heldTimes === this.#own.timeMs ? inputTimeMs : heldTimes;
      this.#combine(timeMs, firstTimeMs, this.#heldValues, value, count);
    }
    return true;
  }

  /** Moves the held chunk to the lists, where samples are paired one by one. */
  spill({ lists }: State): void {
    const count = this.#heldCount;
    if (count === 0) return;
    lists[this.#heldInput === 0 ? FIRST_TIMES : SECOND_TIMES]!.append(this.#heldTimes, 0, count);
    lists[this.#heldInput === 0 ? FIRST_VALUES : SECOND_VALUES]!.append(this.#heldValues, 0, count);
    this.#heldCount = 0;
  }

  /** Forgets all pairs and the held chunk, and lets go of the input's columns. */
  clear(): void {
    this.#own.count = 0;
    Object.assign(this.#result, this.#own);
    this.#heldCount = 0;
    this.#heldTimes = this.#own.timeMs;
    this.#heldValues = this.#own.value;
  }

  #combine(
    timeMs: Float64Array,
    inputTimeMs: Float64Array | undefined,
    left: Float64Array,
    right: Float64Array,
    count: number,
  ): void {
    const result = this.#result;
    const isAllFinite = this.#runner.apply(left, right, count, result.value);
    result.timeMs = timeMs;
    result.inputTimeMs = inputTimeMs;
    result.count = count;
    deliverFinite(this.#outlets, result, this.#spare, this.#counts, isAllFinite);
  }
}
