// What one client knows of the store: what was acknowledged is there, what was refused is not. The one request without
// an answer is there completely or not at all; for samples in several shards this holds for each series.

import { SLOT_COUNT } from './api.mjs';

/** NaN means no sample. */
const emptySeries = () => new Float64Array(SLOT_COUNT).fill(Number.NaN);

export class Ledger {
  /** By id: the value at each slot. */
  series = new Map();
  /** By id: the event. */
  events = new Map();
  /** By `id metric` of the result: the item as posted. */
  items = new Map();
  tokens = new Map();
  /** The request without an answer: `touches` lists entries, `apply` makes its changes. */
  pending = undefined;

  seriesOf(id) {
    const slots = this.series.get(id) ?? emptySeries();
    this.series.set(id, slots);
    return slots;
  }

  /** The ledger as if the request without an answer was done. */
  withPending() {
    const copy = new Ledger();
    copy.series = new Map(this.series);
    for (const id of this.pending.series ?? []) copy.series.set(id, this.seriesOf(id).slice());
    copy.events = new Map(this.events);
    copy.items = new Map(this.items);
    copy.tokens = new Map(this.tokens);
    this.pending.apply(copy);
    return copy;
  }

  /**
   * Takes over, series by series, what was done of the request without an answer.
   *
   * @param {(id: string, expected: Float64Array) => boolean} isEqual whether the series is stored as expected
   */
  settleParts(isEqual) {
    const withIt = this.withPending();
    this.pending.apply(this, (id) => !isEqual(id, this.seriesOf(id)) && isEqual(id, withIt.seriesOf(id)));
    this.pending = undefined;
  }

  /** Takes over whether the request was done, once that is known. */
  settle(wasDone) {
    if (wasDone) this.pending.apply(this);
    this.pending = undefined;
  }
}
