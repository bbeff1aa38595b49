import type { SeriesReference } from '../../core/series.js';
import type { Reader, Transaction } from '../storage.js';
import type { DamagedRange } from './patch.js';

/** Samples of one series, times rising. */
export interface Columns {
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
}

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

/**
 * Samples of many series over the tables of a shard: a log that takes changes fast, and per-series segments that
 * it is compacted into in the background. A read sees both. Later changes win: (series, time) is stored once.
 */
export interface SampleStore {
  /**
   * Writes one log row for all the changes; creates series that are not there, also for changes of nothing.
   *
   * @param options.itemId marks new series as results of this item.
   * @returns false when `origin` says that these samples were taken before: nothing was written.
   * @throws ResultSeriesError for a series that is the result of an item, unless `itemId` is given.
   */
  append(
    tx: Transaction,
    organisation: string,
    changes: readonly SampleChange[],
    options?: { readonly origin?: Origin; readonly itemId?: string },
  ): Promise<boolean>;
  /**
   * Replaces the provisional samples of a result: those after its final ones. Where both have a time the final
   * sample is read. Throws for a series that is not there or is no result: an append with `itemId` makes it one.
   */
  setProvisional(tx: Transaction, organisation: string, samples: SeriesReference & Columns): Promise<void>;
  /** Samples in time order (of the late end, still rising, when descending). Empty for an unknown series. */
  read(tx: Reader, organisation: string, of: SeriesReference, range?: SampleRange): Promise<Columns>;
  /** The series of an organisation in order of (timeseriesId, metric), after a place, with their ranges. */
  list(
    tx: Reader,
    organisation: string,
    options?: { readonly timeseriesId?: string; readonly after?: SeriesReference; readonly limit?: number },
  ): Promise<SeriesInfo[]>;
  info(tx: Reader, organisation: string, of: SeriesReference): Promise<SeriesInfo | undefined>;
  /** The last instant up to which samples of one of these series were deleted by retention; undefined for none. */
  forgottenMs(tx: Reader, organisation: string, of: readonly SeriesReference[]): Promise<number | undefined>;
  /** Makes a result a series that clients write: its samples are final, and no item's. */
  release(tx: Transaction, organisation: string, of: SeriesReference): Promise<void>;
  /** Deletes a series with all its samples. Its name stands in the log, as a change that deletes all. */
  drop(tx: Transaction, organisation: string, of: SeriesReference): Promise<boolean>;
  /**
   * Changes of the commits after `afterCommit`, in their order: what live items have not seen yet. Those of a commit
   * come together, so there can be more of them than `limit`; fewer mean that there are no more.
   *
   * @throws ForgottenChangesError when the log does not reach back so far; it does where `compact` was not told so.
   */
  changesAfter(tx: Reader, afterCommit: number, limit?: number): Promise<LoggedChange[]>;
  /**
   * Moves some of the log up to `untilCommit` into segments, within a bounded amount of work; nothing while there is
   * too little in the log to be worth it.
   *
   * @param options.isEager moves whatever there is, and keeps nothing of it in the log for those who follow it.
   * @returns whether more is left to move.
   */
  compact(tx: Transaction, untilCommit: number, options?: { readonly isEager?: boolean }): Promise<boolean>;
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

/** Columns one after the other. */
export function concatenate(parts: readonly Columns[]): Columns {
  const present = parts.filter(({ timeMs }) => timeMs.length > 0);
  if (present.length <= 1) return present[0] ?? NO_COLUMNS;
  const count = present.reduce((sum, part) => sum + part.timeMs.length, 0);
  const timeMs = new Float64Array(count);
  const value = new Float64Array(count);
  let at = 0;
  for (const part of present) {
    timeMs.set(part.timeMs, at);
    value.set(part.value, at);
    at += part.timeMs.length;
  }
  return { timeMs, value };
}
