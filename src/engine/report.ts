import type { SeriesReference } from '../core/series.js';
import type { Plan } from '../plan/plan.js';
import type { StepCounts } from './graph/counts.js';
import type { Graph } from './graph/graph.js';

/** What became of every sample: plain data, counted from the start of the run. */
export interface Report {
  readonly sources: readonly SourceReport[];
  /** In running order. */
  readonly steps: readonly StepReport[];
  /** Samples of series that no step reads. */
  readonly unused: number;
  /** Milliseconds by the run's clock; 0 without one. */
  readonly durationMs: number;
}

export interface SourceReport extends SeriesReference {
  readonly samplesIn: number;
  readonly samplesOut: number;
  readonly dropped: {
    /** Null, NaN or infinite. */
    readonly missing: number;
    /** Before `from`, or at or after `until`. */
    readonly outOfRun: number;
    /** Replaced by a later sample of the same time. */
    readonly duplicate: number;
    /** Later than allowed: given to the late output. */
    readonly late: number;
  };
}

export interface StepReport {
  readonly pointer: string;
  readonly operation: string;
  readonly output: SeriesReference;
  readonly samplesIn: number;
  readonly samplesOut: number;
  readonly dropped: {
    /** The result was not a finite number. */
    readonly nonFinite: number;
    /** The time of the result lies outside the years 0001 to 9999. */
    readonly outOfRange: number;
    /** Without a partner in the other input: of the first input, and of the second. */
    readonly unmatched: readonly [first: number, second: number];
    /** Moved to the same time as a later sample. */
    readonly duplicate: number;
    /** Windows with too few samples for their function. */
    readonly insufficient: number;
  };
}

export function createReport(plan: Plan, graph: Graph, unused: number, durationMs: number): Report {
  const sources = plan.sources.map(({ timeseriesId, metric }, index): SourceReport => {
    const { samplesIn, samplesOut, missing, outOfRun, duplicate, late } = graph.sources[index]!.counts;
    return { timeseriesId, metric, samplesIn, samplesOut, dropped: { missing, outOfRun, duplicate, late } };
  });
  const steps = plan.steps.map(({ pointer, operation, output }, index): StepReport => {
    const stages = graph.steps[index]!.counts;
    const total = (name: keyof StepCounts): number => stages.reduce((sum, counts) => sum + counts[name], 0);
    return {
      pointer,
      operation,
      output,
      samplesIn: stages[0]!.samplesIn,
      samplesOut: stages[stages.length - 1]!.samplesOut,
      dropped: {
        nonFinite: total('nonFinite'),
        outOfRange: total('outOfRange'),
        unmatched: [total('unmatchedFirst'), total('unmatchedSecond')],
        duplicate: total('duplicate'),
        insufficient: total('insufficient'),
      },
    };
  });
  return { sources, steps, unused, durationMs };
}
