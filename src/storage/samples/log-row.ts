import { crc32 } from 'node:zlib';
import { formatInstant } from '../../core/instant.js';
import { DamagedSamplesError } from '../errors.js';
import type { SampleLogRow } from '../tables/samples.js';
import { isDeletion, type LogHeads, readChange, readInto, readLogHeads } from './log-bytes.js';
import { combineAll, NO_PATCH, outside, type Patch, sliceColumns } from './patch.js';
import type { Columns, DamagedRange, TimeRange } from './samples.js';
import { sortByTime } from './sort-by-time.js';

const place = new Float64Array(2);
const placeBytes = new Uint8Array(place.buffer);

/** The checksum to store with a row of the log. */
export function logChecksum({ commit, part, changes }: Pick<SampleLogRow, 'commit' | 'part' | 'changes'>): number {
  place[0] = commit;
  place[1] = part;
  return crc32(changes, crc32(placeBytes));
}

/** The heads of a log row; `damage` if its checksum is wrong. */
export interface InspectedRow {
  readonly heads: LogHeads;
  readonly damage?: DamagedRange;
}

/** @param knownHeads the row's heads, if they were read before. */
export function inspectRow(row: SampleLogRow, knownHeads?: LogHeads): InspectedRow {
  if (row.checksum === logChecksum(row)) return { heads: knownHeads ?? readLogHeads(row.changes) };
  const heads = knownHeads ?? headsOfDamaged(row.changes);
  const { fromMs, untilMs } = heads;
  const isKnown = heads !== ALL_SERIES;
  const range = isKnown
    ? `of ${heads.keys.length} series from ${textOf(fromMs)} to ${textOf(Math.ceil(untilMs))}`
    : 'of any series';
  const mend = isKnown
    ? 'delete that range of these series and send it again, or restore a backup'
    : 'restore a backup';
  const error = new DamagedSamplesError(
    `${nameOfRow(row)}, were damaged on the disk before they were compacted: ${range}; ${mend}; all else can be read`,
  );
  return { heads, damage: { fromMs, untilMs, error } };
}

/** A row of the log, for messages. */
export function nameOfRow({ sampleCount, organisation, part, commit }: SampleLogRow): string {
  return `${sampleCount} samples of ${organisation}, part ${part} of commit ${commit}`;
}

/** Heads of a row whose heads are damaged: it may be about any series of its organisation. */
export const ALL_SERIES: LogHeads = Object.freeze({
  fromMs: -Infinity,
  untilMs: Infinity,
  keys: [],
  counts: [],
  extras: new Map(),
  starts: [0],
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

/** A change of one series in a row of the log. */
export interface FoundChange {
  readonly bytes: Uint8Array;
  readonly heads: LogHeads;
  readonly index: number;
  readonly damage?: DamagedRange | undefined;
}

/**
 * Combines the changes of one series into a patch. If they only add samples, as most do, sorting them in one pair of
 * columns is enough.
 */
export function patchOfFound(changes: readonly FoundChange[]): Patch {
  const damaged = damageLeft(changes);
  if (damaged !== undefined) {
    return { ...patchOfFound(changes.filter(({ damage }) => damage === undefined)), damaged };
  }
  if (changes.length === 0) return NO_PATCH;
  if (!changes.some(({ heads, index }) => isDeletion(heads, index))) return { ...addedBy(changes), deleted: [] };
  return combineAll(changes.map(({ bytes, heads, index }) => patchOf(readChange(bytes, heads, index))));
}

/** The samples of changes that delete nothing. */
function addedBy(changes: readonly FoundChange[]): Columns {
  const count = changes.reduce((sum, { heads, index }) => sum + heads.counts[index]!, 0);
  const columns = { timeMs: new Float64Array(count), value: new Float64Array(count) };
  let at = 0;
  for (const { bytes, heads, index } of changes) {
    readInto(bytes, heads, index, columns, at);
    at += heads.counts[index]!;
  }
  return sliceColumns(columns, 0, sortByTime(columns));
}

/**
 * The ranges that damaged changes may have touched, without those that later changes deleted; undefined if none is
 * damaged.
 */
function damageLeft(changes: readonly FoundChange[]): readonly DamagedRange[] | undefined {
  let left: readonly DamagedRange[] | undefined;
  for (const { heads, index, damage } of changes) {
    const deleted = heads.extras.get(index)?.deleted;
    if (damage !== undefined) left = [...(left ?? []), damage];
    else if (deleted !== undefined) left = left?.flatMap((range) => outside(range, deleted));
  }
  return left;
}
