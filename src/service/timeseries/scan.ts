import { DIGIT_0, MINUS, POINT } from '../../formats/csv/bytes.js';
import { type Clock, createClock } from '../../formats/csv/read/clock.js';
import { RAW_METRIC } from '../../formats/csv/read/long-rows.js';
import { createNameBook, learnName, type NameBook } from '../../formats/csv/read/names.js';
import { createPairs, type Pairs } from '../../formats/csv/read/pairs.js';
import { TIME_REACH } from '../../formats/csv/read/scan-time.js';
import { createMoulds, type Moulds } from './moulds.js';
import type { SampleDefaults } from './read-json.js';

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
