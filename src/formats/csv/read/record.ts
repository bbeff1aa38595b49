import { CARRIAGE_RETURN, decodeText, LINE_FEED, QUOTE, SPACE, showText, TAB } from '../bytes.js';
import type { Encoding } from '../encoding.js';

/**
 * One record (a row of fields, RFC 4180) as indices into its bytes. Reused from record to record. A quoted field is
 * what lies between its quotes; other fields exclude the spaces around them.
 */
export interface CsvRecord {
  bytes: Uint8Array;
  /** Of its text; one in which separators, quotes and line ends are the bytes of ASCII. */
  encoding: Encoding;
  start: number;
  /** After the line end. */
  end: number;
  fieldCount: number;
  fieldStart: Int32Array;
  fieldEnd: Int32Array;
  isQuoted: Uint8Array;
  /** Physical lines that the record covers. */
  lineCount: number;
  /** Why the record cannot be split, as the end of a sentence; then it covers one physical line. */
  fault: string | undefined;
}

/** A quoted field that is longer than this must have lost its closing quote. */
const QUOTED_LENGTH_MAX = 65_536;

export function createRecord(encoding: Encoding = 'utf-8'): CsvRecord {
  return {
    bytes: new Uint8Array(0),
    encoding,
    start: 0,
    end: 0,
    fieldCount: 0,
    fieldStart: new Int32Array(16),
    fieldEnd: new Int32Array(16),
    isQuoted: new Uint8Array(16),
    lineCount: 1,
    fault: undefined,
  };
}

/**
 * Splits the record at `from`; a line feed must follow somewhere. False if the record continues after the bytes, which
 * a quoted field with line feeds can cause; with `isLast`, that is a fault.
 */
export function splitRecord(
  record: CsvRecord,
  bytes: Uint8Array,
  from: number,
  separator: number,
  isLast: boolean,
): boolean {
  record.bytes = bytes;
  record.start = from;
  record.fieldCount = 0;
  record.lineCount = 1;
  record.fault = undefined;
  let at = from;
  while (at < bytes.length) {
    at = takeField(record, at, separator);
    if (at < 0) return endAtFault(record);
    if (at >= bytes.length) break;
    if (bytes[at] === LINE_FEED) {
      record.end = at + 1;
      return true;
    }
    at++;
  }
  if (!isLast) return false;
  record.fault = UNCLOSED;
  return endAtFault(record);
}

/** The text of a field; undefined if it is not text in the file's encoding. */
export function fieldText(record: CsvRecord, index: number): string | undefined {
  const text = decodeText(record.bytes, record.fieldStart[index]!, record.fieldEnd[index]!, record.encoding);
  return record.isQuoted[index] === 1 ? text?.replaceAll('""', '"') : text;
}

/** The record as written in the file, without its line end. */
export function recordText(record: CsvRecord): string {
  return showText(record.bytes, record.start, record.end, record.encoding).replace(/\r?\n$/, '');
}

/** Whether the record is an empty line or, as Excel writes empty rows, has only separators. */
export function isBlank(record: CsvRecord): boolean {
  if (record.fault !== undefined || (record.fieldCount === 1 && record.isQuoted[0] === 1)) return false;
  for (let index = 0; index < record.fieldCount; index++) {
    if (record.fieldStart[index] !== record.fieldEnd[index]) return false;
  }
  return true;
}

const UNCLOSED = 'opens a quote that is never closed; close it, or double the quotes inside a quoted field';

// Returns the index of the separator or line feed after the field, the end of the bytes if none, −1 for a fault.
function takeField(record: CsvRecord, from: number, separator: number): number {
  const { bytes } = record;
  let start = from;
  while (bytes[start] === SPACE) start++;
  if (bytes[start] === QUOTE) return takeQuoted(record, start + 1, separator);
  let at = start;
  while (at < bytes.length && bytes[at] !== separator && bytes[at] !== LINE_FEED) at++;
  let end = at;
  while (end > start && isPadding(bytes[end - 1]!)) end--;
  addField(record, start, end, false);
  return at;
}

function takeQuoted(record: CsvRecord, start: number, separator: number): number {
  const { bytes } = record;
  const limit = Math.min(bytes.length, start + QUOTED_LENGTH_MAX);
  let at = start;
  for (; at < limit; at++) {
    if (bytes[at] === LINE_FEED) record.lineCount++;
    if (bytes[at] !== QUOTE) continue;
    if (at + 1 === bytes.length) return bytes.length;
    if (bytes[at + 1] !== QUOTE) break;
    at++;
  }
  if (at >= limit) {
    if (at >= bytes.length && at < start + QUOTED_LENGTH_MAX) return bytes.length;
    record.fault = UNCLOSED;
    return -1;
  }
  addField(record, start, at, true);
  at++;
  while (at < bytes.length && bytes[at] !== separator && isPadding(bytes[at]!)) at++;
  if (at >= bytes.length || bytes[at] === separator || bytes[at] === LINE_FEED) return at;
  record.fault = 'has text after a closing quote; double the quotes inside a quoted field';
  return -1;
}

function isPadding(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN;
}

// A misplaced quote could swallow many rows, so only its own line is given up.
function endAtFault(record: CsvRecord): boolean {
  record.lineCount = 1;
  record.end = record.bytes.indexOf(LINE_FEED, record.start) + 1;
  return true;
}

function addField(record: CsvRecord, start: number, end: number, isQuoted: boolean): void {
  const index = record.fieldCount++;
  if (index === record.fieldStart.length) growFields(record);
  record.fieldStart[index] = start;
  record.fieldEnd[index] = end;
  record.isQuoted[index] = isQuoted ? 1 : 0;
}

function growFields(record: CsvRecord): void {
  const length = record.fieldStart.length * 2;
  const { fieldStart, fieldEnd, isQuoted } = record;
  record.fieldStart = new Int32Array(length);
  record.fieldStart.set(fieldStart);
  record.fieldEnd = new Int32Array(length);
  record.fieldEnd.set(fieldEnd);
  record.isQuoted = new Uint8Array(length);
  record.isQuoted.set(isQuoted);
}

/** Bytes that wait for the rest of their row. */
export class Pending {
  #buffer = new Uint8Array(4096);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  append(bytes: Uint8Array, from: number, to: number): void {
    const added = to - from;
    if (this.#end + added > this.#buffer.length) {
      const length = this.length + added;
      const roomy = length > this.#buffer.length ? new Uint8Array(2 * length) : this.#buffer;
      roomy.set(this.view());
      this.#buffer = roomy;
      this.#end -= this.#start;
      this.#start = 0;
    }
    this.#buffer.set(bytes.subarray(from, to), this.#end);
    this.#end += added;
  }

  /** Drops the first `count` bytes. */
  drop(count: number): void {
    this.#start += count;
    if (this.#start < this.#end) return;
    this.#start = 0;
    this.#end = 0;
  }

  /** The bytes as a view, valid until the next change. */
  view(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#end);
  }
}
