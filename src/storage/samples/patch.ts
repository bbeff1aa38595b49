import { type Columns, concatenate, type DamagedRange, NO_COLUMNS, type TimeRange } from './samples.js';

/**
 * The net effect of changes on a series: deletes what is stored within `deleted`, then adds the samples, which replace
 * stored ones. Times ascend; ranges are in order and neither overlap nor touch. `combine` joins consecutive patches.
 */
export interface Patch extends Columns {
  readonly deleted: readonly TimeRange[];
  /** Ranges where changes may be missing because their bytes are damaged. */
  readonly damaged?: readonly DamagedRange[];
}

export const NO_PATCH: Patch = Object.freeze({ ...NO_COLUMNS, deleted: [] });

export function isEmptyPatch({ timeMs, deleted }: Patch): boolean {
  return timeMs.length === 0 && deleted.length === 0;
}

/** The patch with the effect of `earlier` and then `later`. */
export function combine(earlier: Patch, later: Patch): Patch {
  if (isEmptyPatch(earlier)) return later;
  if (isEmptyPatch(later)) return earlier;
  return { ...overlay(earlier, later), deleted: union(earlier.deleted, later.deleted) };
}

/** Columns after a patch is applied. */
export function overlay(columns: Columns, patch: Patch): Columns {
  const kept = without(columns, patch.deleted);
  if (patch.timeMs.length === 0) return kept;
  if (kept.timeMs.length === 0) return patch;
  return merge(kept, patch);
}

/** How many samples `overlay` would give for columns with these times. */
export function countOverlaid(timeMs: Float64Array, { timeMs: added, deleted }: Patch): number {
  let count = timeMs.length + added.length;
  for (const { fromMs, untilMs } of deleted) count -= indexAt(timeMs, untilMs) - indexAt(timeMs, fromMs);
  let range = 0;
  for (const time of added) {
    while (range < deleted.length && deleted[range]!.untilMs <= time) range++;
    const isDeleted = range < deleted.length && deleted[range]!.fromMs <= time;
    if (!isDeleted && timeMs[indexAt(timeMs, time)] === time) count--;
  }
  return count;
}

/** Combines consecutive patches, by halves: one by one would copy the first again and again. */
export function combineAll(patches: readonly Patch[]): Patch {
  if (patches.length <= 1) return patches[0] ?? NO_PATCH;
  const middle = patches.length >> 1;
  return combine(combineAll(patches.slice(0, middle)), combineAll(patches.slice(middle)));
}

/** The samples at the indexes `[from, until)`, as views. */
export function sliceColumns({ timeMs, value }: Columns, from: number, until: number): Columns {
  return { timeMs: timeMs.subarray(from, until), value: value.subarray(from, until) };
}

/** The samples in `[fromMs, untilMs)`, as views. */
export function between(columns: Columns, fromMs: number, untilMs: number): Columns {
  const { timeMs } = columns;
  const from = indexAt(timeMs, fromMs);
  return sliceColumns(columns, from, Math.max(from, indexAt(timeMs, untilMs)));
}

/**
 * The part of a patch within `[fromMs, untilMs)`.
 *
 * @throws DamagedSamplesError if that part is damaged.
 */
export function patchBetween(patch: Patch, fromMs: number, untilMs: number): Patch {
  for (const damage of patch.damaged ?? []) {
    if (damage.untilMs > fromMs && damage.fromMs < untilMs) throw damage.error;
  }
  const deleted = patch.deleted
    .filter((range) => range.untilMs > fromMs && range.fromMs < untilMs)
    .map((range) => ({ fromMs: Math.max(range.fromMs, fromMs), untilMs: Math.min(range.untilMs, untilMs) }));
  return { ...between(patch, fromMs, untilMs), deleted };
}

/** A range minus another: up to two ranges. */
export function outside<Range extends TimeRange>(range: Range, { fromMs, untilMs }: TimeRange): Range[] {
  if (fromMs >= untilMs || fromMs >= range.untilMs || untilMs <= range.fromMs) return [range];
  const parts = [
    { ...range, untilMs: fromMs },
    { ...range, fromMs: untilMs },
  ];
  return parts.filter((part) => part.fromMs < part.untilMs);
}

/** The index of the first time at or after an instant. */
export function indexAt(timeMs: Float64Array, instantMs: number): number {
  let low = 0;
  let high = timeMs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeMs[middle]! < instantMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function without(columns: Columns, deleted: readonly TimeRange[]): Columns {
  const { timeMs } = columns;
  if (deleted.length === 0 || timeMs.length === 0) return columns;
  const kept: Columns[] = [];
  let from = 0;
  for (const range of deleted) {
    const until = indexAt(timeMs, range.fromMs);
    if (until > from) kept.push(sliceColumns(columns, from, until));
    from = Math.max(from, indexAt(timeMs, range.untilMs));
  }
  if (from < timeMs.length) kept.push(sliceColumns(columns, from, timeMs.length));
  return concatenate(kept);
}

/** Merges two pairs of columns; for equal times the later one's sample wins. */
function merge(earlier: Columns, later: Columns): Columns {
  const [a, b] = [earlier.timeMs, later.timeMs];
  if (a.at(-1)! < b[0]!) return concatenate([earlier, later]);
  if (b.at(-1)! < a[0]!) return concatenate([later, earlier]);
  const timeMs = new Float64Array(a.length + b.length);
  const value = new Float64Array(a.length + b.length);
  const count = mergeInto(earlier, later, timeMs, value);
  return sliceColumns({ timeMs, value }, 0, count);
}

function mergeInto(earlier: Columns, later: Columns, timeMs: Float64Array, value: Float64Array): number {
  const [a, b] = [earlier.timeMs, later.timeMs];
  let [i, j, count] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    if (a[i]! < b[j]!) {
      timeMs[count] = a[i]!;
      value[count++] = earlier.value[i++]!;
    } else {
      if (a[i] === b[j]) i++;
      timeMs[count] = b[j]!;
      value[count++] = later.value[j++]!;
    }
  }
  const [rest, at] = i < a.length ? [earlier, i] : [later, j];
  timeMs.set(rest.timeMs.subarray(at), count);
  value.set(rest.value.subarray(at), count);
  return count + rest.timeMs.length - at;
}

/** Joins ranges that overlap or touch. */
function union(a: readonly TimeRange[], b: readonly TimeRange[]): readonly TimeRange[] {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const united: TimeRange[] = [];
  for (const range of [...a, ...b].sort(byStart)) {
    const last = united.at(-1);
    if (last === undefined || range.fromMs > last.untilMs) united.push(range);
    else if (range.untilMs > last.untilMs) united[united.length - 1] = { ...last, untilMs: range.untilMs };
  }
  return united;
}

// Without subtraction, as both may be -Infinity.
function byStart(a: TimeRange, b: TimeRange): number {
  return Number(a.fromMs > b.fromMs) - Number(a.fromMs < b.fromMs);
}
