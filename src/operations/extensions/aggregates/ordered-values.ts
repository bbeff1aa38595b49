import type { DoubleList } from '../../../core/list.js';

/**
 * Values in rising order, which can be added, removed and found by rank in O(log n): a treap (Seidel, Aragon,
 * "Randomized search trees", 1996) of the distinct values and their counts. Its nodes lie in one list, so a checkpoint
 * can hold it as it is. Priorities depend only on the index of a node, so the same calls always build the same tree.
 *
 * 0 and −0 are one value here; how many of them are −0, which ranks before 0, is counted separately.
 */

// Slots.
const ROOT = 0;
const FREE = 1; // the first free node; each free node names the next
const DIFFERENT = 2;
const NEGATIVE_ZEROS = 3;
export const ORDERED_SLOTS = 4;

// Fields of a node. Node 0 stands for none.
const VALUE = 0;
const LEFT = 1;
const RIGHT = 2;
const COUNT = 3; // how often the value occurs
const SIZE = 4; // how many values its tree holds
const MOST = 5; // the greatest count in its tree
const FIELDS = 6;

/** The slots (from `at` on) and the list that hold the values. */
export type Ordered = readonly [slots: Float64Array, at: number, nodes: DoubleList];

export function addValue([slots, at, list]: Ordered, x: number): void {
  if (Object.is(x, -0)) slots[at + NEGATIVE_ZEROS]!++;
  // Adds a free node first if there is none, so that the view below stays valid.
  if (slots[at + FREE] === 0) {
    const node = Math.max(1, list.length / FIELDS);
    while (list.length < (node + 1) * FIELDS) list.push(0);
    slots[at + FREE] = node;
  }
  slots[at + ROOT] = insert(slots, at, list.view(), slots[at + ROOT]!, x + 0);
}

/** Removes one occurrence of a value. */
export function removeValue([slots, at, list]: Ordered, x: number): void {
  if (Object.is(x, -0)) slots[at + NEGATIVE_ZEROS]!--;
  slots[at + ROOT] = remove(slots, at, list.view(), slots[at + ROOT]!, x + 0);
  if (slots[at + ROOT] !== 0) return;
  list.clear();
  slots[at + FREE] = 0;
}

/** The value of a rank, 0 for the least. */
export function valueAt([slots, at, list]: Ordered, rank: number): number {
  const nodes = list.view();
  let node = slots[at + ROOT]!;
  let left = rank;
  for (;;) {
    const before = sizeOf(nodes, field(nodes, node, LEFT));
    const count = field(nodes, node, COUNT);
    if (left < before) node = field(nodes, node, LEFT);
    else if (left < before + count) {
      const value = field(nodes, node, VALUE);
      return value === 0 && left - before < slots[at + NEGATIVE_ZEROS]! ? -0 : value;
    } else {
      left -= before + count;
      node = field(nodes, node, RIGHT);
    }
  }
}

/** How many distinct values there are. */
export function differentCount([slots, at]: Ordered): number {
  return slots[at + DIFFERENT]!;
}

/** The most frequent value; the least of several. */
export function mostFrequent([slots, at, list]: Ordered): number {
  const nodes = list.view();
  let node = slots[at + ROOT]!;
  const most = field(nodes, node, MOST);
  for (;;) {
    const left = field(nodes, node, LEFT);
    if (mostOf(nodes, left) === most) node = left;
    else if (field(nodes, node, COUNT) === most) {
      const value = field(nodes, node, VALUE);
      return value === 0 && slots[at + NEGATIVE_ZEROS]! > 0 ? -0 : value;
    } else node = field(nodes, node, RIGHT);
  }
}

function field(nodes: Float64Array, node: number, name: number): number {
  return nodes[node * FIELDS + name]!;
}

function setField(nodes: Float64Array, node: number, name: number, to: number): void {
  nodes[node * FIELDS + name] = to;
}

function sizeOf(nodes: Float64Array, node: number): number {
  return node === 0 ? 0 : field(nodes, node, SIZE);
}

function mostOf(nodes: Float64Array, node: number): number {
  return node === 0 ? 0 : field(nodes, node, MOST);
}

// The finalizer of MurmurHash3.
function priorityOf(node: number): number {
  let hash = Math.imul(node ^ (node >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function newNode(slots: Float64Array, at: number, nodes: Float64Array, x: number): number {
  slots[at + DIFFERENT]!++;
  const node = slots[at + FREE]!;
  slots[at + FREE] = field(nodes, node, LEFT);
  setField(nodes, node, VALUE, x);
  setField(nodes, node, LEFT, 0);
  setField(nodes, node, RIGHT, 0);
  setField(nodes, node, COUNT, 1);
  setField(nodes, node, SIZE, 1);
  setField(nodes, node, MOST, 1);
  return node;
}

function update(nodes: Float64Array, node: number): void {
  const left = field(nodes, node, LEFT);
  const right = field(nodes, node, RIGHT);
  const count = field(nodes, node, COUNT);
  setField(nodes, node, SIZE, sizeOf(nodes, left) + sizeOf(nodes, right) + count);
  setField(nodes, node, MOST, Math.max(mostOf(nodes, left), mostOf(nodes, right), count));
}

/** Inserts a value and returns the new root. */
function insert(slots: Float64Array, at: number, nodes: Float64Array, node: number, x: number): number {
  if (node === 0) return newNode(slots, at, nodes, x);
  const value = field(nodes, node, VALUE);
  if (x === value) {
    setField(nodes, node, COUNT, field(nodes, node, COUNT) + 1);
    update(nodes, node);
    return node;
  }
  const side = x < value ? LEFT : RIGHT;
  const other = x < value ? RIGHT : LEFT;
  const child = insert(slots, at, nodes, field(nodes, node, side), x);
  setField(nodes, node, side, child);
  if (priorityOf(child) <= priorityOf(node)) {
    update(nodes, node);
    return node;
  }
  // The child becomes the root.
  setField(nodes, node, side, field(nodes, child, other));
  setField(nodes, child, other, node);
  update(nodes, node);
  update(nodes, child);
  return child;
}

/** Removes one occurrence of a value and returns the new root. */
function remove(slots: Float64Array, at: number, nodes: Float64Array, node: number, x: number): number {
  if (node === 0) throw new Error('assertion failed: no such value to remove');
  const value = field(nodes, node, VALUE);
  if (x !== value) {
    const side = x < value ? LEFT : RIGHT;
    setField(nodes, node, side, remove(slots, at, nodes, field(nodes, node, side), x));
  } else if (field(nodes, node, COUNT) > 1) setField(nodes, node, COUNT, field(nodes, node, COUNT) - 1);
  else {
    const merged = merge(nodes, field(nodes, node, LEFT), field(nodes, node, RIGHT));
    setField(nodes, node, LEFT, slots[at + FREE]!);
    slots[at + FREE] = node;
    slots[at + DIFFERENT]!--;
    return merged;
  }
  update(nodes, node);
  return node;
}

/** Merges two trees, where all values of the first are less, and returns the root. */
function merge(nodes: Float64Array, left: number, right: number): number {
  if (left === 0) return right;
  if (right === 0) return left;
  const isLeft = priorityOf(left) > priorityOf(right);
  if (isLeft) setField(nodes, left, RIGHT, merge(nodes, field(nodes, left, RIGHT), right));
  else setField(nodes, right, LEFT, merge(nodes, left, field(nodes, right, LEFT)));
  const root = isLeft ? left : right;
  update(nodes, root);
  return root;
}
