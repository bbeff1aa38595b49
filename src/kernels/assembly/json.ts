// Reads samples of JSON, as nearly all are written, from bytes into columns. ../scan-samples.ts says what it takes and
// what it leaves to JSON.parse.
//
// The bytes are followed by zeros, which JSON does not allow, so no loop has to check for the end.

import { number, readNumber } from './number';
import { readTime, timeMs } from './time';

const SAMPLE_BYTES_MAX: usize = 4096;

const ID: i32 = 1;
const METRIC: i32 = 2;
const TIME: i32 = 4;
const VALUE: i32 = 8;

// Parts of `"timeseriesId"`, `"metric"`, `"timestamp"` and `"val"`, and `null`.
const TIMESER: u64 = 0x726573656d697422;
const ERIES_ID: u64 = 0x2264497365697265;
const METRIC_KEY: u64 = 0x2263697274656d22;
const TIMESTA: u64 = 0x617473656d697422;
const AMP: u32 = 0x22706d61;
const VAL: u32 = 0x6c617622;
const NULL: u32 = 0x6c6c756e;

/** Where the last call stopped: after the comma of its last sample or, at the end, after the bracket of the array. */
export let samplesEnd: i32 = 0;
/** Why it stopped. 0: the bytes ended before the samples; 1: after the last sample; 2: the rest is for JSON.parse. */
export let samplesState: i32 = 0;
/** How many names it found. For each: place and length of its id and of its metric (length -1 for none). */
export let nameCount: i32 = 0;
/** How many numbers it left to JavaScript. For each: the row, its place and its length. */
export let numberCount: i32 = 0;

// A hash table of names, with two words a slot: the call that wrote it, and the index of the name.
const PROBES_MAX: i32 = 64;
const NAME_SHIFT: usize = 5;
let table: usize = 0;
let slotMask: u32 = 0;
let names: usize = 0;
let numbers: usize = 0;
let call: u32 = 0;
let input: usize = 0;
let isArray: bool = false;

// The current sample.
let idAt: usize = 0;
let idLength: i32 = -1;
let idHash: u64 = 0;
let metricAt: usize = 0;
let metricLength: i32 = -1;
let metricHash: u64 = 0;
let value: f64 = NaN;
/** The place of a value that is left to JavaScript, and its length; 0 for none. */
let numberAt: usize = 0;
let numberLength: i32 = 0;

// The text that was read last.
let textHash: u64 = 0;
let textEnd: usize = 0;

/** Sets where the tables lie. The number of slots must be a power of two. */
export function placeTables(tableFrom: usize, slotCount: i32, namesFrom: usize, numbersFrom: usize): void {
  table = tableFrom;
  slotMask = <u32>slotCount - 1;
  names = namesFrom;
  numbers = numbersFrom;
}

/**
 * Reads samples from `bytes` on into columns and returns their count. `between` separates them: a comma, with brackets
 * around all of them, or a line feed. `isFirst` and `isLast` say whether the body begins or ends with these bytes.
 */
export function scanSamples(
  bytes: usize,
  length: i32,
  rowMax: i32,
  between: i32,
  isFirst: bool,
  isLast: bool,
  series: usize,
  times: usize,
  values: usize,
): i32 {
  const stop = bytes + <usize>length;
  isArray = between == 0x2c;
  begin(bytes);
  let start = bytes;
  let row: i32 = 0;
  if (isFirst && isArray) {
    start = skipSpace(start);
    if (load<u8>(start) != 0x5b) rowMax = 0;
    samplesState = rowMax == 0 ? 2 : 0;
    start++;
  }
  while (row < rowMax) {
    const at = readSample(skipSpace(start));
    const end: usize = at == 0 ? 0 : skipSpace(at);
    const byte = end == 0 ? 0 : <i32>load<u8>(end);
    const isEnd = end != 0 && isLast && (isArray ? byte == 0x5d : end == stop);
    const isRead = (byte == between || isEnd) && end - start <= SAMPLE_BYTES_MAX;
    const name = isRead ? findName() : -1;
    if (name < 0) {
      // Usually the sample just continues after these bytes.
      samplesState = isLast || stop - start > SAMPLE_BYTES_MAX ? 2 : 0;
      break;
    }
    store<i32>(series + (<usize>row << 2), name);
    store<f64>(times + (<usize>row << 3), timeMs);
    store<f64>(values + (<usize>row << 3), value);
    if (numberLength > 0) leaveNumber(row);
    row++;
    start = isEnd && !isArray ? end : end + 1;
    if (isEnd) {
      if (isArray) start = skipSpace(start);
      samplesState = start == stop ? 1 : 2;
      break;
    }
  }
  samplesEnd = <i32>(start - bytes);
  return row;
}

function begin(bytes: usize): void {
  input = bytes;
  samplesState = 0;
  nameCount = 0;
  numberCount = 0;
  call++;
  // The count of calls has wrapped around, so old slots could look current.
  if (call == 0) {
    memory.fill(table, 0, (<usize>slotMask + 1) << 3);
    call = 1;
  }
}

// Reads the sample at a place and returns the place after it; 0 if it is not one that is read here.
function readSample(from: usize): usize {
  if (load<u8>(from) != 0x7b) return 0;
  let at = skipSpace(from + 1);
  let seen: i32 = 0;
  idLength = -1;
  metricLength = -1;
  numberLength = 0;
  for (;;) {
    const field = fieldAt(at);
    // An unknown key, or one that comes twice.
    if (field == 0 || (seen & field) != 0) return 0;
    seen |= field;
    at = skipSpace(at + keyLength(field));
    if (load<u8>(at) != 0x3a) return 0;
    at = readField(field, skipSpace(at + 1));
    if (at == 0) return 0;
    at = skipSpace(at);
    const byte = load<u8>(at);
    if (byte == 0x7d) break;
    if (byte != 0x2c) return 0;
    at = skipSpace(at + 1);
  }
  return (seen & (TIME | VALUE)) == (TIME | VALUE) ? at + 1 : 0;
}

function fieldAt(at: usize): i32 {
  const word = load<u64>(at);
  if (word == TIMESER) return load<u64>(at, 6) == ERIES_ID ? ID : 0;
  if (word == METRIC_KEY) return METRIC;
  if (word == TIMESTA) return load<u32>(at, 7) == AMP ? TIME : 0;
  return <u32>word == VAL && load<u8>(at, 4) == 0x22 ? VALUE : 0;
}

// @ts-ignore: decorator
@inline
function keyLength(field: i32): usize {
  return field == ID ? 14 : field == METRIC ? 8 : field == TIME ? 11 : 5;
}

// @ts-ignore: decorator
@inline
function readField(field: i32, at: usize): usize {
  if (field == TIME) return readTime(at);
  if (field == VALUE) return readValue(at);
  if (!readText(at)) return 0;
  const length = <i32>(textEnd - at) - 1;
  if (field == ID) {
    idAt = at + 1;
    idLength = length;
    idHash = textHash;
  } else {
    metricAt = at + 1;
    metricLength = length;
    metricHash = textHash;
  }
  return textEnd + 1;
}

// A line feed is not space if it separates the samples.
// @ts-ignore: decorator
@inline
function skipSpace(from: usize): usize {
  let at = from;
  while (<u32>load<u8>(at) <= 0x20 && isSpace(load<u8>(at))) at++;
  return at;
}

function isSpace(byte: u8): bool {
  return byte == 0x20 || byte == 0x09 || byte == 0x0d || (byte == 0x0a && isArray);
}

// Reads a text without escapes and control characters, up to its closing quote.
function readText(from: usize): bool {
  if (load<u8>(from) != 0x22) return false;
  const start = from + 1;
  let at = start;
  for (;;) {
    const bytes = v128.load(at);
    const special = v128.or(
      i8x16.lt_u(bytes, i8x16.splat(0x20)),
      v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c))),
    );
    const found = i8x16.bitmask(special);
    if (found != 0) {
      at += <usize>ctz(found);
      break;
    }
    at += 16;
  }
  if (load<u8>(at) != 0x22) return false;
  textEnd = at;
  let hash: u64 = at - start;
  for (; start + 8 <= at; at -= 8) hash = mix(hash ^ load<u64>(at - 8));
  const rest = at - start;
  if (rest > 0) hash = mix(hash ^ (load<u64>(start) & ((<u64>1 << (<u64>rest << 3)) - 1)));
  textHash = hash;
  return true;
}

// @ts-ignore: decorator
@inline
function mix(word: u64): u64 {
  const product = word * 0x9e3779b97f4a7c15;
  return product ^ (product >> 29);
}

// The index of the current sample's name; -1 if the table has too many collisions to find it.
function findName(): i32 {
  const hash = mix((idLength < 0 ? 1 : idHash) * 3 + (metricLength < 0 ? 1 : metricHash));
  let slot = <u32>hash & slotMask;
  for (let probe: i32 = 0; probe < PROBES_MAX; probe++) {
    const place = table + (<usize>slot << 3);
    if (load<u32>(place) != call) {
      store<u32>(place, call);
      store<i32>(place, nameCount, 4);
      return addName(hash);
    }
    const name = load<i32>(place, 4);
    if (isName(names + (<usize>name << NAME_SHIFT), hash)) return name;
    slot = (slot + 1) & slotMask;
  }
  return -1;
}

function addName(hash: u64): i32 {
  const place = names + (<usize>nameCount << NAME_SHIFT);
  store<i32>(place, <i32>(idAt - input));
  store<i32>(place, idLength, 4);
  store<i32>(place, <i32>(metricAt - input), 8);
  store<i32>(place, metricLength, 12);
  store<u64>(place, hash, 16);
  return nameCount++;
}

function isName(place: usize, hash: u64): bool {
  return (
    load<u64>(place, 16) == hash &&
    load<i32>(place, 4) == idLength &&
    load<i32>(place, 12) == metricLength &&
    isSame(input + <usize>load<i32>(place), idAt, idLength) &&
    isSame(input + <usize>load<i32>(place, 8), metricAt, metricLength)
  );
}

function isSame(left: usize, right: usize, length: i32): bool {
  let at: i32 = 0;
  for (; at + 8 <= length; at += 8) {
    if (load<u64>(left + <usize>at) != load<u64>(right + <usize>at)) return false;
  }
  for (; at < length; at++) if (load<u8>(left + <usize>at) != load<u8>(right + <usize>at)) return false;
  return true;
}

// Reads a number; null becomes NaN.
function readValue(from: usize): usize {
  if (load<u32>(from) == NULL) {
    value = NaN;
    return from + 4;
  }
  const end = readNumber(from);
  if (end == 0) return 0;
  value = number;
  if (number != number) {
    numberAt = from;
    numberLength = <i32>(end - from);
  }
  return end;
}

function leaveNumber(row: i32): void {
  const place = numbers + <usize>numberCount * 12;
  store<i32>(place, row);
  store<i32>(place, <i32>(numberAt - input), 4);
  store<i32>(place, numberLength, 8);
  numberCount++;
}
