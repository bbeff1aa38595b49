// What one client knows of the store: what was acknowledged is there, what was refused is not, and of the one request
// that has no answer either all is there or nothing: of samples that lie in several shards, all or nothing of each
// series.

import { SLOT_COUNT } from './api.mjs';

/** NaN stands for no sample. */
const emptySeries = () => new Float64Array(SLOT_COUNT).fill(Number.NaN);

export class Ledger {
  /** By id: the value at each slot. */
  series = new Map();
  /** By id: the event. */
  events = new Map();
  /** By `id metric` of the result: the item as it was posted. */
  items = new Map();
  tokens = new Map();
  /** The request without an answer: `touches` names entries, `apply` does what it asks for. */
  pending = undefined;

  seriesOf(id) {
    const slots = this.series.get(id) ?? emptySeries();
    this.series.set(id, slots);
    return slots;
  }

  /** The ledger as it is if the request without an answer was done. */
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
   * Takes over what of the request without an answer was done of each series, where they are taken one by one.
   *
   * @param {(id: string, expected: Float64Array) => boolean} isEqual whether the series is stored as expected
   */
  settleParts(isEqual) {
    const withIt = this.withPending();
    this.pending.apply(this, (id) => !isEqual(id, this.seriesOf(id)) && isEqual(id, withIt.seriesOf(id)));
    this.pending = undefined;
  }

  /** Takes over what was found out: whether it was done. */
  settle(wasDone) {
    if (wasDone) this.pending.apply(this);
    this.pending = undefined;
  }
}
