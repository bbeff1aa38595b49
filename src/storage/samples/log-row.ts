import { crc32 } from 'node:zlib';
import type { SeriesReference } from '../../core/series.js';
import { DamagedSamplesError } from '../errors.js';
import type { SampleLogRow } from '../tables/samples.js';
import { ByteReader, ByteWriter } from './codec/bytes.js';
import { readColumn, writeColumn } from './codec/column.js';
import { combineAll, NO_PATCH, type Patch, sliceColumns, type TimeRange } from './patch.js';
import type { Columns } from './samples.js';

/** A change of the log, its series by key. */
export interface KeyedChange extends Columns {
  readonly key: number;
  readonly deleted?: TimeRange;
  /** For a change that drops its series: no table tells its name any more. */
  readonly name?: SeriesReference;
}

/** What the changes of a row are about, and where in its bytes each of them lies. */
export interface LogHeads {
  readonly keys: Float64Array;
  readonly counts: Int32Array;
  readonly flags: Uint8Array;
  /** Where each change begins; one more for the end. */
  readonly starts: Int32Array;
}

const VERSION = 1;
const HAS_DELETED = 1;
const HAS_NAME = 2;

/**
 * The changes of a row as bytes: version, number of changes, for each its key, flags, number of samples and bytes
 * (so that the changes of one series are found without the others), then the changes themselves.
 */
export function encodeLogRow(changes: readonly KeyedChange[]): Uint8Array {
  bodies.clear();
  const ends = changes.map((change) => {
    writeBody(bodies, change);
    return bodies.length;
  });
  const row = new ByteWriter(bodies.length + 16 * changes.length + 16);
  row.byte(VERSION);
  row.varint(changes.length);
  changes.forEach(({ key, timeMs, deleted, name }, i) => {
    row.varint(key);
    row.byte((deleted === undefined ? 0 : HAS_DELETED) + (name === undefined ? 0 : HAS_NAME));
    row.varint(timeMs.length);
    row.varint(ends[i]! - (ends[i - 1] ?? 0));
  });
  row.bytes(bodies.written());
  return row.toBytes();
}

// A call runs to its end before another starts, so all of them use the same buffer.
const bodies = new ByteWriter();

function writeBody(writer: ByteWriter, { timeMs, value, deleted, name }: KeyedChange): void {
  if (deleted !== undefined) {
    writer.double(deleted.fromMs);
    writer.double(deleted.untilMs);
  }
  if (name !== undefined) {
    writer.text(name.timeseriesId);
    writer.text(name.metric);
  }
  writeColumn(writer, timeMs, 'fast');
  writeColumn(writer, value, 'fast');
}

/** Of a row of the log, to be written with it. */
export function logChecksum({ commit, part, changes }: Pick<SampleLogRow, 'commit' | 'part' | 'changes'>): number {
  return crc32(changes, crc32(new Uint8Array(Float64Array.of(commit, part).buffer)));
}

/** A row as it was read, if it is as it was written. */
export function checkedRow(row: SampleLogRow): SampleLogRow {
  if (row.checksum === null || row.checksum === logChecksum(row)) return row;
  throw new DamagedSamplesError(
    `${row.sampleCount} samples of ${row.organisation}, part ${row.part} of commit ${row.commit}, are damaged on the ` +
      'disk before they were compacted; restore a backup',
  );
}

export function readLogHeads(bytes: Uint8Array): LogHeads {
  const reader = new ByteReader(bytes);
  const version = reader.byte();
  if (version !== VERSION) throw new RangeError(`the log of samples is damaged, or of a later version: ${version}`);
  const changeCount = reader.varint();
  const keys = new Float64Array(changeCount);
  const counts = new Int32Array(changeCount);
  const flags = new Uint8Array(changeCount);
  const starts = new Int32Array(changeCount + 1);
  for (let i = 0; i < changeCount; i++) {
    keys[i] = reader.varint();
    flags[i] = reader.byte();
    counts[i] = reader.varint();
    starts[i + 1] = starts[i]! + reader.varint();
  }
  for (let i = 0; i <= changeCount; i++) starts[i]! += reader.at;
  return { keys, counts, flags, starts };
}

/** A change of the row. */
export function readChange(bytes: Uint8Array, heads: LogHeads, index: number): KeyedChange {
  const count = heads.counts[index]!;
  const timeMs = new Float64Array(count);
  const value = new Float64Array(count);
  return { key: heads.keys[index]!, timeMs, value, ...readInto(bytes, heads, index, { timeMs, value }, 0) };
}

/** Reads the samples of a change into columns, from `at` on, and gives the rest of it. */
function readInto(
  bytes: Uint8Array,
  heads: LogHeads,
  index: number,
  { timeMs, value }: Columns,
  at: number,
): Pick<KeyedChange, 'deleted' | 'name'> {
  const reader = new ByteReader(bytes, heads.starts[index]);
  const flags = heads.flags[index]!;
  const deleted = (flags & HAS_DELETED) === 0 ? {} : { deleted: { fromMs: reader.double(), untilMs: reader.double() } };
  const name = (flags & HAS_NAME) === 0 ? {} : { name: { timeseriesId: reader.text(), metric: reader.text() } };
  readColumn(reader, timeMs, at, heads.counts[index]!);
  readColumn(reader, value, at, heads.counts[index]!);
  return flags === 0 ? NOTHING : { ...deleted, ...name };
}

const NOTHING = Object.freeze({});

export function isDeletion({ flags }: LogHeads, index: number): boolean {
  return (flags[index]! & HAS_DELETED) !== 0;
}

export function patchOf({ timeMs, value, deleted }: Columns & { readonly deleted?: TimeRange }): Patch {
  return { timeMs, value, deleted: deleted === undefined || deleted.fromMs >= deleted.untilMs ? [] : [deleted] };
}

/** A change of a series in a row of the log. */
export interface FoundChange {
  readonly bytes: Uint8Array;
  readonly heads: LogHeads;
  readonly index: number;
}

/**
 * What changes of one series come to. They are read into one pair of columns; where each only adds to the end of the
 * one before, as most do, that is all.
 */
export function patchOfFound(changes: readonly FoundChange[]): Patch {
  if (changes.length === 0) return NO_PATCH;
  const count = changes.reduce((sum, { heads, index }) => sum + heads.counts[index]!, 0);
  const columns = { timeMs: new Float64Array(count), value: new Float64Array(count) };
  const { timeMs } = columns;
  let isRising = true;
  let at = 0;
  const parts = changes.map(({ bytes, heads, index }) => {
    const { deleted } = readInto(bytes, heads, index, columns, at);
    const from = at;
    at += heads.counts[index]!;
    isRising &&= deleted === undefined && (from === 0 || from === at || timeMs[from]! > timeMs[from - 1]!);
    return { from, until: at, deleted };
  });
  if (isRising) return { ...columns, deleted: [] };
  return combineAll(
    parts.map(({ from, until, deleted }) => {
      const part = sliceColumns(columns, from, until);
      return patchOf(deleted === undefined ? part : { ...part, deleted });
    }),
  );
}
