import type { Instant } from '../../core/instant.js';
import { type Series, seriesKey } from '../../core/series.js';
import { planInTimezone } from '../../plan/create-plan.js';
import type { Plan } from '../../plan/plan.js';
import { FinishedRun, type Run } from '../batch/run.js';
import { checkColumns, checkList, checkTimes } from '../check-input.js';
import { type Progress, readCheckpoint, writeCheckpoint } from '../checkpoint/stream-checkpoint.js';
import { buildGraph, type Graph } from '../graph/graph.js';
import { GraphCache } from '../graph/graph-cache.js';
import type { Sink } from '../graph/node.js';
import { type RunSettings, readOptions, type StreamOptions, toMs } from '../options.js';
import type { Report } from '../report.js';
import { LiveRun, newProgress } from './live-run.js';
import { StreamSink } from './stream-sink.js';

/** A plan at work on samples as they come. */
export interface Stream {
  /**
   * Takes samples, in any order within the allowed lateness, and gives what became final: a series for each
   * item that has new results. A call is taken as a whole or, when it throws an InputError, not at all.
   */
  push(series: readonly Series[]): Series[];
  /** Promises that no sample before this instant will come, and gives what became final by that. */
  advance(instant: Instant): Series[];
  /** Ends the stream; `series` is what became final since the last call, one for each item. */
  close(): Run;
  /**
   * What `close` would give now, one series for each item, while the stream goes on as if it had not been asked:
   * all results so far and these together are one batch over the samples pushed so far. Costs a copy of what the
   * stream remembers.
   *
   * @throws OutputLimitError as `close` would; the stream goes on all the same.
   */
  preview(): Series[];
  /**
   * Everything that the stream remembers, as bytes for `restoreStream`. They follow from the plan, the options and
   * the calls so far: no clock is in them.
   */
  checkpoint(): Uint8Array;
  /** What became of every sample since the start. */
  report(): Report;
  /** Samples of the last call that came later than allowed: they are in no result. */
  readonly late: readonly Series[];
}

/**
 * Opens a stream. Whatever the chunks, what it has given by `close` equals one batch over the same samples.
 *
 * @throws InputError for options that cannot be taken.
 */
export function openStream(plan: Plan, options: StreamOptions = {}): Stream {
  return startStream(planInTimezone(plan, options.timezone), options);
}

/**
 * Opens a stream where another left off, on this machine or any other.
 *
 * @param bytes from `checkpoint` of a stream of the same plan and options.
 * @throws CheckpointError when the bytes are damaged, or belong to another plan, options or version.
 */
export function restoreStream(plan: Plan, bytes: Uint8Array, options: StreamOptions = {}): Stream {
  const stream = startStream(planInTimezone(plan, options.timezone), options);
  stream.restore(bytes);
  return stream;
}

/** What one stream after another can work with. */
interface Machine {
  readonly graph: Graph;
  readonly sinks: readonly Sink[];
  readonly progress: Progress;
}

const graphs = new GraphCache<Machine>();

function buildMachine(plan: Plan, settings: RunSettings): Machine {
  const sinks = plan.items.map(({ output }) => new StreamSink(output));
  const progress = newProgress();
  return { graph: buildGraph(plan, settings, sinks, () => progress.advancedMs), sinks, progress };
}

function startStream(plan: Plan, options: StreamOptions): LiveStream {
  const settings = readOptions(options, plan.timezone);
  return new LiveStream(plan, settings, graphs.take(plan, settings) ?? buildMachine(plan, settings));
}

class LiveStream extends LiveRun implements Stream {
  readonly #machine: Machine;
  readonly #sourceIndex: ReadonlyMap<string, number>;
  #late: readonly Series[] = [];

  constructor(plan: Plan, settings: RunSettings, machine: Machine) {
    super('stream', plan, settings, machine.graph, machine.progress);
    this.#machine = machine;
    this.#sourceIndex = new Map(plan.sources.map((source, index) => [seriesKey(source), index]));
  }

  get late(): readonly Series[] {
    return this.#late;
  }

  push(series: readonly Series[]): Series[] {
    checkList(series);
    for (let k = 0; k < series.length; k++) {
      checkColumns(series[k]!);
      checkTimes(series[k]!);
    }
    this.call(this.#pushAll, series);
    return this.#takeNew();
  }

  advance(instant: Instant): Series[] {
    this.call(this.#advanceAll, toMs('advance', instant, this.plan.timezone));
    return this.#takeNew();
  }

  close(): Run {
    this.call(this.#closeAll, undefined);
    const { sinks, progress } = this.#machine;
    const run = new FinishedRun(
      sinks.map((sink) => sink.take()),
      this.end(),
    );
    Object.assign(progress, newProgress());
    graphs.keep(this.plan, this.settings, this.#machine);
    return run;
  }

  preview(): Series[] {
    const { sinks } = this.#machine;
    try {
      return this.callAside(() => {
        this.graph.close(this.progress.advancedMs);
        return sinks.map((sink) => sink.take());
      });
    } finally {
      // After a failure they hold a part.
      for (const sink of sinks) if (sink.count() > 0) sink.take();
    }
  }

  checkpoint(): Uint8Array {
    this.assertHasState();
    return writeCheckpoint(this.plan, this.settings, this.graph, this.progress);
  }

  /** Puts a checkpoint into a stream that has seen nothing yet. @throws CheckpointError */
  restore(bytes: Uint8Array): void {
    readCheckpoint(bytes, this.plan, this.settings, this.graph, this.progress);
  }

  #pushAll(series: readonly Series[]): void {
    for (let k = 0; k < series.length; k++) {
      const one = series[k]!;
      const index = this.#indexOf(one);
      if (index === undefined) this.progress.unused += one.timeMs.length;
      else this.graph.sources[index]!.push(one);
    }
    this.graph.advance();
    this.#takeLate();
  }

  #advanceAll(timeMs: number): void {
    this.progress.advancedMs = Math.max(this.progress.advancedMs, timeMs);
    for (const source of this.graph.sources) source.advance(timeMs);
    this.graph.advance();
    this.#takeLate();
  }

  #closeAll(): void {
    this.graph.close(this.progress.advancedMs);
    this.#takeLate();
  }

  #takeLate(): void {
    if (this.#late.length > 0) this.#late = [];
    const { sources } = this.graph;
    for (let k = 0; k < sources.length; k++) {
      const taken = sources[k]!.takeLate();
      if (taken !== undefined) this.#late = [...this.#late, { ...this.plan.sources[k]!, ...taken }];
    }
  }

  #indexOf(series: Series): number | undefined {
    const { sources } = this.plan;
    if (sources.length > 4) return this.#sourceIndex.get(seriesKey(series));
    // Few sources are found faster by comparing than by making a key.
    for (let k = 0; k < sources.length; k++) {
      const source = sources[k]!;
      if (source.timeseriesId === series.timeseriesId && source.metric === series.metric) return k;
    }
    return undefined;
  }

  #takeNew(): Series[] {
    const { sinks } = this.#machine;
    const results: Series[] = [];
    for (let k = 0; k < sinks.length; k++) if (sinks[k]!.count() > 0) results.push(sinks[k]!.take());
    return results;
  }
}
