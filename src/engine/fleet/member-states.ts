import type { DoubleList } from '../../core/list.js';
import type { Graph } from '../graph/graph.js';

const PAGE_BITS = 12;
const PAGE_MEMBERS = 1 << PAGE_BITS;

/** The number of the blank member, which has no samples of its own. */
export const BLANK = -1;

interface SlotField {
  readonly slots: Float64Array;
  readonly at: number;
}

interface ListField {
  readonly list: DoubleList;
  readonly at: number;
}

/** Where the states of a graph lie in that of a member. */
interface Layout {
  readonly width: number;
  readonly slotFields: readonly SlotField[];
  readonly listFields: readonly ListField[];
}

function layoutOf(graph: Graph): Layout {
  let width = 0;
  const slotFields: SlotField[] = [];
  const listFields: ListField[] = [];
  for (const { slots, lists } of graph.states) {
    slotFields.push({ slots, at: width });
    width += slots.length;
    for (const list of lists) {
      listFields.push({ list, at: width });
      width += 2;
    }
  }
  return { width, slotFields, listFields };
}

/**
 * What the members of a fleet remember: some doubles for each, in pages. One graph serves all members: what one
 * remembers is loaded into its states, worked on and saved again.
 *
 * These are the slots of all states and, for each list, its length and its first entry, as most lists are empty or
 * hold only the sample that is not yet final. The entries of longer lists lie in columns of their own.
 */
export class MemberStates {
  readonly #layout: Layout;
  readonly #pages: Float64Array[] = [];
  readonly #blank: Float64Array;
  /** Columns of lists with more than one entry, by `member * listFields.length + index`. */
  readonly #longLists = new Map<number, Float64Array>();
  #count = 0;

  /** @param graph one that has seen no sample yet. */
  constructor(graph: Graph) {
    this.#layout = layoutOf(graph);
    this.#blank = new Float64Array(this.#layout.width);
    this.save(BLANK);
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a copy of the blank member and returns its number. */
  add(): number {
    const member = this.#count++;
    if (member % PAGE_MEMBERS === 0) this.#pages.push(new Float64Array(PAGE_MEMBERS * this.#layout.width));
    this.#pageOf(member).set(this.#blank, this.#placeOf(member));
    const { length } = this.#layout.listFields;
    for (let k = 0; k < length; k++) {
      const column = this.#longLists.get(BLANK * length + k);
      if (column !== undefined) this.#longLists.set(member * length + k, column.slice());
    }
    return member;
  }

  load(member: number): void {
    this.#loadFrom(this.#pageOf(member), this.#placeOf(member), member);
  }

  save(member: number): void {
    this.#saveTo(this.#pageOf(member), this.#placeOf(member), member);
  }

  /** Writes the state of a member, number by number. */
  write(member: number, add: (value: number) => void): void {
    const page = this.#pageOf(member);
    const from = this.#placeOf(member);
    const { slotFields, listFields } = this.#layout;
    for (const { slots, at } of slotFields) for (let i = 0; i < slots.length; i++) add(page[from + at + i]!);
    for (const [index, { at }] of listFields.entries()) {
      const length = page[from + at]!;
      add(length);
      if (length === 1) add(page[from + at + 1]!);
      const column = length > 1 ? this.#longLists.get(member * listFields.length + index)! : undefined;
      for (let i = 0; column !== undefined && i < length; i++) add(column[i]!);
    }
  }

  /** Reads what `write` wrote into the state of a member. */
  read(member: number, next: () => number): void {
    const { slotFields, listFields } = this.#layout;
    for (const { slots } of slotFields) for (let i = 0; i < slots.length; i++) slots[i] = next();
    for (const { list } of listFields) {
      list.clear();
      for (let length = next(); length > 0; length--) list.push(next());
    }
    this.save(member);
  }

  #pageOf(member: number): Float64Array {
    return member === BLANK ? this.#blank : this.#pages[member >>> PAGE_BITS]!;
  }

  #placeOf(member: number): number {
    return member === BLANK ? 0 : (member & (PAGE_MEMBERS - 1)) * this.#layout.width;
  }

  #loadFrom(page: Float64Array, from: number, member: number): void {
    const { slotFields, listFields } = this.#layout;
    for (let k = 0; k < slotFields.length; k++) {
      const { slots, at } = slotFields[k]!;
      for (let i = 0; i < slots.length; i++) slots[i] = page[from + at + i]!;
    }
    for (let k = 0; k < listFields.length; k++) {
      const { list, at } = listFields[k]!;
      const length = page[from + at]!;
      if (list.length > 0) list.clear();
      if (length === 1) list.push(page[from + at + 1]!);
      else if (length > 1) list.append(this.#longLists.get(member * listFields.length + k)!, 0, length);
    }
  }

  #saveTo(page: Float64Array, from: number, member: number): void {
    const { slotFields, listFields } = this.#layout;
    for (let k = 0; k < slotFields.length; k++) {
      const { slots, at } = slotFields[k]!;
      for (let i = 0; i < slots.length; i++) page[from + at + i] = slots[i]!;
    }
    for (let k = 0; k < listFields.length; k++) {
      const { list, at } = listFields[k]!;
      const { length } = list;
      const lengthBefore = page[from + at]!;
      page[from + at] = length;
      if (length === 1) page[from + at + 1] = list.at(0);
      if (length > 1) this.#keepLong(member * listFields.length + k, list);
      else if (lengthBefore > 1) this.#longLists.delete(member * listFields.length + k);
    }
  }

  #keepLong(key: number, list: DoubleList): void {
    const { length } = list;
    let column = this.#longLists.get(key);
    if (column === undefined || column.length < length || column.length > 4 * length) {
      column = new Float64Array(length + (length >> 1));
      this.#longLists.set(key, column);
    }
    for (let i = 0; i < length; i++) column[i] = list.at(i);
  }
}
