import { CARRIAGE_RETURN, LINE_FEED, QUOTE } from '../bytes.js';

/**
 * Names of series by their bytes in the file, so that no string is made of a name seen before. Series usually follow
 * each other in a fixed order or in runs, so the name that followed the last one before is tried first.
 */
export interface NameBook {
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

export function createNameBook(): NameBook {
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
export function findName(book: NameBook, bytes: Uint8Array, from: number, separator: number): number {
  const guess = book.follower[book.last]!;
  const end = from + (book.start[guess + 1]! - book.start[guess]!);
  if (guess < book.count && isName(book, guess, bytes, from)) {
    const byte = bytes[end];
    if (byte === separator || byte === LINE_FEED || byte === CARRIAGE_RETURN) {
      book.last = guess;
      book.end = end;
      return guess;
    }
  }
  return lookUp(book, bytes, from, separator);
}

/** Adds the name `bytes[from..to)` unless it is known, and returns its index. */
export function learnName(book: NameBook, bytes: Uint8Array, from: number, to: number): number {
  const hash = hashOf(bytes, from, to);
  const known = probe(book, hash, bytes, from, to);
  if (known >= 0) return known;
  const index = book.count;
  const start = book.start[index]!;
  book.bytes = withRoom(book.bytes, start + to - from, (length) => new Uint8Array(length));
  book.bytes.set(bytes.subarray(from, to), start);
  book.start = withRoom(book.start, index + 2, (length) => new Int32Array(length));
  book.start[index + 1] = start + to - from;
  book.follower = withRoom(book.follower, index + 2, (length) => new Int32Array(length));
  book.follower[index] = index;
  book.count++;
  if (2 * book.count > book.buckets.length) rehash(book);
  else putInBucket(book, index, hash);
  return index;
}

function lookUp(book: NameBook, bytes: Uint8Array, from: number, separator: number): number {
  let to = from;
  let byte = bytes[to]!;
  while (byte !== separator && byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
    if (byte === QUOTE) return -1;
    byte = bytes[++to]!;
  }
  const index = probe(book, hashOf(bytes, from, to), bytes, from, to);
  if (index < 0) return -1;
  book.follower[book.last] = index;
  book.last = index;
  book.end = to;
  return index;
}

function probe(book: NameBook, hash: number, bytes: Uint8Array, from: number, to: number): number {
  const mask = book.buckets.length - 1;
  for (let at = hash & mask; book.buckets[at]! > 0; at = (at + 1) & mask) {
    const index = book.buckets[at]! - 1;
    const length = book.start[index + 1]! - book.start[index]!;
    if (length === to - from && isName(book, index, bytes, from)) return index;
  }
  return -1;
}

// Whether the bytes at `from` begin with the name. The bytes end with a line feed, which no name contains, so the
// comparison stops before their end.
function isName(book: NameBook, index: number, bytes: Uint8Array, from: number): boolean {
  const names = book.bytes;
  const end = book.start[index + 1]!;
  let at = from;
  for (let i = book.start[index]!; i < end; i++, at++) if (names[i] !== bytes[at]) return false;
  return true;
}

// FNV-1a.
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

function rehash(book: NameBook): void {
  book.buckets = new Int32Array(4 * book.buckets.length);
  for (let index = 0; index < book.count; index++) {
    putInBucket(book, index, hashOf(book.bytes, book.start[index]!, book.start[index + 1]!));
  }
}

function putInBucket(book: NameBook, index: number, hash: number): void {
  const mask = book.buckets.length - 1;
  let at = hash & mask;
  while (book.buckets[at]! > 0) at = (at + 1) & mask;
  book.buckets[at] = index + 1;
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
