import { crc32 } from 'node:zlib';
import { formatInstant } from '../../core/instant.js';
import { DamagedSamplesError } from '../errors.js';
import type { SampleLogRow } from '../tables/samples.js';
import { isDeletion, type LogHeads, readChange, readInto, readLogHeads } from './log-bytes.js';
import { sortNearlySorted } from './nearly-sorted.js';
import { combineAll, type DamagedRange, NO_PATCH, outside, type Patch, sliceColumns, type TimeRange } from './patch.js';
import type { Columns } from './samples.js';

const place = new Float64Array(2);
const placeBytes = new Uint8Array(place.buffer);

/** Of a row of the log, to be written with it. */
export function logChecksum({ commit, part, changes }: Pick<SampleLogRow, 'commit' | 'part' | 'changes'>): number {
  place[0] = commit;
  place[1] = part;
  return crc32(changes, crc32(placeBytes));
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
  extras: new Map(),
  starts: new Int32Array(1),
  columns: undefined,
});

function headsOfDamaged(bytes: Uint8Array): LogHeads {
  try {
    return bytes[0] === 1 ? ALL_SERIES : readLogHeads(bytes);
  } catch (error) {
    if (error instanceof RangeError) return ALL_SERIES;
    throw error;
  }
}

function textOf(timeMs: number): string {
  return Number.isFinite(timeMs) ? formatInstant(timeMs) : String(timeMs);
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
 * What changes of one series come to. They are read into one pair of columns; where each only adds samples, to the end
 * or nearly there, as most do, that is all.
 */
export function patchOfFound(changes: readonly FoundChange[]): Patch {
  const damaged = damageLeft(changes);
  if (damaged !== undefined) {
    return { ...patchOfFound(changes.filter(({ damage }) => damage === undefined)), damaged };
  }
  if (changes.length === 0) return NO_PATCH;
  const added = addedBy(changes);
  if (added !== undefined) return { ...added, deleted: [] };
  return combineAll(changes.map(({ bytes, heads, index }) => patchOf(readChange(bytes, heads, index))));
}

/** The samples of changes that delete nothing; undefined for others, and for much disorder. */
function addedBy(changes: readonly FoundChange[]): Columns | undefined {
  if (changes.some(({ heads, index }) => isDeletion(heads, index))) return undefined;
  const count = changes.reduce((sum, { heads, index }) => sum + heads.counts[index]!, 0);
  const columns = { timeMs: new Float64Array(count), value: new Float64Array(count) };
  let at = 0;
  for (const { bytes, heads, index } of changes) {
    readInto(bytes, heads, index, columns, at);
    at += heads.counts[index]!;
  }
  const left = sortNearlySorted(columns);
  return left === undefined ? undefined : sliceColumns(columns, 0, left);
}

/** What damaged changes may have touched, but for what later ones have deleted; undefined where none is damaged. */
function damageLeft(changes: readonly FoundChange[]): readonly DamagedRange[] | undefined {
  let left: readonly DamagedRange[] | undefined;
  for (const { heads, index, damage } of changes) {
    const deleted = heads.extras.get(index)?.deleted;
    if (damage !== undefined) left = [...(left ?? []), damage];
    else if (deleted !== undefined) left = left?.flatMap((range) => outside(range, deleted));
  }
  return left;
}
