import { type Columns, concatenate, type SeriesReference } from '../../core/series.js';
import type { DamagedRange } from './patch.js';

export { type Columns, concatenate };

/**
 * A change of one series, applied as a whole: first what is deleted, then the samples, which win over older ones.
 * Times rise strictly, values are finite.
 */
export interface SampleChange extends SeriesReference, Columns {
  /** Deletes the stored samples of `[fromMs, untilMs)` first. */
  readonly deleted?: { readonly fromMs: number; readonly untilMs: number };
}

/** Where a queue delivered samples from. */
export interface Origin {
  readonly source: string;
  readonly partition: string;
  readonly offset: number;
}

export interface SampleRange {
  /** Epoch ms; `[fromMs, untilMs)`. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** At most so many, from the early end, or from the late one when descending. */
  readonly limit?: number;
  readonly isDescending?: boolean;
  /** Results that the next input may still change are left out. */
  readonly isFinalOnly?: boolean;
}

/** What is known of a stored series. */
export interface SeriesInfo extends SeriesReference {
  readonly sampleCount: number;
  /** Times of the first and last sample; null when there is none. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /** The item whose result this is, if it is one. */
  readonly itemId: string | null;
}

/** A commit's change of one series as the log has it: what live items take. */
export interface LoggedChange extends SampleChange {
  readonly organisation: string;
  readonly commit: number;
  /** Where there may be samples, or a deletion, whose bytes are damaged; there are then no others in the change. */
  readonly damage?: DamagedRange;
}

/** A series is the result of an item, and is written by that item alone. */
export class ResultSeriesError extends Error {
  readonly series: SeriesReference;
  readonly itemId: string;

  constructor({ timeseriesId, metric }: SeriesReference, itemId: string) {
    super(
      `the series ${JSON.stringify(timeseriesId)}, metric ${JSON.stringify(metric)}, is the result of item ${itemId}`,
    );
    this.name = new.target.name;
    this.series = { timeseriesId, metric };
    this.itemId = itemId;
  }
}

/** The log of these commits is deleted, for its samples are in the segments: who follows the log begins anew. */
export class ForgottenChangesError extends Error {
  readonly forgottenCommit: number;

  constructor(afterCommit: number, forgottenCommit: number) {
    super(`the log after commit ${afterCommit} was asked for, but is forgotten up to commit ${forgottenCommit}`);
    this.name = new.target.name;
    this.forgottenCommit = forgottenCommit;
  }
}

export const NO_COLUMNS: Columns = Object.freeze({ timeMs: new Float64Array(0), value: new Float64Array(0) });
