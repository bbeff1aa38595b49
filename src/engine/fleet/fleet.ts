import type { Instant } from '../../core/instant.js';
import type { Report } from '../report.js';
import type { FleetSamples } from './fleet-sink.js';
import type { FleetInput } from './input.js';

/** Results of many members for one item of the request. */
export interface FleetSeries extends FleetSamples {
  /** The item's place in `plan.items`, and its metric. */
  readonly item: number;
  readonly metric: string;
}

/** The end of a fleet: a series for each item, and what became of the samples of all members together. */
export interface FleetRun {
  readonly series: readonly FleetSeries[];
  readonly report: Report;
}

/**
 * Many live series under one plan: each member is a stream of its own, with its own samples, open windows and
 * watermark, but all share the plan and what runs it. A member takes some hundred bytes.
 */
export interface Fleet {
  /** How many members there are. Their numbers count from 0 in the order in which they joined. */
  readonly size: number;
  /**
   * The number of a member. A new one joins the fleet with this call.
   *
   * @throws InputError if the id is not a string, or for a new one if the fleet takes no more calls.
   */
  join(timeseriesId: string): number;
  /** The id under which a member joined. @throws InputError for a number that no member has. */
  nameOf(member: number): string;
  /**
   * Takes samples of any members, mixed in any order, those of each member within the allowed lateness. Returns what
   * became final: a series for each item that has new results. It is fastest if the samples are sorted by member, as
   * adjacent samples of one member are taken together. A call is taken as a whole or, if it throws an InputError, not
   * at all.
   *
   * @throws InputError for invalid members, columns or times.
   * @throws OutputLimitError if a step would make more than `maxOutputSamples` in this call, for all members together.
   *   The fleet then takes no more calls: restore its last checkpoint.
   */
  push(samples: FleetInput): FleetSeries[];
  /**
   * Takes samples of a source that all members share, such as the outside temperature of all zones, and returns what
   * became final. Members that join later have seen them too. Push all samples of such a source this way; they are
   * counted once.
   */
  pushShared(samples: Omit<FleetInput, 'member'>): FleetSeries[];
  /** Promises that no sample of any member before this instant will come, and returns what that makes final. */
  advance(instant: Instant): FleetSeries[];
  /** What `close` would give now for some members (all by default). It changes nothing. */
  preview(members?: Iterable<number>): FleetSeries[];
  /** Ends all members; `series` is what became final since the last call, one for each item. */
  close(): FleetRun;
  /** Everything that the fleet remembers, as bytes for `restoreFleet`. */
  checkpoint(): Uint8Array;
  /** What became of the samples of all members since the start. */
  report(): Report;
  /** Samples of the last call that came later than allowed, by source of the plan. They are in no result. */
  readonly late: readonly FleetSamples[];
}
