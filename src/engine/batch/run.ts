import type { Series } from '../../core/series.js';
import type { Report } from '../report.js';
import { giveBack } from './free-list.js';

/** The outcome of a run: one series for each item of the request, in its order, and what became of every sample. */
export interface Run extends Disposable {
  /** Ordinary arrays that belong to the caller; the library never writes to them again. */
  readonly series: readonly Series[];
  readonly report: Report;
  /**
   * Gives the arrays of `series` back, so that later runs need no fresh memory for results of the same lengths. Their
   * buffers move, so these arrays are empty (length 0) from then on. Times shared with an input (`shareTimes`) stay.
   * `using run = runBatch(plan, series)` does this at the end of the block. At most 512 MiB are kept, those used last;
   * to free a run's memory, drop it without `dispose`.
   */
  dispose(): void;
}

/** A run that owns the columns of `series`, except those in `shared`. */
export class FinishedRun implements Run {
  readonly series: readonly Series[];
  readonly report: Report;
  readonly #shared: ReadonlySet<Float64Array>;

  constructor(series: readonly Series[], report: Report, shared: ReadonlySet<Float64Array> = new Set()) {
    this.series = series;
    this.report = report;
    this.#shared = shared;
  }

  dispose(): void {
    for (const { timeMs, value } of this.series) {
      if (!this.#shared.has(timeMs) && timeMs.length > 0) giveBack(timeMs);
      if (value.length > 0) giveBack(value);
    }
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
