import { CheckpointError, InputError } from '../core/errors.js';
import { type Series, seriesKey } from '../core/series.js';
import { planInTimezone } from '../plan/create-plan.js';
import type { Plan } from '../plan/plan.js';
import { readCheckpoint, writeCheckpoint } from './checkpoint.js';
import { buildGraph } from './graph.js';
import { type Instant, readOptions, type StreamOptions, toMs } from './options.js';
import { createReport, type Report } from './report.js';
import type { Run } from './run-batch.js';
import { createSink } from './sink.js';
import { checkColumns, checkTimes } from './source.js';

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
  /** Everything that the stream remembers, as bytes for `restoreStream`. */
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
  return startStream(planInTimezone(plan, options.timezone), options, undefined);
}

/**
 * Opens a stream where another left off, on this machine or any other.
 *
 * @param bytes from `checkpoint` of a stream of the same plan and options.
 * @throws CheckpointError when the bytes are damaged, or belong to another plan, options or version.
 */
export function restoreStream(plan: Plan, bytes: Uint8Array, options: StreamOptions = {}): Stream {
  return startStream(planInTimezone(plan, options.timezone), options, bytes);
}

function startStream(plan: Plan, options: StreamOptions, bytes: Uint8Array | undefined): Stream {
  const settings = readOptions(options, plan.timezone);
  const startedMs = settings.clock();
  const sinks = plan.items.map(({ output }) => createSink(output, 0));
  const sourceIndex = new Map(plan.sources.map((source, index) => [seriesKey(source), index]));
  const progress = { advancedMs: Number.NEGATIVE_INFINITY, unused: 0 };
  const graph = buildGraph(plan, settings, sinks.map((sink) => sink.inlet), () => progress.advancedMs);
  let late: readonly Series[] = [];
  let isOpen = true;
  // The rest of a stream that failed half way would be wrong.
  let failure: unknown;
  if (bytes !== undefined) readCheckpoint(bytes, plan, settings, graph, progress);

  function indexOf({ timeseriesId, metric }: Series): number | undefined {
    if (plan.sources.length > 4) return sourceIndex.get(seriesKey({ timeseriesId, metric }));
    // Few sources are found faster by comparing than by making a key.
    for (let k = 0; k < plan.sources.length; k++) {
      const source = plan.sources[k]!;
      if (source.timeseriesId === timeseriesId && source.metric === metric) return k;
    }
    return undefined;
  }

  function call(work: () => void): void {
    if (!isOpen) throw new InputError('stream.closed', 'the stream is closed; open another, or restore a checkpoint');
    if (failure !== undefined) {
      const message = 'the stream has failed before; restore its last checkpoint';
      throw new InputError('stream.closed', message, { cause: failure });
    }
    graph.resetLimit();
    try {
      work();
    } catch (error) {
      failure = error;
      throw error;
    }
    if (late.length > 0) late = [];
    for (let k = 0; k < graph.sources.length; k++) {
      const taken = graph.sources[k]!.takeLate();
      if (taken !== undefined) late = [...late, { ...plan.sources[k]!, ...taken }];
    }
  }

  function takeNew(): Series[] {
    const results: Series[] = [];
    for (const sink of sinks) if (sink.count() > 0) results.push(sink.take());
    return results;
  }

  const report = (): Report => createReport(plan, graph, progress.unused, settings.clock() - startedMs);

  return {
    push: (series) => {
      for (const one of series) {
        checkColumns(one);
        checkTimes(one);
      }
      call(() => {
        for (const one of series) {
          const index = indexOf(one);
          if (index === undefined) progress.unused += one.timeMs.length;
          else graph.sources[index]!.push(one);
        }
        graph.advance();
      });
      return takeNew();
    },
    advance: (instant) => {
      const timeMs = toMs('advance', instant, plan.timezone);
      call(() => {
        progress.advancedMs = Math.max(progress.advancedMs, timeMs);
        for (const source of graph.sources) source.advance(timeMs);
        graph.advance();
      });
      return takeNew();
    },
    close: () => {
      call(() => graph.close(progress.advancedMs));
      isOpen = false;
      return { series: sinks.map((sink) => sink.take()), report: report() };
    },
    checkpoint: () => {
      if (failure !== undefined) {
        throw new CheckpointError('stream.closed', 'the stream has failed, so there is no state to keep');
      }
      return writeCheckpoint(plan, settings, graph, progress);
    },
    report,
    get late() {
      return late;
    },
  };
}
