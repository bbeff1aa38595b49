import { crc32 } from 'node:zlib';
import { nextDouble } from '../../core/next-double.js';
import type { SeriesReference } from '../../core/series.js';
import { ByteReader, ByteWriter } from './codec/bytes.js';
import { readColumn } from './codec/column.js';
import { type FixedColumn, measureFixed, packFixed, unpackFixed } from './codec/fixed.js';
import type { Columns, TimeRange } from './samples.js';

/** A change in the log, with its series by key. */
export interface KeyedChange extends Columns {
  readonly key: number;
  readonly deleted?: TimeRange;
  /** For a change that drops its series: its name, which no table has any more. */
  readonly name?: SeriesReference;
}

/** The heads of a row's changes, and where each change lies in its bytes. Its time range covers all changes. */
export interface LogHeads extends TimeRange {
  // Plain arrays: there may be many rows of one change in memory, and a typed array of one number takes more.
  readonly keys: readonly number[];
  readonly counts: readonly number[];
  /** What else changes have, by index; most have nothing. */
  readonly extras: ReadonlyMap<number, Extra>;
  /** Where the samples of each change start in the columns, plus the end. In older rows, offsets into the bytes. */
  readonly starts: readonly number[];
  /**
   * The samples of all changes in one pair of columns; undefined for older rows, whose changes have columns of their
   * own.
   */
  readonly columns: RowColumns | undefined;
}

type Extra = Pick<KeyedChange, 'deleted' | 'name'>;

interface RowColumns {
  readonly times: FixedColumn;
  readonly values: FixedColumn;
  /** Where the times start; the values follow them. */
  readonly at: number;
}

const VERSION = 3;
const HAS_DELETED = 1;
const HAS_NAME = 2;

// Shared by all calls, which are synchronous.
const heads = new ByteWriter();
const prefix = new ByteWriter();
let rowTimes = new Float64Array(1024);
let rowValues = new Float64Array(1024);

/**
 * Encodes the changes of a row: version, length and CRC-32 of its heads, the heads, then times and values of all
 * changes as two columns of fixed width, so that one change is read without the others. The heads are the number of
 * changes, their time range, the key and number of samples of each, what else some have, and how the columns are
 * packed. So a row with damaged samples still names its series.
 */
export function encodeLogRow(changes: readonly KeyedChange[]): Uint8Array {
  const count = joinColumns(changes);
  const times = rowTimes.subarray(0, count);
  const values = rowValues.subarray(0, count);
  heads.clear();
  heads.varint(changes.length);
  const { fromMs, untilMs } = timesOf(changes);
  heads.double(fromMs);
  heads.double(untilMs);
  for (const { key } of changes) heads.varint(key);
  writeCounts(changes);
  writeExtras(changes);
  const timesForm = measureFixed(times);
  writeForm(timesForm);
  prefix.clear();
  // The size of the times is known before that of the values, which are measured once the times are packed:
  // `packFixed` needs the last measured column.
  const timeBytes = new Uint8Array(timesForm.width * count);
  packFixed(times, timesForm, timeBytes, 0);
  const valuesForm = measureFixed(values);
  writeForm(valuesForm);
  prefix.byte(VERSION);
  prefix.varint(heads.length);
  prefix.uint32(crc32(heads.written()));
  const row = new Uint8Array(prefix.length + heads.length + timeBytes.length + valuesForm.width * count);
  row.set(prefix.written());
  row.set(heads.written(), prefix.length);
  row.set(timeBytes, prefix.length + heads.length);
  packFixed(values, valuesForm, row, prefix.length + heads.length + timeBytes.length);
  return row;
}

/** @returns the number of samples. */
function joinColumns(changes: readonly KeyedChange[]): number {
  let count = 0;
  for (const { timeMs } of changes) count += timeMs.length;
  if (rowTimes.length < count) {
    rowTimes = new Float64Array(2 * count);
    rowValues = new Float64Array(2 * count);
  }
  let at = 0;
  for (const { timeMs, value } of changes) {
    for (let i = 0; i < timeMs.length; i++, at++) {
      rowTimes[at] = timeMs[i]!;
      rowValues[at] = value[i]!;
    }
  }
  return count;
}

/** From the first time of changes to the end of their last one, with what they delete. */
export function timesOf(changes: readonly KeyedChange[]): TimeRange {
  let [fromMs, lastMs, untilMs] = [Infinity, -Infinity, -Infinity];
  for (const { timeMs, deleted } of changes) {
    if (timeMs.length > 0) {
      fromMs = Math.min(fromMs, timeMs[0]!);
      lastMs = Math.max(lastMs, timeMs[timeMs.length - 1]!);
    }
    if (deleted === undefined) continue;
    fromMs = Math.min(fromMs, deleted.fromMs);
    untilMs = Math.max(untilMs, deleted.untilMs);
  }
  return { fromMs, untilMs: Math.max(untilMs, lastMs === -Infinity ? lastMs : nextDouble(lastMs)) };
}

/** Writes 1 + the number of samples if all changes have the same, else 0 and the number of each. */
function writeCounts(changes: readonly KeyedChange[]): void {
  const first = changes[0]?.timeMs.length ?? 0;
  const isSame = changes.every(({ timeMs }) => timeMs.length === first);
  heads.varint(isSame ? first + 1 : 0);
  if (!isSame) for (const { timeMs } of changes) heads.varint(timeMs.length);
}

function writeExtras(changes: readonly KeyedChange[]): void {
  const isExtra = ({ deleted, name }: KeyedChange) => deleted !== undefined || name !== undefined;
  const count = changes.reduce((sum, change) => sum + Number(isExtra(change)), 0);
  heads.varint(count);
  if (count === 0) return;
  for (const [index, change] of changes.entries()) {
    if (!isExtra(change)) continue;
    const { deleted, name } = change;
    heads.varint(index);
    heads.byte((deleted === undefined ? 0 : HAS_DELETED) + (name === undefined ? 0 : HAS_NAME));
    if (deleted !== undefined) {
      heads.double(deleted.fromMs);
      heads.double(deleted.untilMs);
    }
    if (name !== undefined) {
      heads.text(name.timeseriesId);
      heads.text(name.metric);
    }
  }
}

function readExtra(reader: ByteReader, flags: number): Extra {
  const deleted = (flags & HAS_DELETED) === 0 ? {} : { deleted: { fromMs: reader.double(), untilMs: reader.double() } };
  const name = (flags & HAS_NAME) === 0 ? {} : { name: { timeseriesId: reader.text(), metric: reader.text() } };
  return { ...deleted, ...name };
}

// Stored exponents start at -128.
const EXPONENT_BIAS = 128;

function writeForm({ width, exponent, least }: FixedColumn): void {
  heads.byte(width);
  heads.byte(exponent + EXPONENT_BIAS);
  heads.double(least);
}

function readForm(reader: ByteReader): FixedColumn {
  return { width: reader.byte(), exponent: reader.byte() - EXPONENT_BIAS, least: reader.double() };
}

/** @throws RangeError if the heads are damaged. */
export function readLogHeads(bytes: Uint8Array): LogHeads {
  const reader = new ByteReader(bytes);
  const version = reader.byte();
  if (version < 1 || version > VERSION) {
    throw new RangeError(`the log of samples is damaged or of a later version: ${version}`);
  }
  if (version > 1) {
    const headLength = reader.varint();
    const checksum = reader.uint32();
    const head = bytes.subarray(reader.at, reader.at + headLength);
    if (crc32(head) !== checksum) throw new RangeError('the heads of a row of the log are damaged');
  }
  const changeCount = reader.varint();
  const fromMs = version > 1 ? reader.double() : -Infinity;
  const untilMs = version > 1 ? reader.double() : Infinity;
  const read = version < 3 ? readOldHeads(bytes, reader, changeCount) : readRest(reader, changeCount);
  const { keys, counts, starts, extras, columns } = read;
  return { fromMs, untilMs, keys, counts, starts, extras, columns };
}

const NO_EXTRAS: ReadonlyMap<number, Extra> = new Map();

function readRest(reader: ByteReader, changeCount: number): Omit<LogHeads, keyof TimeRange> {
  const keys = new Array<number>(changeCount);
  for (let i = 0; i < changeCount; i++) keys[i] = reader.varint();
  const { counts, starts } = readCounts(reader, changeCount);
  const extraCount = reader.varint();
  const extras = extraCount === 0 ? NO_EXTRAS : readExtras(reader, extraCount);
  const columns = { times: readForm(reader), values: readForm(reader), at: reader.at };
  return { keys, counts, starts, extras, columns };
}

/** The sizes of a row whose changes all have as many samples. Rows of the same sizes, as callers send, share it. */
let usual: Pick<LogHeads, 'counts' | 'starts'> = { counts: [], starts: [0] };

function readCounts(reader: ByteReader, changeCount: number): Pick<LogHeads, 'counts' | 'starts'> {
  const same = reader.varint() - 1;
  if (same >= 0 && usual.counts.length === changeCount && usual.counts[0] === same) return usual;
  const counts = new Array<number>(changeCount);
  const starts = new Array<number>(changeCount + 1);
  starts[0] = 0;
  for (let i = 0; i < changeCount; i++) {
    counts[i] = same < 0 ? reader.varint() : same;
    starts[i + 1] = starts[i]! + counts[i]!;
  }
  const sizes = { counts, starts };
  if (same >= 0) usual = sizes;
  return sizes;
}

function readExtras(reader: ByteReader, count: number): ReadonlyMap<number, Extra> {
  const extras = new Map<number, Extra>();
  for (let left = count; left > 0; left--) extras.set(reader.varint(), readExtra(reader, reader.byte()));
  return extras;
}

/** Reads versions 1 and 2, whose changes have columns of their own, behind what else they have. */
function readOldHeads(bytes: Uint8Array, reader: ByteReader, changeCount: number): Omit<LogHeads, keyof TimeRange> {
  const keys = new Array<number>(changeCount);
  const flags = new Uint8Array(changeCount);
  const counts = new Array<number>(changeCount);
  const starts = new Array<number>(changeCount + 1);
  starts[0] = 0;
  for (let i = 0; i < changeCount; i++) {
    keys[i] = reader.varint();
    flags[i] = reader.byte();
    counts[i] = reader.varint();
    starts[i + 1] = starts[i]! + reader.varint();
  }
  for (let i = 0; i <= changeCount; i++) starts[i]! += reader.at;
  const extras = new Map<number, Extra>();
  for (const [i, flag] of flags.entries()) {
    if (flag === 0) continue;
    const body = new ByteReader(bytes, starts[i]);
    extras.set(i, readExtra(body, flag));
    starts[i] = body.at;
  }
  return { keys, counts, starts, extras, columns: undefined };
}

/** Reads one change of a row. */
export function readChange(bytes: Uint8Array, heads: LogHeads, index: number): KeyedChange {
  const count = heads.counts[index]!;
  const columns = { timeMs: new Float64Array(count), value: new Float64Array(count) };
  readInto(bytes, heads, index, columns, 0);
  return { key: heads.keys[index]!, ...columns, ...heads.extras.get(index) };
}

/** Reads the samples of a change into columns, starting at `at`. */
export function readInto(
  bytes: Uint8Array,
  heads: LogHeads,
  index: number,
  { timeMs, value }: Columns,
  at: number,
): void {
  const { columns } = heads;
  const count = heads.counts[index]!;
  const start = heads.starts[index]!;
  if (columns === undefined) {
    const reader = new ByteReader(bytes, start);
    readColumn(reader, timeMs, at, count);
    readColumn(reader, value, at, count);
    return;
  }
  const { times, values } = columns;
  unpackFixed(times, bytes, columns.at, start, timeMs, at, at + count);
  const valuesAt = columns.at + times.width * heads.starts[heads.starts.length - 1]!;
  unpackFixed(values, bytes, valuesAt, start, value, at, at + count);
}

export function isDeletion({ extras }: LogHeads, index: number): boolean {
  return extras.get(index)?.deleted !== undefined;
}
