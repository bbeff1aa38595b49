import type { Series } from '../../core/series.js';
import type { Report } from '../report.js';
import { giveBack } from './free-list.js';

/** What a run gives: one series for each item of the request, in its order, and what became of every sample. */
export interface Run extends Disposable {
  /** Ordinary arrays that belong to the caller; the library never writes to them again. */
  readonly series: readonly Series[];
  readonly report: Report;
  /**
   * Gives the arrays of `series` back, so that later runs need no fresh memory for results of the same lengths. Their
   * buffers move: whoever still holds one of the arrays finds it empty (length 0). Times that are shared with an input
   * (`shareTimes`) stay. `using run = runBatch(plan, series)` does it at the end of the block.
   */
  dispose(): void;
}

/** A run whose `series` are its own, but for the columns in `shared`. */
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
