import type { Chunk } from '../../core/chunk.js';
import { DoubleList } from '../../core/list.js';

/** Samples of many members in three columns of equal length. The times of one member rise. */
export interface FleetSamples {
  /** The number of the member that each sample belongs to. */
  readonly member: Uint32Array;
  /** UTC epoch milliseconds. */
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
}

/** The member whose samples are in the graph. */
export interface CurrentMember {
  member: number;
}

/** Calls for many members give many results, so memory for this many is kept from call to call. */
const KEPT_MAX = 1_048_576;

/** Gathers samples of the current member. */
export class FleetSink {
  readonly #current: CurrentMember;
  readonly #member = new DoubleList(KEPT_MAX);
  readonly #timeMs = new DoubleList(KEPT_MAX);
  readonly #value = new DoubleList(KEPT_MAX);

  constructor(current: CurrentMember) {
    this.#current = current;
  }

  receive(chunk: Pick<Chunk, 'timeMs' | 'value' | 'count'>): void {
    for (let i = 0; i < chunk.count; i++) this.#member.push(this.#current.member);
    this.#timeMs.append(chunk.timeMs, 0, chunk.count);
    this.#value.append(chunk.value, 0, chunk.count);
  }

  count(): number {
    return this.#value.length;
  }

  /** What has come since the last `take`. */
  take(): FleetSamples {
    const member = new Uint32Array(this.#member.view());
    this.#member.clear();
    return { member, timeMs: this.#timeMs.take(), value: this.#value.take() };
  }
}
