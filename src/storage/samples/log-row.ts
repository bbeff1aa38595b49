import { crc32 } from 'node:zlib';
import { formatInstant } from '../../core/instant.js';
import { nextDouble } from '../../core/next-double.js';
import type { SeriesReference } from '../../core/series.js';
import { DamagedSamplesError } from '../errors.js';
import type { SampleLogRow } from '../tables/samples.js';
import { ByteReader, ByteWriter } from './codec/bytes.js';
import { readColumn, writeColumn } from './codec/column.js';
import { combineAll, type DamagedRange, NO_PATCH, outside, type Patch, sliceColumns, type TimeRange } from './patch.js';
import type { Columns } from './samples.js';

/** A change of the log, its series by key. */
export interface KeyedChange extends Columns {
  readonly key: number;
  readonly deleted?: TimeRange;
  /** For a change that drops its series: no table tells its name any more. */
  readonly name?: SeriesReference;
}

/** What the changes of a row are about, and where in its bytes each of them lies. All of them lie within its times. */
export interface LogHeads extends TimeRange {
  readonly keys: Float64Array;
  readonly counts: Int32Array;
  readonly flags: Uint8Array;
  /** Where each change begins; one more for the end. */
  readonly starts: Int32Array;
}

const VERSION = 2;
/** Without times of the row and a checksum of its heads. */
const VERSION_OF_BEFORE = 1;
const HAS_DELETED = 1;
const HAS_NAME = 2;

/**
 * The changes of a row as bytes: version, length and CRC-32 of its heads, the heads (number of changes, times of all of
 * them, and of each its key, flags, number of samples and bytes, so that the changes of one series are found without
 * the others), then the changes themselves. So a row whose samples are damaged still tells whose they are.
 */
export function encodeLogRow(changes: readonly KeyedChange[]): Uint8Array {
  bodies.clear();
  const ends = changes.map((change) => {
    writeBody(bodies, change);
    return bodies.length;
  });
  const heads = new ByteWriter(16 * changes.length + 32);
  heads.varint(changes.length);
  const { fromMs, untilMs } = timesOf(changes);
  heads.double(fromMs);
  heads.double(untilMs);
  changes.forEach(({ key, timeMs, deleted, name }, i) => {
    heads.varint(key);
    heads.byte((deleted === undefined ? 0 : HAS_DELETED) + (name === undefined ? 0 : HAS_NAME));
    heads.varint(timeMs.length);
    heads.varint(ends[i]! - (ends[i - 1] ?? 0));
  });
  const row = new ByteWriter(bodies.length + heads.length + 16);
  row.byte(VERSION);
  row.varint(heads.length);
  row.uint32(crc32(heads.written()));
  row.bytes(heads.written());
  row.bytes(bodies.written());
  return row.toBytes();
}

function timesOf(changes: readonly KeyedChange[]): TimeRange {
  let [fromMs, untilMs] = [Infinity, -Infinity];
  for (const { timeMs, deleted } of changes) {
    const last = timeMs.at(-1);
    fromMs = Math.min(fromMs, deleted?.fromMs ?? Infinity, timeMs[0] ?? Infinity);
    untilMs = Math.max(untilMs, deleted?.untilMs ?? -Infinity, last === undefined ? -Infinity : nextDouble(last));
  }
  return { fromMs, untilMs };
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

/** What a row of the log is about; `damage` where it is not as it was written. */
export interface InspectedRow {
  readonly heads: LogHeads;
  readonly damage?: DamagedRange;
}

/** @param knownHeads of the row as it was read before, where it was. */
export function inspectRow(row: SampleLogRow, knownHeads?: LogHeads): InspectedRow {
  const isSound = row.checksum === null || row.checksum === logChecksum(row);
  if (isSound) return { heads: knownHeads ?? readLogHeads(row.changes) };
  const heads = knownHeads ?? headsOfDamaged(row.changes);
  const { fromMs, untilMs } = heads;
  const what = `${row.sampleCount} samples of ${row.organisation}, part ${row.part} of commit ${row.commit}`;
  const isKnown = heads !== ALL_SERIES;
  const range = isKnown
    ? `of ${heads.keys.length} series from ${textOf(fromMs)} to ${textOf(untilMs)}`
    : 'of any series';
  const mend = isKnown
    ? 'delete that range of these series and send it again, or restore a backup'
    : 'restore a backup';
  const error = new DamagedSamplesError(
    `${what}, are damaged on the disk before they were compacted: ${range}; ${mend}; all else can be read`,
  );
  return { heads, damage: { fromMs, untilMs, error } };
}

/** Heads of a row that does not tell any more which series of its organisation it is about. */
export const ALL_SERIES: LogHeads = Object.freeze({
  fromMs: -Infinity,
  untilMs: Infinity,
  keys: new Float64Array(0),
  counts: new Int32Array(0),
  flags: new Uint8Array(0),
  starts: new Int32Array(1),
});

function headsOfDamaged(bytes: Uint8Array): LogHeads {
  try {
    return bytes[0] === VERSION ? readLogHeads(bytes) : ALL_SERIES;
  } catch (error) {
    if (error instanceof RangeError) return ALL_SERIES;
    throw error;
  }
}

function textOf(timeMs: number): string {
  return Number.isFinite(timeMs) ? formatInstant(timeMs) : String(timeMs);
}

/** Throws a RangeError where the heads are not as they were written. */
export function readLogHeads(bytes: Uint8Array): LogHeads {
  const reader = new ByteReader(bytes);
  const version = reader.byte();
  if (version !== VERSION && version !== VERSION_OF_BEFORE) {
    throw new RangeError(`the log of samples is damaged, or of a later version: ${version}`);
  }
  if (version === VERSION) {
    const headLength = reader.varint();
    const checksum = reader.uint32();
    const heads = bytes.subarray(reader.at, reader.at + headLength);
    if (crc32(heads) !== checksum) throw new RangeError('the heads of a row of the log are damaged');
  }
  const changeCount = reader.varint();
  const [fromMs, untilMs] = version === VERSION ? [reader.double(), reader.double()] : [-Infinity, Infinity];
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
  return { fromMs, untilMs, keys, counts, flags, starts };
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
  readonly damage?: DamagedRange | undefined;
}

/**
 * What changes of one series come to. They are read into one pair of columns; where each only adds to the end of the
 * one before, as most do, that is all.
 */
export function patchOfFound(changes: readonly FoundChange[]): Patch {
  const damaged = damageLeft(changes);
  if (damaged !== undefined) {
    return { ...patchOfFound(changes.filter(({ damage }) => damage === undefined)), damaged };
  }
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

/** What damaged changes may have touched, but for what later ones have deleted; undefined where none is damaged. */
function damageLeft(changes: readonly FoundChange[]): readonly DamagedRange[] | undefined {
  let left: readonly DamagedRange[] | undefined;
  for (const { bytes, heads, index, damage } of changes) {
    if (damage !== undefined) left = [...(left ?? []), damage];
    else if (left !== undefined && isDeletion(heads, index)) {
      const reader = new ByteReader(bytes, heads.starts[index]);
      const deleted = { fromMs: reader.double(), untilMs: reader.double() };
      left = left.flatMap((range) => outside(range, deleted));
    }
  }
  return left;
}
