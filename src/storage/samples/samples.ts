import { type Columns, concatenate, type SeriesReference } from '../../core/series.js';
import type { DamagedSamplesError } from '../errors.js';

export { type Columns, concatenate };

/** The time range `[fromMs, untilMs)`. */
export interface TimeRange {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A time range in which stored bytes are damaged. */
export interface DamagedRange extends TimeRange {
  readonly error: DamagedSamplesError;
}

/**
 * A change of one series, applied as a whole: first the deletion, then the samples, which replace older ones. Times
 * ascend strictly, values are finite.
 */
export interface SampleChange extends SeriesReference, Columns {
  /** Deletes the stored samples of `[fromMs, untilMs)` first. */
  readonly deleted?: TimeRange;
}

/** The place in a queue that samples came from. */
export interface Origin {
  readonly source: string;
  readonly partition: string;
  readonly offset: number;
}

export interface SampleRange {
  /** Epoch ms; `[fromMs, untilMs)`. */
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** The most samples, from the start of the range, or from its end if descending. */
  readonly limit?: number;
  readonly isDescending?: boolean;
  /** Leaves out results that the next input may still change. */
  readonly isFinalOnly?: boolean;
}

/** Information about a stored series. */
export interface SeriesInfo extends SeriesReference {
  readonly sampleCount: number;
  /** Times of the first and last sample; null if there are none. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /** The item whose result this is; null if clients write it. */
  readonly itemId: string | null;
}

/** A commit's change of one series, as read from the log for items. */
export interface LoggedChange extends SampleChange {
  readonly organisation: string;
  readonly commit: number;
  /** The range in which damaged bytes may have held samples or a deletion; the change then has no others. */
  readonly damage?: DamagedRange;
}

/** Whether the caller needs the changes of a series. */
export type IsWanted = (organisation: string, series: SeriesReference) => boolean;

/** Changes of whole commits, in order. */
export interface LoggedChanges {
  readonly changes: readonly LoggedChange[];
  /** The commit up to which they are complete. */
  readonly lastCommit: number;
  /** Whether there are no later ones yet. */
  readonly isAll: boolean;
}

/** Provisional samples of a result, and the commit that wrote them. */
export interface Preview extends SeriesReference, Columns {
  readonly commit: number;
}

/** The series is the result of an item, and only that item may write it. */
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

/** This part of the log is deleted, as its samples are in the segments: followers of the log must start again. */
export class ForgottenChangesError extends Error {
  readonly forgottenCommit: number;

  constructor(afterCommit: number, forgottenCommit: number) {
    super(`cannot read the log after commit ${afterCommit}: it is deleted up to commit ${forgottenCommit}`);
    this.name = new.target.name;
    this.forgottenCommit = forgottenCommit;
  }
}

export const NO_COLUMNS: Columns = Object.freeze({ timeMs: new Float64Array(0), value: new Float64Array(0) });
