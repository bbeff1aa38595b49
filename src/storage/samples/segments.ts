import { crc32 } from 'node:zlib';
import { formatInstant } from '../../core/instant.js';
import { nextDouble } from '../../core/next-double.js';
import { TIME_MS_MIN } from '../../core/series.js';
import { DamagedSamplesError } from '../errors.js';
import type { Condition, Reader } from '../storage.js';
import { type ProvisionalRow, type SegmentHead, type SegmentRow, segmentHeads, segments } from '../tables/samples.js';
import { ByteReader, ByteWriter } from './codec/bytes.js';
import { readColumn, writeColumn } from './codec/column.js';
import { between, indexAt, type Patch, patchBetween } from './patch.js';
import { type Columns, NO_COLUMNS } from './samples.js';

/** Samples as stored in the tables. */
export interface PackedColumns {
  readonly sampleCount: number;
  readonly times: Uint8Array;
  readonly values: Uint8Array;
}

// Shared by all calls, which are synchronous.
const writer = new ByteWriter(65_536);

function pack({ timeMs, value }: Columns): PackedColumns {
  const bytesOf = (column: Float64Array): Uint8Array => {
    writer.clear();
    writeColumn(writer, column);
    return writer.toBytes();
  };
  return { sampleCount: timeMs.length, times: bytesOf(timeMs), values: bytesOf(value) };
}

/** The samples of consecutive rows. */
function unpack(rows: readonly PackedColumns[]): Columns {
  if (rows.length === 0) return NO_COLUMNS;
  const count = rows.reduce((sum, { sampleCount }) => sum + sampleCount, 0);
  const timeMs = new Float64Array(count);
  const value = new Float64Array(count);
  let at = 0;
  for (const { sampleCount, times, values } of rows) {
    readColumn(new ByteReader(times), timeMs, at, sampleCount);
    readColumn(new ByteReader(values), value, at, sampleCount);
    at += sampleCount;
  }
  return { timeMs, value };
}

/**
 * The samples of consecutive segments.
 *
 * @throws DamagedSamplesError if one of them is damaged.
 */
export function unpackSegments(rows: readonly SegmentRow[]): Columns {
  for (const row of rows) checkSegment(row);
  try {
    return unpack(rows);
  } catch (error) {
    throw rows.length === 1 ? damaged(rows[0]!, error) : error;
  }
}

/**
 * The times of a segment's samples.
 *
 * @throws DamagedSamplesError if it is damaged.
 */
export function unpackTimes(row: SegmentRow): Float64Array {
  checkSegment(row);
  try {
    return timesOf(row);
  } catch (error) {
    throw damaged(row, error);
  }
}

function timesOf({ sampleCount, times }: PackedColumns): Float64Array {
  const timeMs = new Float64Array(sampleCount);
  readColumn(new ByteReader(times), timeMs, 0, sampleCount);
  return timeMs;
}

function isSound(row: SegmentRow): boolean {
  return row.checksum === checksumOf(row);
}

/** @throws DamagedSamplesError if it is damaged. */
export function checkSegment(row: SegmentRow): void {
  if (!isSound(row)) throw damaged(row);
}

/**
 * Checks a segment that is passed over because it starts so late.
 *
 * @throws DamagedSamplesError if it is damaged, and its samples start before `untilMs`.
 */
export function checkStart(row: SegmentRow, untilMs: number): void {
  if (!isSound(row) && startOfDamaged(row) < untilMs) throw damaged(row);
}

/** Where a damaged segment starts: the earlier of what it says and what its times say, as far as they can be read. */
function startOfDamaged(row: SegmentRow): number {
  const saidMs = Math.min(row.startMs, row.endMs);
  try {
    const firstMs = timesOf(row)[0] ?? saidMs;
    return firstMs >= TIME_MS_MIN && firstMs < saidMs ? firstMs : saidMs;
  } catch (error) {
    if (error instanceof RangeError) return saidMs;
    throw error;
  }
}

/** The samples of a segment; undefined if it is damaged. */
export function unpackIfSound(row: SegmentRow): Columns | undefined {
  try {
    return unpackSegments([row]);
  } catch (error) {
    if (error instanceof DamagedSamplesError) return undefined;
    throw error;
  }
}

function damaged(row: SegmentRow, cause?: unknown): DamagedSamplesError {
  const { seriesKey, endMs, sampleCount } = row;
  // The end of a range does not belong to it, also where somebody deletes it.
  const range = `from ${formatInstant(startOfDamaged(row))} to ${formatInstant(Math.floor(endMs) + 1)}`;
  return new DamagedSamplesError(
    `${sampleCount} stored samples ${range} (segment ${endMs} of series key ${seriesKey}) are damaged on the disk; ` +
      'restore a backup, or delete that range and send it again; all else can be read',
    { cause },
  );
}

function checksumOf({ seriesKey, startMs, endMs, sampleCount, times, values }: Omit<SegmentRow, 'checksum'>): number {
  const head = new Uint8Array(Float64Array.of(seriesKey, startMs, endMs, sampleCount, times.length).buffer);
  return crc32(values, crc32(times, crc32(head)));
}

/** A row of provisional samples, without its commit. */
export function packProvisional(seriesKey: number, columns: Columns): Omit<ProvisionalRow, 'commit'> {
  const packed = { seriesKey, ...pack(columns) };
  return { ...packed, checksum: checksumOf({ ...packed, startMs: 0, endMs: 0 }) };
}

/** @throws DamagedSamplesError if they are damaged. */
export function unpackProvisional(row: ProvisionalRow): Columns {
  const { seriesKey, checksum } = row;
  if (checksum === checksumOf({ ...row, startMs: 0, endMs: 0 })) return unpack([row]);
  const mend = 'the next sample recomputes them; final results can be read';
  throw new DamagedSamplesError(`the provisional results of series key ${seriesKey} are damaged on the disk; ${mend}`);
}

/** A row for a new segment. */
export function packSegment(seriesKey: number, columns: Columns): SegmentRow {
  const { timeMs } = columns;
  const row = { seriesKey, startMs: timeMs[0]!, endMs: timeMs.at(-1)!, ...pack(columns) };
  return { ...row, checksum: checksumOf(row) };
}

/** The first segments, up to `limit`, that end at or after an instant, in order of time. */
export function segmentsFrom(tx: Reader, seriesKey: number, fromMs: number, limit: number): Promise<SegmentRow[]> {
  const where = [
    ['seriesKey', '=', seriesKey],
    ['endMs', '>=', fromMs],
  ] as const;
  return tx.find(segments, { where, orderBy: [{ column: 'endMs' }], limit });
}

/** The heads of all segments that end at or after an instant, in order of time. */
export async function* headsFrom(tx: Reader, seriesKey: number, fromMs: number): AsyncGenerator<SegmentHead> {
  let from: Condition<SegmentHead> = ['endMs', '>=', fromMs];
  for (;;) {
    const where: Condition<SegmentHead>[] = [['seriesKey', '=', seriesKey], from];
    const heads: SegmentHead[] = await tx.find(segmentHeads, {
      where,
      orderBy: [{ column: 'endMs' }],
      limit: HEADS_READ,
    });
    yield* heads;
    if (heads.length < HEADS_READ) return;
    from = ['endMs', '>', heads.at(-1)!.endMs];
  }
}

const HEADS_READ = 256;

/** The last segments, up to `limit`, that end before an instant, latest first. */
export function segmentsBefore(tx: Reader, seriesKey: number, untilMs: number, limit: number): Promise<SegmentRow[]> {
  const where = [
    ['seriesKey', '=', seriesKey],
    ['endMs', '<', untilMs],
  ] as const;
  return tx.find(segments, { where, orderBy: [{ column: 'endMs', isDescending: true }], limit });
}

/** The times of the first and last sample in a series' segments. */
export async function segmentRange(tx: Reader, seriesKey: number): Promise<readonly [number | null, number | null]> {
  const [first] = await segmentsFrom(tx, seriesKey, -Infinity, 1);
  const [last] = await segmentsBefore(tx, seriesKey, Infinity, 1);
  return [first?.startMs ?? null, last?.endMs ?? null];
}

/** Finds segments at ascending instants; consecutive ones are read several at a time. */
export class SegmentCursor {
  readonly #tx: Reader;
  readonly #seriesKey: number;
  #rows: readonly SegmentRow[] = [];
  #next = 0;
  #limit = 1;
  #isAtEnd = false;

  constructor(tx: Reader, seriesKey: number) {
    this.#tx = tx;
    this.#seriesKey = seriesKey;
  }

  /** The first segment that ends at or after an instant; instants must not descend. */
  async seek(fromMs: number): Promise<SegmentRow | undefined> {
    const skippedFrom = this.#next;
    while (this.#next < this.#rows.length && this.#rows[this.#next]!.endMs < fromMs) this.#next++;
    if (this.#next < this.#rows.length) return this.#rows[this.#next];
    if (this.#isAtEnd) return undefined;
    // Read ahead more if the last rows were used one after the other.
    this.#limit = this.#next - skippedFrom <= 1 ? Math.min(2 * this.#limit, READ_MAX) : 1;
    this.#rows = await segmentsFrom(this.#tx, this.#seriesKey, fromMs, this.#limit);
    this.#next = 0;
    this.#isAtEnd = this.#rows.length < this.#limit;
    return this.#rows[0];
  }
}

const READ_MAX = 16;

/** A part of a series that a patch touches: a segment, or samples outside of any. */
export interface Area {
  /** Undefined if the samples lie between segments or after the last one. */
  readonly segment: SegmentRow | undefined;
  readonly patch: Patch;
  /** Whether no segment follows. */
  readonly isTail: boolean;
  /** The next area starts here or later. */
  readonly endMs: number;
}

/**
 * The areas that a patch touches, in order of time.
 *
 * @param wantsNext whether to yield the next area even if the patch does not touch it.
 */
export async function* touchedAreas(
  cursor: SegmentCursor,
  patch: Patch,
  wantsNext: () => boolean = () => false,
): AsyncGenerator<Area> {
  const following = (endMs: number): number | undefined => (wantsNext() ? endMs : nextTouch(patch, endMs));
  for (let atMs = nextTouch(patch, -Infinity); atMs !== undefined; ) {
    const segment = await cursor.seek(atMs);
    if (segment === undefined) {
      const rest = between(patch, atMs, Infinity);
      if (rest.timeMs.length > 0) yield area(undefined, { ...rest, deleted: [] }, Infinity);
      return;
    }
    if (segment.startMs > atMs) {
      const gap = between(patch, atMs, segment.startMs);
      if (gap.timeMs.length > 0) yield area(undefined, { ...gap, deleted: [] }, segment.startMs);
      atMs = following(segment.startMs);
      continue;
    }
    const endMs = nextDouble(segment.endMs);
    yield area(segment, patchBetween(patch, segment.startMs, endMs), endMs);
    atMs = following(endMs);
  }
}

function area(segment: SegmentRow | undefined, patch: Patch, endMs: number): Area {
  return { segment, patch, isTail: endMs === Infinity, endMs };
}

/** The first instant at or after this one where the patch adds a sample or deletes. */
function nextTouch({ timeMs, deleted }: Patch, atMs: number): number | undefined {
  const sampleMs = timeMs[indexAt(timeMs, atMs)];
  const range = deleted.find(({ untilMs }) => untilMs > atMs);
  if (range === undefined) return sampleMs;
  return Math.min(sampleMs ?? Infinity, Math.max(atMs, range.fromMs));
}

/** Whether a patch deletes a segment as a whole. Needs no reading, so it works for a damaged one too. */
export function isErased({ startMs, endMs }: SegmentHead, { deleted }: Patch): boolean {
  return deleted.some((range) => range.fromMs <= startMs && range.untilMs > endMs);
}
