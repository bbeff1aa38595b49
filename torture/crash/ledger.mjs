// What one client knows of the store: what was acknowledged is there, what was refused is not. The one request without
// an answer is there completely or not at all; for samples in several shards this holds for each series, and of a body of
// several parts the first ones may be there.

import { SLOT_COUNT, timeOf } from './api.mjs';

/** The service stores a streamed body in parts of at least this many samples. */
const PART_SAMPLES = 50_000;

/** NaN means no sample. */
const emptySeries = () => new Float64Array(SLOT_COUNT).fill(Number.NaN);

export class Ledger {
  /** By id: the value at each slot. */
  series = new Map();
  /** By id: the event. */
  events = new Map();
  /** By `id metric` of the result: the item as posted. */
  items = new Map();
  /** By `id metric` of the result: `cutSlot` when the item was registered. */
  beginSlots = new Map();
  /** Samples before this slot may have been deleted by retention, and none are written there any more. */
  cutSlot = 0;
  tokens = new Map();
  /** The request without an answer: `touches` lists entries, `apply` makes its changes. */
  pending = undefined;

  seriesOf(id) {
    const slots = this.series.get(id) ?? emptySeries();
    this.series.set(id, slots);
    return slots;
  }

  register(name, item) {
    // Posted again unchanged, it goes on.
    const isSame = JSON.stringify(this.items.get(name)) === JSON.stringify(item);
    if (!isSame) this.beginSlots.set(name, this.cutSlot);
    this.items.set(name, item);
  }

  end(name) {
    this.items.delete(name);
    this.beginSlots.delete(name);
  }

  hasSamples(id) {
    return this.series.get(id)?.some((value) => !Number.isNaN(value)) ?? false;
  }

  /** The samples of a series. */
  columnsOf(id) {
    const slots = this.seriesOf(id);
    const taken = Array.from(slots.keys()).filter((slot) => !Number.isNaN(slots[slot]));
    return { timeMs: Float64Array.from(taken, timeOf), value: Float64Array.from(taken, (slot) => slots[slot]) };
  }

  /** The ledger as if the request without an answer was done. */
  withPending() {
    const copy = new Ledger();
    copy.series = new Map(this.series);
    for (const id of this.pending.series ?? []) copy.series.set(id, this.seriesOf(id).slice());
    copy.events = new Map(this.events);
    copy.items = new Map(this.items);
    copy.beginSlots = new Map(this.beginSlots);
    copy.cutSlot = this.cutSlot;
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

  /**
   * Takes over how many rows of the request without an answer, a body of several parts, are stored: its first ones, up
   * to the end of a part.
   *
   * @param {Map<string, Float64Array>} stored by id: the value at each slot
   * @returns {string | undefined} what is wrong
   */
  settleBeginning(stored) {
    const { rows, isPartial } = this.pending;
    const ids = [...new Set(rows.map(({ id }) => id))];
    const groups = isPartial ? ids.map((id) => rows.filter((row) => row.id === id)) : [rows];
    for (const group of groups) {
      const isNew = ({ id, slot, value }) => Object.is(stored.get(id)[slot], value);
      const isOld = ({ id, slot }) => Object.is(stored.get(id)[slot], this.seriesOf(id)[slot]);
      const least = group.findLastIndex((row) => !isOld(row)) + 1;
      const firstMissing = group.findIndex((row) => !isNew(row));
      const most = firstMissing < 0 ? group.length : firstMissing;
      const isEndOfPart = isPartial || least === 0 || most === group.length || most >= PART_SAMPLES;
      if (least > most || !isEndOfPart)
        return `of a body of several parts, row ${most} is not stored, and ${least - 1} is`;
      for (const { id, slot, value } of group.slice(0, least)) this.seriesOf(id)[slot] = value;
    }
    this.pending = undefined;
    return undefined;
  }

  /** Takes over whether the request was done, once that is known. */
  settle(wasDone) {
    if (wasDone) this.pending.apply(this);
    this.pending = undefined;
  }
}
