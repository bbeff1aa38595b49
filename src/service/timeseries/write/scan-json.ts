import {
  CARRIAGE_RETURN,
  COMMA,
  DIGIT_0,
  decodeText,
  LINE_FEED,
  MINUS,
  POINT,
  QUOTE,
  SPACE,
  TAB,
} from '../../../formats/csv/bytes.js';
import { type Clock, createClock } from '../../../formats/csv/read/clock.js';
import { RAW_METRIC } from '../../../formats/csv/read/long-rows.js';
import { createNameBook, findName, learnName, type NameBook } from '../../../formats/csv/read/names.js';
import { createPairs, findPair, learnPair, type Pairs } from '../../../formats/csv/read/pairs.js';
import { scanNumber } from '../../../formats/csv/read/scan-number.js';
import { scanTime, TIME_REACH } from '../../../formats/csv/read/scan-time.js';
import { makeRoom, type SampleBatch, seriesIndexOf } from './batch.js';
import { nameProblem, type SampleDefaults } from './json.js';
import { createMoulds, isPiece, type Moulds, noteObject, PLACES } from './moulds.js';

const BACKSLASH = 0x5c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const COLON = 0x3a;

/** The bytes of a short sample: a guess at how many there are. */
const SAMPLE_BYTES = 72;

/**
 * The fast form of `readJsonSamples`: an array of objects with the fields in any order, names without escapes, times
 * and numbers in their usual forms, straight from the bytes into the columns. False for anything else: then the batch
 * is as it was before, but for names of series.
 *
 * @param bytes with `SCAN_PADDING` line feeds behind the text.
 * @param scan of the bodies before, whose names stand in the same batch.
 */
export function scanJsonSamples(
  bytes: Uint8Array,
  batch: SampleBatch,
  defaults: SampleDefaults,
  scan: Scan = createScan(defaults),
): boolean {
  setDefaults(scan, defaults);
  scan.bytes = bytes;
  scan.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  scan.at = 0;
  scan.end = bytes.length - SCAN_PADDING;
  const { rowCount } = batch;
  if (scanArray(scan, batch)) return true;
  batch.rowCount = rowCount;
  return false;
}

/** The fast form of `readJsonLine`, for `bytes[from..to)` of the scan; false, and no row, for anything else. */
export function scanJsonLine(scan: Scan, batch: SampleBatch, from: number, to: number): boolean {
  scan.at = from;
  scan.end = to;
  makeRoom(batch, 1);
  if (!scanObject(scan, batch) || !isAtEnd(scan)) return false;
  batch.rowCount++;
  return true;
}

function scanArray(scan: Scan, batch: SampleBatch): boolean {
  const { bytes } = scan;
  if (!skipTo(scan, BRACKET_OPEN)) return false;
  makeRoom(batch, Math.ceil(bytes.length / SAMPLE_BYTES));
  if (skipTo(scan, BRACKET_CLOSE)) return isAtEnd(scan);
  // With fixed names, objects that are alike may be of other series.
  const hasMoulds = scan.fixedId < 0 && scan.fixedMetric < 0;
  for (;;) {
    if (batch.rowCount === batch.timeMs.length) makeRoom(batch, 1);
    skipSpace(scan);
    if (!(hasMoulds && castObject(scan, batch))) {
      const from = scan.at;
      if (!scanObject(scan, batch)) return false;
      if (hasMoulds) learnMould(scan, batch, from);
    }
    batch.rowCount++;
    skipSpace(scan);
    const byte = bytes[scan.at++];
    if (byte === BRACKET_CLOSE) return isAtEnd(scan);
    if (byte !== COMMA) return false;
  }
}

function scanObject(scan: Scan, batch: SampleBatch): boolean {
  const { bytes } = scan;
  const { rowCount: row } = batch;
  if (!skipTo(scan, BRACE_OPEN)) return false;
  let seen = 0;
  let id = scan.absentId;
  let metric = scan.absentMetric;
  for (;;) {
    const field = scanField(scan);
    if (field === 0 || (seen & field) !== 0) return false;
    seen |= field;
    skipSpace(scan);
    if (field === TIMESTAMP) {
      if (!scanTimestamp(scan, batch.timeMs, row)) return false;
    } else if (field === VAL) {
      if (!scanValue(scan, batch.value, row)) return false;
    } else {
      const name = scanName(scan, field === ID ? scan.ids : scan.metrics);
      if (name < 0) return false;
      if (field === ID) id = name;
      else metric = name;
    }
    skipSpace(scan);
    const byte = bytes[scan.at++];
    if (byte === BRACE_CLOSE) break;
    if (byte !== COMMA) return false;
  }
  if ((seen & scan.needed) !== scan.needed) return false;
  if (scan.fixedId >= 0 && id !== scan.fixedId) return false;
  if (scan.fixedMetric >= 0 && metric !== scan.fixedMetric) return false;
  const series = findPair(scan.pairs, id, metric);
  batch.seriesIndex[row] = series >= 0 ? series : learnSeries(scan, batch, id, metric);
  return batch.seriesIndex[row]! >= 0;
}

// Which field's name stands here, its colon skipped; 0 for any other.
function scanField(scan: Scan): number {
  if (!skipTo(scan, QUOTE)) return 0;
  const { bytes, at } = scan;
  const field = fieldOf(bytes[at]!, bytes[at + 5]!);
  const name = FIELD_NAMES[field]!;
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return 0;
  scan.at = at + name.length;
  return skipTo(scan, COLON) ? field : 0;
}

// Names with the quote that ends them, at the index of their bit.
const FIELD_NAMES: readonly Uint8Array[] = ['', 'timeseriesId"', 'metric"', '', 'timestamp"', '', '', '', 'val"'].map(
  (name) => new TextEncoder().encode(name),
);

// The one field that can stand here, told by its first letter, and by the sixth where two share it.
function fieldOf(first: number, sixth: number): number {
  if (first === 0x76) return VAL;
  if (first === 0x6d) return METRIC;
  return sixth === 0x74 ? TIMESTAMP : ID;
}

function scanTimestamp(scan: Scan, timeMs: Float64Array, row: number): boolean {
  const { bytes, view, clock } = scan;
  if (bytes[scan.at] !== QUOTE) return false;
  const end = scanTime(bytes, view, scan.at + 1, clock, timeMs, row);
  if (end < 0 || bytes[end] !== QUOTE) return false;
  scan.timeFrom = scan.at + 1;
  scan.timeTo = end;
  scan.at = end + 1;
  return true;
}

function scanValue(scan: Scan, value: Float64Array, row: number): boolean {
  const { bytes, at } = scan;
  let end = scanNumber(bytes, at, BRACE_CLOSE, value, row);
  if (end < 0) end = scanNumber(bytes, at, COMMA, value, row);
  if (end < 0 || !isJsonNumber(bytes, at, end)) return false;
  scan.valueFrom = at;
  scan.valueTo = end;
  scan.at = end;
  return true;
}

// The index of a name in the book, or −1 where it has escapes or control characters.
function scanName(scan: Scan, names: NameBook): number {
  const { bytes } = scan;
  if (bytes[scan.at] !== QUOTE) return -1;
  const from = scan.at + 1;
  // An empty name would be found at once; JSON texts that have one are left to the general path.
  const known = bytes[from] === QUOTE ? -1 : findName(names, bytes, from, QUOTE);
  if (known >= 0 && bytes[names.end] === QUOTE) {
    scan.at = names.end + 1;
    return known;
  }
  let end = from;
  while (bytes[end] !== QUOTE) {
    if (bytes[end] === BACKSLASH || bytes[end]! < SPACE) return -1;
    end++;
  }
  scan.at = end + 1;
  return learnName(names, bytes, from, end);
}

function learnSeries(scan: Scan, batch: SampleBatch, id: number, metric: number): number {
  const timeseriesId = nameOf(scan.ids, id);
  const metricName = nameOf(scan.metrics, metric);
  if (timeseriesId === undefined || nameProblem(timeseriesId) !== undefined) return -1;
  if (metricName === undefined || nameProblem(metricName) !== undefined) return -1;
  const series = seriesIndexOf(batch, timeseriesId, metricName);
  learnPair(scan.pairs, id, metric, series);
  return series;
}

// Undefined where the bytes are not UTF-8: the general path says so.
function nameOf({ bytes, start }: NameBook, index: number): string | undefined {
  return decodeText(bytes, start[index]!, start[index + 1]!);
}

function skipSpace(scan: Scan): void {
  const { bytes, end } = scan;
  let { at } = scan;
  while (at < end && isSpace(bytes[at]!)) at++;
  scan.at = at;
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB;
}

function skipTo(scan: Scan, byte: number): boolean {
  skipSpace(scan);
  if (scan.bytes[scan.at] !== byte) return false;
  scan.at++;
  return true;
}

function isAtEnd(scan: Scan): boolean {
  skipSpace(scan);
  return scan.at >= scan.end;
}

/** Line feeds that must stand behind a text to be scanned: it is read in words, and names end at a line feed. */
export const SCAN_PADDING = TIME_REACH + 8;

export const [ID, METRIC, TIMESTAMP, VAL] = [1, 2, 4, 8] as const;

/** Where a scan of JSON is, and the names that it has seen: those of one batch. */
export interface Scan {
  bytes: Uint8Array;
  view: DataView;
  at: number;
  /** Where the text ends. */
  end: number;
  readonly ids: NameBook;
  readonly metrics: NameBook;
  readonly pairs: Pairs;
  readonly moulds: Moulds;
  readonly clock: Clock;
  /** The fields that a sample must have. */
  needed: number;
  /** The names of a sample that lacks them. */
  absentId: number;
  absentMetric: number;
  /** The names that a sample must have, as the path or the query says; −1 for any. */
  fixedId: number;
  fixedMetric: number;
  /** Where the time and the number of the object read last stand. */
  timeFrom: number;
  timeTo: number;
  valueFrom: number;
  valueTo: number;
}

export function createScan(defaults: SampleDefaults): Scan {
  const scan: Scan = {
    bytes: new Uint8Array(0),
    view: new DataView(new ArrayBuffer(0)),
    at: 0,
    end: 0,
    ids: createNameBook(),
    metrics: createNameBook(),
    pairs: createPairs(),
    moulds: createMoulds(),
    clock: createClock(undefined),
    needed: 0,
    absentId: 0,
    absentMetric: 0,
    fixedId: -1,
    fixedMetric: -1,
    timeFrom: 0,
    timeTo: 0,
    valueFrom: 0,
    valueTo: 0,
  };
  setDefaults(scan, defaults);
  return scan;
}

export function setDefaults(scan: Scan, { timeseriesId, metric }: SampleDefaults): void {
  scan.needed = timeseriesId === undefined ? ID | TIMESTAMP | VAL : TIMESTAMP | VAL;
  scan.fixedId = timeseriesId === undefined ? -1 : learnText(scan.ids, timeseriesId);
  scan.fixedMetric = metric === undefined ? -1 : learnText(scan.metrics, metric);
  scan.absentId = Math.max(0, scan.fixedId);
  scan.absentMetric = metric === undefined ? learnText(scan.metrics, RAW_METRIC) : scan.fixedMetric;
}

function learnText(names: NameBook, name: string): number {
  const text = new TextEncoder().encode(name);
  return learnName(names, text, 0, text.length);
}

/** What the scanner of numbers in CSV takes and JSON does not: nothing, leading zeros, a point without digits. */
export function isJsonNumber(bytes: Uint8Array, from: number, end: number): boolean {
  const start = bytes[from] === MINUS ? from + 1 : from;
  if (start >= end || bytes[end - 1] === POINT) return false;
  const second = bytes[start + 1]! - DIGIT_0;
  return bytes[start] !== DIGIT_0 || !(second >= 0 && second <= 9);
}

/** A time, or a number, of more bytes is no usual one. */
const HOLE_MAX = 64;
const HOLES_MAX = 2 * HOLE_MAX + TIME_REACH + 4;

/**
 * Reads an object of the series that is likely to come into the next row, by its mould; false, and no more than a row
 * that is not counted, where it is another one or not quite as usual.
 */
export function castObject(scan: Scan, batch: SampleBatch): boolean {
  const { bytes, view, moulds } = scan;
  const { places } = moulds;
  const series = moulds.follower[moulds.last]!;
  const head = PLACES * series;
  const [headLength, middleLength, tailLength] = [places[head + 1]!, places[head + 3]!, places[head + 5]!];
  const length = headLength + middleLength + tailLength;
  // The last objects of a text have too little behind them to be compared without a look at the end at every step.
  if (length === 0 || scan.at + length + HOLES_MAX > bytes.length) return false;
  let at = scan.at + headLength;
  if (!isPiece(moulds, head, view, scan.at)) return false;
  if (moulds.isTimeFirst[series] === 1) {
    at = castTime(scan, batch, at);
    if (at < 0 || !isPiece(moulds, head + 2, view, at)) return false;
    at = castValue(scan, batch, at + middleLength, moulds.words[places[head + 4]!]! & 0xff);
  } else {
    at = castValue(scan, batch, at, moulds.words[places[head + 2]!]! & 0xff);
    if (at < 0 || !isPiece(moulds, head + 2, view, at)) return false;
    at = castTime(scan, batch, at + middleLength);
  }
  if (at < 0 || !isPiece(moulds, head + 4, view, at)) return false;
  scan.at = at + tailLength;
  moulds.last = series;
  batch.seriesIndex[batch.rowCount] = series;
  return true;
}

function castTime({ bytes, view, clock }: Scan, { timeMs, rowCount }: SampleBatch, at: number): number {
  const end = scanTime(bytes, view, at, clock, timeMs, rowCount);
  return end - at > HOLE_MAX ? -1 : end;
}

function castValue({ bytes }: Scan, { value, rowCount }: SampleBatch, at: number, separator: number): number {
  const end = scanNumber(bytes, at, separator, value, rowCount);
  return end < 0 || end - at > HOLE_MAX || !isJsonNumber(bytes, at, end) ? -1 : end;
}

/** Notes the object that was read field by field into the next row. */
export function learnMould(scan: Scan, { seriesIndex, rowCount }: SampleBatch, from: number): void {
  const { moulds, bytes, at: to, timeFrom, timeTo, valueFrom, valueTo } = scan;
  noteObject(moulds, seriesIndex[rowCount]!, bytes, { from, to, timeFrom, timeTo, valueFrom, valueTo });
}
