import type { Chunk } from '../../core/chunk.js';

/** Samples of many members: entry by entry, whose it is, when, and what. Those of one member rise in time. */
export interface FleetSamples {
  /** Numbers of members. */
  readonly member: Uint32Array;
  /** UTC epoch milliseconds. */
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
}

/** Gathers samples of the member at hand, in columns that it keeps from call to call. */
export interface FleetSink {
  receive(chunk: Pick<Chunk, 'timeMs' | 'value' | 'count'>): void;
  count(): number;
  /** What has come since this was last asked. */
  take(): FleetSamples;
}

const FIRST_CAPACITY = 1024;
/** More room than this is given back once it is no longer needed. */
const KEPT_CAPACITY_MAX = 1_048_576;

/** @param memberAtHand whose samples come. */
export function createFleetSink(memberAtHand: () => number): FleetSink {
  let member = new Uint32Array(FIRST_CAPACITY);
  let timeMs = new Float64Array(FIRST_CAPACITY);
  let value = new Float64Array(FIRST_CAPACITY);
  let count = 0;

  function makeRoom(needed: number): void {
    const capacity = Math.max(needed, 2 * member.length);
    const [members, times, values] = [member, timeMs, value];
    member = new Uint32Array(capacity);
    timeMs = new Float64Array(capacity);
    value = new Float64Array(capacity);
    member.set(members.subarray(0, count));
    timeMs.set(times.subarray(0, count));
    value.set(values.subarray(0, count));
  }

  function receive(chunk: Pick<Chunk, 'timeMs' | 'value' | 'count'>): void {
    const end = count + chunk.count;
    if (end > member.length) makeRoom(end);
    const number = memberAtHand();
    for (let i = 0; i < chunk.count; i++) {
      member[count + i] = number;
      timeMs[count + i] = chunk.timeMs[i]!;
      value[count + i] = chunk.value[i]!;
    }
    count = end;
  }

  function take(): FleetSamples {
    const taken = { member: member.slice(0, count), timeMs: timeMs.slice(0, count), value: value.slice(0, count) };
    count = 0;
    if (member.length > KEPT_CAPACITY_MAX) {
      member = new Uint32Array(FIRST_CAPACITY);
      timeMs = new Float64Array(FIRST_CAPACITY);
      value = new Float64Array(FIRST_CAPACITY);
    }
    return taken;
  }

  return { receive, count: () => count, take };
}
