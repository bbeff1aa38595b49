import type { Chunk } from '../../core/chunk.js';
import { TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import type { Output, RegridRunner, State } from '../../operations/operation.js';
import type { StepCounts } from './counts.js';
import {
  chunkOver,
  clearState,
  deliver,
  type Inlet,
  type Node,
  type NodeContext,
  newState,
  type OutputLimit,
  scratchChunk,
} from './node.js';

/** A step with a state whose results have times of their own. */
export class RegridNode implements Node, Inlet {
  readonly inlets: readonly Inlet[];
  readonly outlets: Inlet[] = [];
  readonly state: State;
  readonly #runner: RegridRunner;
  readonly #counts: StepCounts;
  readonly #output: ChunkOutput;

  constructor(runner: RegridRunner, context: NodeContext) {
    this.state = newState(runner.slotCount, runner.listCount);
    runner.start?.(this.state);
    this.#runner = runner;
    this.#counts = context.counts;
    this.#output = new ChunkOutput(scratchChunk(context), this.outlets, context);
    const others = Array.from({ length: (runner.inputCount ?? 1) - 1 }, (_, index): Inlet => {
      return { receive: (chunk) => this.receive(chunk, index + 1) };
    });
    this.inlets = [this, ...others];
  }

  receive(chunk: Chunk, input = 0): void {
    this.#counts.samplesIn += chunk.count;
    this.#runner.push(this.state, chunk, this.#output, input);
    this.#output.flush();
  }

  advance(watermarksMs: Float64Array, coming: Float64Array): void {
    const watermarkMs = earliest(watermarksMs);
    if (watermarkMs === Number.NEGATIVE_INFINITY) return;
    this.#runner.advance(this.state, watermarkMs, this.#output, coming[0]!);
    this.#output.flush();
  }

  watermarkMs(watermarksMs: Float64Array): number {
    const watermarkMs = earliest(watermarksMs);
    return watermarkMs === Number.NEGATIVE_INFINITY ? watermarkMs : this.#runner.watermark(this.state, watermarkMs);
  }

  close(advancedMs: number): void {
    this.#runner.close(this.state, advancedMs, this.#output);
    this.#output.flush();
  }

  reset(): void {
    clearState(this.state);
    this.#runner.start?.(this.state);
    this.#output.clear();
  }
}

function earliest(watermarksMs: Float64Array): number {
  let watermarkMs = watermarksMs[0]!;
  for (let i = 1; i < watermarksMs.length; i++) watermarkMs = Math.min(watermarkMs, watermarksMs[i]!);
  return watermarkMs;
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
  readonly #limit: OutputLimit;
  #count = 0;

  constructor(chunk: Chunk, outlets: readonly Inlet[], context: NodeContext) {
    this.#chunk = chunk;
    this.#run = chunkOver(chunk.timeMs, chunk.value);
    this.#timeMs = chunk.timeMs;
    this.#value = chunk.value;
    this.#outlets = outlets;
    this.#counts = context.counts;
    this.#limit = context.limit;
  }

  add(timeMs: number, value: number): void {
    if (value - value !== 0) this.#counts.nonFinite++;
    else if (!(timeMs >= TIME_MS_MIN && timeMs < TIME_MS_END)) this.#counts.outOfRange++;
    else {
      const count = this.#count;
      this.#timeMs[count] = timeMs;
      this.#value[count] = value;
      this.#count = count + 1;
      if (count + 1 === this.#timeMs.length) this.flush();
    }
  }

  addRun(
    timeMs: Float64Array,
    value: Float64Array,
    count: number,
    isReadOnly = false,
    inputTimeMs?: Float64Array,
  ): void {
    if (count === 0) return;
    if (timeMs[0]! < TIME_MS_MIN || timeMs[count - 1]! >= TIME_MS_END) {
      for (let i = 0; i < count; i++) this.add(timeMs[i]!, value[i]!);
      return;
    }
    this.flush();
    const run = this.#run;
    run.timeMs = timeMs;
    run.value = value;
    run.isReadOnly = isReadOnly;
    run.inputTimeMs = inputTimeMs;
    this.#give(run, count);
  }

  expect(count: number): void {
    if (count > this.#timeMs.length) this.#limit.check(this.#counts.samplesOut + this.#count + Math.ceil(count));
  }

  drop(reason: Parameters<Output['drop']>[0], count: number): void {
    this.#counts[reason] += count;
  }

  clear(): void {
    this.#count = 0;
    Object.assign(this.#run, this.#chunk); // lets go of the input's columns
  }

  flush(): void {
    const count = this.#count;
    this.#count = 0;
    if (count > 0) this.#give(this.#chunk, count);
  }

  #give(chunk: Chunk, count: number): void {
    chunk.count = count;
    this.#counts.samplesOut += count;
    this.#limit.check(this.#counts.samplesOut);
    deliver(this.#outlets, chunk);
  }
}
