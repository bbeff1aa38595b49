/** Fewer items are copied faster one by one. */
const COPIED_MIN = 32;
/** An emptied list releases its memory if it has more capacity than this. */
const KEPT_MAX = 65_536;

/**
 * A list of doubles that grows at its end and shrinks at its front: the samples that a step still needs. It releases
 * memory once it is empty, so one peak does not cost memory for the rest of a long run.
 */
export class DoubleList {
  #items = new Float64Array(0);
  #start = 0;
  #end = 0;
  readonly #keptMax: number;

  constructor(keptMax = KEPT_MAX) {
    this.#keptMax = keptMax;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** The item at an index of 0 to length − 1. */
  at(index: number): number {
    return this.#items[this.#start + index] as number; // trusted: callers stay below `length`
  }

  set(index: number, item: number): void {
    this.#items[this.#start + index] = item;
  }

  /** Inserts an item before the one at `index`, moving those behind it. */
  insert(index: number, item: number): void {
    if (this.#end === this.#items.length) this.#makeRoom(1);
    const at = this.#start + index;
    this.#items.copyWithin(at + 1, at, this.#end);
    this.#items[at] = item;
    this.#end++;
  }

  /** In a rising list, the first index whose item is at least `item`, else `length`; searched from the end. */
  firstAtOrAfter(item: number): number {
    let high = this.length;
    let reach = 1;
    while (high - reach >= 0 && this.at(high - reach) >= item) {
      high -= reach;
      reach *= 2;
    }
    let low = Math.max(0, high - reach);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) < item) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  push(item: number): void {
    if (this.#end === this.#items.length) this.#makeRoom(1);
    this.#items[this.#end++] = item;
  }

  /** Appends the items `from` to `to` (exclusive) of a column. */
  append(column: Float64Array, from: number, to: number): void {
    const count = to - from;
    if (this.#end + count > this.#items.length) this.#makeRoom(count);
    // Creating a view pays only for many items.
    if (count < COPIED_MIN) for (let i = 0; i < count; i++) this.#items[this.#end + i] = column[from + i]!;
    else this.#items.set(column.subarray(from, to), this.#end);
    this.#end += count;
  }

  /** Drops the first `count` items. */
  shift(count: number): void {
    this.#start += count;
    if (this.#start === this.#end) this.clear();
  }

  /** Drops the last item. */
  pop(): void {
    this.#end--;
    if (this.#start === this.#end) this.clear();
  }

  clear(): void {
    this.#start = 0;
    this.#end = 0;
    if (this.#items.length > this.#keptMax) this.#items = new Float64Array(0);
  }

  /** Removes all items and returns them. */
  take(): Float64Array {
    const { length } = this;
    const taken = new Float64Array(length);
    if (length < COPIED_MIN) for (let i = 0; i < length; i++) taken[i] = this.at(i);
    else taken.set(this.view());
    this.clear();
    return taken;
  }

  /** The items as a view, valid until the next change. */
  view(): Float64Array {
    return this.#items.subarray(this.#start, this.#end);
  }

  #makeRoom(count: number): void {
    const length = this.length;
    const isMostlyFree = length + count <= this.#items.length / 2;
    const items = isMostlyFree ? this.#items : new Float64Array(Math.max(16, 2 * (length + count)));
    items.set(this.view());
    this.#items = items;
    this.#start = 0;
    this.#end = length;
  }
}
