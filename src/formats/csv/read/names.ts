import { CARRIAGE_RETURN, LINE_FEED, QUOTE } from '../bytes.js';

/**
 * Names of series by their bytes in the file, so that no string is made of a name seen before. Series usually follow
 * each other in a fixed order or in runs, so the name that followed the last one before is tried first.
 */
export interface NameTable {
  count: number;
  /** The names, one after the other. */
  bytes: Uint8Array;
  /** Name `i` is `bytes[start[i]..start[i + 1])`. */
  start: Int32Array;
  /** The name that came after name `i`. */
  follower: Int32Array;
  /** A hash table of index + 1 of each name; 0 for an empty slot. Its length is a power of two. */
  buckets: Int32Array;
  last: number;
  /** Where the last name found ends. */
  end: number;
}

export function createNameTable(): NameTable {
  return {
    count: 0,
    bytes: new Uint8Array(256),
    start: new Int32Array(17),
    follower: new Int32Array(17),
    buckets: new Int32Array(64),
    last: 0,
    end: 0,
  };
}

/** The index of the name at `from`, or −1 if it is unknown. Sets `end`. */
export function findName(table: NameTable, bytes: Uint8Array, from: number, separator: number): number {
  const guess = table.follower[table.last]!;
  const end = from + (table.start[guess + 1]! - table.start[guess]!);
  if (guess < table.count && isName(table, guess, bytes, from)) {
    const byte = bytes[end];
    if (byte === separator || byte === LINE_FEED || byte === CARRIAGE_RETURN) {
      table.last = guess;
      table.end = end;
      return guess;
    }
  }
  return lookUp(table, bytes, from, separator);
}

/** Adds the name `bytes[from..to)` unless it is known, and returns its index. */
export function learnName(table: NameTable, bytes: Uint8Array, from: number, to: number): number {
  const hash = hashOf(bytes, from, to);
  const known = probe(table, hash, bytes, from, to);
  if (known >= 0) return known;
  const index = table.count;
  const start = table.start[index]!;
  table.bytes = withRoom(table.bytes, start + to - from, (length) => new Uint8Array(length));
  table.bytes.set(bytes.subarray(from, to), start);
  table.start = withRoom(table.start, index + 2, (length) => new Int32Array(length));
  table.start[index + 1] = start + to - from;
  table.follower = withRoom(table.follower, index + 2, (length) => new Int32Array(length));
  table.follower[index] = index;
  table.count++;
  if (2 * table.count > table.buckets.length) rehash(table);
  else putInBucket(table, index, hash);
  return index;
}

function lookUp(table: NameTable, bytes: Uint8Array, from: number, separator: number): number {
  let to = from;
  let byte = bytes[to]!;
  while (byte !== separator && byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
    if (byte === QUOTE) return -1;
    byte = bytes[++to]!;
  }
  const index = probe(table, hashOf(bytes, from, to), bytes, from, to);
  if (index < 0) return -1;
  table.follower[table.last] = index;
  table.last = index;
  table.end = to;
  return index;
}

function probe(table: NameTable, hash: number, bytes: Uint8Array, from: number, to: number): number {
  const mask = table.buckets.length - 1;
  for (let at = hash & mask; table.buckets[at]! > 0; at = (at + 1) & mask) {
    const index = table.buckets[at]! - 1;
    const length = table.start[index + 1]! - table.start[index]!;
    if (length === to - from && isName(table, index, bytes, from)) return index;
  }
  return -1;
}

// Whether the bytes at `from` begin with the name. The bytes end with a line feed, which no name contains, so the
// comparison stops before their end.
function isName(table: NameTable, index: number, bytes: Uint8Array, from: number): boolean {
  const names = table.bytes;
  const end = table.start[index + 1]!;
  let at = from;
  for (let i = table.start[index]!; i < end; i++, at++) if (names[i] !== bytes[at]) return false;
  return true;
}

// FNV-1a.
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

function rehash(table: NameTable): void {
  table.buckets = new Int32Array(4 * table.buckets.length);
  for (let index = 0; index < table.count; index++) {
    putInBucket(table, index, hashOf(table.bytes, table.start[index]!, table.start[index + 1]!));
  }
}

function putInBucket(table: NameTable, index: number, hash: number): void {
  const mask = table.buckets.length - 1;
  let at = hash & mask;
  while (table.buckets[at]! > 0) at = (at + 1) & mask;
  table.buckets[at] = index + 1;
}

/** The array, or a longer copy, with room for `length` items. */
export function withRoom<A extends Uint8Array | Int32Array | Float64Array>(
  array: A,
  length: number,
  create: (length: number) => A,
): A {
  if (length <= array.length) return array;
  const roomy = create(2 * length);
  roomy.set(array);
  return roomy;
}

/** Which series a name and a metric stand for, both given by their index. */
export interface Pairs {
  /** The last series found with each name, and its metric; −1 before the first. */
  series: Int32Array;
  metric: Int32Array;
  readonly all: Map<number, number>;
}

// With up to 2^27 names, a double holds the product exactly.
const METRICS_MAX = 2 ** 26;

export function createPairs(): Pairs {
  return { series: new Int32Array(0), metric: new Int32Array(0), all: new Map() };
}

/** The series of a pair that was learned, or −1. */
export function findPair(pairs: Pairs, name: number, metric: number): number {
  if (pairs.metric[name] === metric) return pairs.series[name]!;
  const series = pairs.all.get(name * METRICS_MAX + metric);
  if (series === undefined) return -1;
  pairs.metric[name] = metric;
  pairs.series[name] = series;
  return series;
}

export function learnPair(pairs: Pairs, name: number, metric: number, series: number): void {
  const unset = (length: number): Int32Array<ArrayBuffer> => new Int32Array(length).fill(-1);
  pairs.metric = withRoom(pairs.metric, name + 1, unset);
  pairs.series = withRoom(pairs.series, name + 1, unset);
  pairs.all.set(name * METRICS_MAX + metric, series);
}
