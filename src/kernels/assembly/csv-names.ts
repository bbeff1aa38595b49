// Names of series by their bytes. ../scan-fields.ts fills the tables, and ../field-layout.ts says where they lie.
//
// Series usually follow each other in a fixed order or in runs, so the name that followed the last one before is tried
// first.

import { PLACES } from './csv-time';

// A table: how many names it has, the count of its slots minus one, its slots (index + 1 of a name, 0 for an empty
// one), then an entry for each name: its bytes followed by zeros, their count, and the name that came after it.
const SLOTS_FROM: usize = 16;
const ENTRY_BYTES: usize = 64;
const LENGTH_AT: usize = 48;
const FOLLOWER_AT: usize = 52;

/** Where the last name found ends. */
export let nameEnd: usize = 0;

/** Makes a table empty. `slotCount` is a power of two, at least twice as many as it will have names. */
export function clearNames(table: usize, slotCount: i32): void {
  store<i32>(table, 0);
  store<i32>(table, slotCount - 1, 4);
  memory.fill(table + SLOTS_FROM, 0, <usize>slotCount << 2);
}

/**
 * Adds a name whose bytes, followed by zeros, have been put where the entry of the next name goes. A name that is too
 * long for an entry takes an index, but is never found.
 */
export function addName(table: usize, length: i32): void {
  const count = load<i32>(table);
  const mask = load<i32>(table, 4);
  const entry = entryOf(table, mask, count);
  store<i32>(entry, length, LENGTH_AT);
  store<i32>(entry, count, FOLLOWER_AT);
  store<i32>(table, count + 1);
  if (length >= <i32>LENGTH_AT) return;
  let slot = hashOf(v128.load(entry), v128.load(entry, 16), v128.load(entry, 32)) & mask;
  while (load<i32>(slotOf(table, slot)) != 0) slot = (slot + 1) & mask;
  store<i32>(slotOf(table, slot), count + 1);
}

/** The index of the name at a place, or -1 if it is not in the table. Sets `nameEnd`. */
// @ts-ignore: decorator
@inline
export function findName(table: usize, at: usize, last: i32, separator: i32): i32 {
  const mask = load<i32>(table, 4);
  if (last >= load<i32>(table)) return lookUp(table, mask, at, separator);
  const lastEntry = entryOf(table, mask, last);
  const guess = load<i32>(lastEntry, FOLLOWER_AT);
  const entry = entryOf(table, mask, guess);
  const length = load<i32>(entry, LENGTH_AT);
  // The first name may be too long for its entry, and follows itself.
  if (length < <i32>LENGTH_AT && isName(entry, length, at)) {
    const end = at + <usize>length;
    const byte = <i32>load<u8>(end);
    if (byte == separator || byte == 0x0a || byte == 0x0d) {
      nameEnd = end;
      return guess;
    }
  }
  const index = lookUp(table, mask, at, separator);
  if (index >= 0) store<i32>(lastEntry, index, FOLLOWER_AT);
  return index;
}

function lookUp(table: usize, mask: i32, at: usize, separator: i32): i32 {
  const ends = endsIn(at, separator) | (endsIn(at + 16, separator) << 16) | (endsIn(at + 32, separator) << 32);
  if (ends == 0) return -1;
  const length = <i32>ctz(ends);
  const first = v128.and(v128.load(at), before(length, 0));
  const second = v128.and(v128.load(at, 16), before(length, 16));
  const third = v128.and(v128.load(at, 32), before(length, 32));
  let slot = hashOf(first, second, third) & mask;
  let index = load<i32>(slotOf(table, slot)) - 1;
  while (index >= 0 && !isWholeName(entryOf(table, mask, index), length, at)) {
    slot = (slot + 1) & mask;
    index = load<i32>(slotOf(table, slot)) - 1;
  }
  nameEnd = at + <usize>length;
  return index;
}

function isWholeName(entry: usize, length: i32, at: usize): bool {
  return load<i32>(entry, LENGTH_AT) == length && isName(entry, length, at);
}

// @ts-ignore: decorator
@inline
function slotOf(table: usize, slot: i32): usize {
  return table + SLOTS_FROM + (<usize>slot << 2);
}

// @ts-ignore: decorator
@inline
function entryOf(table: usize, mask: i32, index: i32): usize {
  return slotOf(table, mask + 1) + <usize>index * ENTRY_BYTES;
}

// Whether the bytes at a place begin with the name of an entry, which is shorter than `LENGTH_AT`.
// @ts-ignore: decorator
@inline
function isName(entry: usize, length: i32, at: usize): bool {
  let others = othersAt(entry, at, length, 0);
  if (length > 16) others = v128.or(others, othersAt(entry, at, length, 16));
  if (length > 32) others = v128.or(others, othersAt(entry, at, length, 32));
  return !v128.any_true(others);
}

// All bits in the lanes before the length, counted from `from` on, where two texts differ.
// @ts-ignore: decorator
@inline
function othersAt(entry: usize, at: usize, length: i32, from: i32): v128 {
  return v128.and(v128.xor(v128.load(entry + from), v128.load(at + from)), before(length, from));
}

// All bits in the lanes whose places, counted from `from` on, lie before the length, which is below 128: lanes are
// signed bytes.
// @ts-ignore: decorator
@inline
function before(length: i32, from: i32): v128 {
  return i8x16.lt_s(PLACES, i8x16.splat(<i8>(length - from)));
}

// One bit for each byte that ends a name or that no name here contains.
// @ts-ignore: decorator
@inline
function endsIn(at: usize, separator: i32): u64 {
  const bytes = v128.load(at);
  const ends = v128.or(
    v128.or(i8x16.eq(bytes, i8x16.splat(<i8>separator)), i8x16.eq(bytes, i8x16.splat(0x22))),
    v128.or(i8x16.eq(bytes, i8x16.splat(0x0a)), i8x16.eq(bytes, i8x16.splat(0x0d))),
  );
  return <u64>i8x16.bitmask(ends);
}

// Each half of a vector times an odd number, as in multiplicative hashing (Knuth, TAOCP 3, 6.4).
// @ts-ignore: decorator
@inline
function hashOf(first: v128, second: v128, third: v128): i32 {
  let hash = i64x2.extract_lane(first, 0) * 0x9e3779b97f4a7c15;
  hash = ((hash ^ (hash >>> 32)) + i64x2.extract_lane(first, 1)) * 0x9e3779b97f4a7c15;
  hash = ((hash ^ (hash >>> 32)) + i64x2.extract_lane(second, 0)) * 0x9e3779b97f4a7c15;
  hash = ((hash ^ (hash >>> 32)) + i64x2.extract_lane(second, 1)) * 0x9e3779b97f4a7c15;
  hash = ((hash ^ (hash >>> 32)) + i64x2.extract_lane(third, 0)) * 0x9e3779b97f4a7c15;
  hash = ((hash ^ (hash >>> 32)) + i64x2.extract_lane(third, 1)) * 0x9e3779b97f4a7c15;
  return <i32>(hash >>> 32);
}
