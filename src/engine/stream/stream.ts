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

/** A plan that runs over samples as they come. */
export interface Stream {
  /**
   * Takes samples in any order within the allowed lateness. Returns what became final: a series for each item that has
   * new results. A call is taken as a whole or, if it throws an InputError, not at all.
   *
   * @throws InputError for invalid columns or times.
   * @throws OutputLimitError if a step would make more than `maxOutputSamples` in this call. The stream then takes no
   *   more calls: restore its last checkpoint.
   */
  push(series: readonly Series[]): Series[];
  /** Promises that no sample before this instant will come, and returns what that makes final. */
  advance(instant: Instant): Series[];
  /** Ends the stream. `series` is what became final since the last call, one for each item. */
  close(): Run;
  /**
   * What `close` would give now, one series for each item; the stream itself does not change. All results so far and
   * these together equal one batch over the samples pushed so far. It costs a copy of what the stream remembers.
   *
   * @throws OutputLimitError as `close` would; the stream remains usable.
   */
  preview(): Series[];
  /**
   * Everything that the stream remembers, as bytes for `restoreStream`. They depend only on the plan, the options and
   * the calls so far, not on a clock.
   */
  checkpoint(): Uint8Array;
  /** What became of every sample since the start. */
  report(): Report;
  /** Samples of the last call that came later than allowed. They are in no result. */
  readonly late: readonly Series[];
}

/**
 * Opens a stream. However its input is cut into calls, its results up to and including `close` equal those of one batch
 * over the same samples.
 *
 * @throws InputError for invalid options.
 */
export function openStream(plan: Plan, options: StreamOptions = {}): Stream {
  return startStream(planInTimezone(plan, options), options);
}

/**
 * Opens a stream where another left off, on this machine or any other.
 *
 * @param bytes from `checkpoint` of a stream of the same plan and options.
 * @throws CheckpointError if the bytes are damaged, or belong to another plan, other options or another version.
 */
export function restoreStream(plan: Plan, bytes: Uint8Array, options: StreamOptions = {}): Stream {
  const stream = startStream(planInTimezone(plan, options), options);
  stream.restore(bytes);
  return stream;
}

/** A graph with its sinks and its progress, which one stream after another can use. */
interface WiredPlan {
  readonly graph: Graph;
  readonly sinks: readonly Sink[];
  readonly progress: Progress;
}

const graphs = new GraphCache<WiredPlan>();

function wire(plan: Plan, settings: RunSettings): WiredPlan {
  const sinks = plan.items.map(({ output }) => new StreamSink(output));
  const progress = newProgress();
  return { graph: buildGraph(plan, settings, sinks, () => progress.advancedMs), sinks, progress };
}

function startStream(plan: Plan, options: StreamOptions): LiveStream {
  const settings = readOptions(options, plan.timezone);
  return new LiveStream(plan, settings, graphs.take(plan, settings) ?? wire(plan, settings));
}

class LiveStream extends LiveRun implements Stream {
  readonly #wired: WiredPlan;
  readonly #sourceIndex: ReadonlyMap<string, number>;
  #late: readonly Series[] = [];

  constructor(plan: Plan, settings: RunSettings, wired: WiredPlan) {
    super('stream', plan, settings, wired.graph, wired.progress);
    this.#wired = wired;
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
    const { sinks, progress } = this.#wired;
    // Before the results are taken: the clock may throw.
    const report = this.end();
    const run = new FinishedRun(
      sinks.map((sink) => sink.take()),
      report,
    );
    Object.assign(progress, newProgress());
    graphs.keep(this.plan, this.settings, this.#wired);
    return run;
  }

  preview(): Series[] {
    const { sinks } = this.#wired;
    try {
      return this.callAside(() => {
        this.graph.close(this.progress.advancedMs);
        return sinks.map((sink) => sink.take());
      });
    } finally {
      // After a failure they hold part of a result.
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
    const { sinks } = this.#wired;
    const results: Series[] = [];
    for (let k = 0; k < sinks.length; k++) if (sinks[k]!.count() > 0) results.push(sinks[k]!.take());
    return results;
  }
}
