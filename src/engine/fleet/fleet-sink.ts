import type { Chunk } from '../../core/chunk.js';

/** Samples of many members: entry by entry, whose it is, when, and what. Those of one member rise in time. */
export interface FleetSamples {
  /** Numbers of members. */
  readonly member: Uint32Array;
  /** UTC epoch milliseconds. */
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
}

/** The member whose samples are worked on. */
export interface CurrentMember {
  member: number;
}

const FIRST_CAPACITY = 1024;
/** More room than this is given back once it is no longer needed. */
const KEPT_CAPACITY_MAX = 1_048_576;

/** Gathers samples of the current member, in columns that it keeps from call to call. */
export class FleetSink {
  readonly #current: CurrentMember;
  #columns = newColumns(FIRST_CAPACITY);
  #count = 0;

  constructor(current: CurrentMember) {
    this.#current = current;
  }

  receive(chunk: Pick<Chunk, 'timeMs' | 'value' | 'count'>): void {
    const count = this.#count;
    const end = count + chunk.count;
    if (end > this.#columns.member.length) this.#grow(end);
    const { member, timeMs, value } = this.#columns;
    for (let i = 0; i < chunk.count; i++) {
      member[count + i] = this.#current.member;
      timeMs[count + i] = chunk.timeMs[i]!;
      value[count + i] = chunk.value[i]!;
    }
    this.#count = end;
  }

  count(): number {
    return this.#count;
  }

  /** What has come since this was last asked. */
  take(): FleetSamples {
    const { member, timeMs, value } = this.#columns;
    const count = this.#count;
    this.#count = 0;
    if (member.length > KEPT_CAPACITY_MAX) this.#columns = newColumns(FIRST_CAPACITY);
    return { member: member.slice(0, count), timeMs: timeMs.slice(0, count), value: value.slice(0, count) };
  }

  #grow(needed: number): void {
    const { member, timeMs, value } = this.#columns;
    this.#columns = newColumns(Math.max(needed, 2 * member.length));
    this.#columns.member.set(member);
    this.#columns.timeMs.set(timeMs);
    this.#columns.value.set(value);
  }
}

function newColumns(capacity: number): FleetSamples {
  return {
    member: new Uint32Array(capacity),
    timeMs: new Float64Array(capacity),
    value: new Float64Array(capacity),
  };
}
