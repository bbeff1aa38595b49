// Reads samples of JSON as nearly all are written, from bytes into columns. ../scan-samples.ts says what it takes and
// what it leaves to JSON.parse.
//
// Behind the bytes stand zeros, which are nothing that JSON has, so no loop asks where the end is.

import { startOf, twoDigits } from './date';
import { isNumberEnd, number, readNumber } from './number';

const SAMPLE_BYTES_MAX: usize = 4096;
/** Where a whole number is a time in milliseconds. */
const EPOCH_MS_START: u64 = 100000000000;
const EPOCH_MS_END: u64 = 100000000000000;

const ID: i32 = 1;
const METRIC: i32 = 2;
const TIME: i32 = 4;
const VALUE: i32 = 8;

// Parts of `"timeseriesId"`, `"metric"`, `"timestamp"` and `"val"`, and of what may stand behind them.
const TIMESER: u64 = 0x726573656d697422;
const ERIES_ID: u64 = 0x2264497365697265;
const METRIC_KEY: u64 = 0x2263697274656d22;
const TIMESTA: u64 = 0x617473656d697422;
const AMP: u32 = 0x22706d61;
const VAL: u32 = 0x6c617622;
const NULL: u32 = 0x6c6c756e;
const PLUS_ZERO: u32 = 0x3a30302b;

/** Where the last call stopped: behind the comma of its last sample, and of the array behind its bracket. */
export let samplesEnd: i32 = 0;
/** 0 where the bytes end before the samples do, 1 behind the last of them, 2 before what is left to JSON.parse. */
export let samplesState: i32 = 0;
/** How many names the last call found: of each its id and its metric, by place and length (-1 for none). */
export let nameCount: i32 = 0;
/** How many numbers it left: of each the row, its place and its length. */
export let numberCount: i32 = 0;

// Names are told apart by a table, with two words a slot: the call that wrote it, and the number of the name.
const PROBES_MAX: i32 = 64;
const NAME_SHIFT: usize = 5;
let table: usize = 0;
let slotMask: u32 = 0;
let names: usize = 0;
let numbers: usize = 0;
let call: u32 = 0;
let input: usize = 0;
let isArray: bool = false;

// The sample at hand.
let idAt: usize = 0;
let idLength: i32 = -1;
let idHash: u64 = 0;
let metricAt: usize = 0;
let metricLength: i32 = -1;
let metricHash: u64 = 0;
let timeMs: f64 = NaN;
let value: f64 = NaN;
/** Of a value that is left to JavaScript. */
let numberAt: usize = 0;
let numberLength: i32 = 0;

// The text that was read last.
let textHash: u64 = 0;
let textEnd: usize = 0;

// The day of the time before, as the bytes 0 to 7 and 7 to 10 of it.
let dayWord: i64 = 0;
let dayTail: i32 = 0;
let dayMs: f64 = NaN;

/** Where the tables lie; the slots are a power of two. */
export function placeTables(tableFrom: usize, slotCount: i32, namesFrom: usize, numbersFrom: usize): void {
  table = tableFrom;
  slotMask = <u32>slotCount - 1;
  names = namesFrom;
  numbers = numbersFrom;
}

/**
 * Reads samples from `bytes` on into columns, and gives their count. `between` stands between two of them, a comma or
 * a line feed; with a comma, brackets stand around them. With `isFirst` and `isLast`, the body begins or ends here.
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
      // Mostly it only goes on behind these bytes.
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
  // What was written so many calls ago would look as if it were of this one.
  if (call == 0) {
    memory.fill(table, 0, (<usize>slotMask + 1) << 3);
    call = 1;
  }
}

// The place behind the sample that stands at one; 0 where there is none that is read here.
function readSample(from: usize): usize {
  if (load<u8>(from) != 0x7b) return 0;
  let at = skipSpace(from + 1);
  let seen: i32 = 0;
  idLength = -1;
  metricLength = -1;
  numberLength = 0;
  for (;;) {
    const field = fieldAt(at);
    // A key that comes twice, too.
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

// Where lines end, a line feed is no space.
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

// A text without escapes and control characters, to its closing quote.
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

// The number of the name of the sample at hand; -1 where it cannot be told in short.
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

// `"2024-01-31T12:00:00Z"`, with milliseconds or without, or a whole number of milliseconds.
function readTime(from: usize): usize {
  if (load<u8>(from) != 0x22) return readEpoch(from);
  const at = from + 1;
  const word = load<i64>(at);
  const tail = load<i32>(at, 7);
  if ((word != dayWord || tail != dayTail) && !findDay(at)) return 0;
  const hour = twoDigits(at + 11);
  const minute = twoDigits(at + 14);
  const second = twoDigits(at + 17);
  // One bit for each byte that is not a digit.
  const clock = i8x16.sub(v128.load(at, 8), i8x16.splat(0x30));
  const others = i8x16.bitmask(i8x16.gt_u(clock, i8x16.splat(9)));
  const hasMs = load<u8>(at, 19) == 0x2e;
  const colons = <i32>load<u8>(at, 13) == 0x3a && <i32>load<u8>(at, 16) == 0x3a;
  // The bytes 8 to 23 of the time: DDTHH:MM:SS.mmmZ
  const expected = hasMs ? 0x0924 : 0x0124;
  const mask = hasMs ? 0x7fff : 0x07ff;
  if (!colons || (others & mask) != expected || hour > 23 || minute > 59 || second > 59) return 0;
  const ms = hasMs ? 100 * (<i32>load<u8>(at, 20) - 0x30) + twoDigits(at + 21) : 0;
  const end = at + (hasMs ? 23 : 19);
  timeMs = dayMs + <f64>(3600000 * hour + 60000 * minute + 1000 * second + ms);
  if (load<u16>(end) == 0x225a) return end + 2;
  const isZero = load<u32>(end) == PLUS_ZERO && load<u16>(end, 4) == 0x3030 && load<u8>(end, 6) == 0x22;
  return isZero ? end + 7 : 0;
}

function findDay(at: usize): bool {
  if (load<u8>(at, 10) != 0x54) return false;
  const startMs = startOf(at);
  if (startMs != startMs) return false;
  dayWord = load<i64>(at);
  dayTail = load<i32>(at, 7);
  dayMs = startMs;
  return true;
}

function readEpoch(from: usize): usize {
  let at = from;
  let digits: u64 = 0;
  for (; <u32>load<u8>(at) - 0x30 <= 9 && at - from < 15; at++) digits = 10 * digits + (<u64>load<u8>(at) - 0x30);
  // A number with a fraction or an exponent is no whole one, and one that begins with 0 none of JSON.
  const isWhole = isNumberEnd(load<u8>(at)) && load<u8>(from) != 0x30;
  if (!isWhole || digits < EPOCH_MS_START || digits >= EPOCH_MS_END) return 0;
  timeMs = <f64>digits;
  return at;
}

// A number; one that is missing is not a number.
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
