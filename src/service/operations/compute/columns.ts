import { nextDouble } from '../../../core/next-double.js';
import { between } from '../../../storage/samples/patch.js';
import type { Columns, LoggedChange, SampleChange, TimeRange } from '../../../storage/samples/samples.js';

export function lastTimeMs({ timeMs }: Columns): number | undefined {
  return timeMs[timeMs.length - 1];
}

function isSameSample(a: Columns, i: number, b: Columns, j: number): boolean {
  // Values are finite; 0 and −0 are distinguished.
  return a.timeMs[i] === b.timeMs[j] && Object.is(a.value[i], b.value[j]);
}

/** The change that turns the stored results of a range into the computed ones. */
export type ResultChange = Columns & Pick<SampleChange, 'deleted'>;

/**
 * The part in which computed results differ from the stored ones of the same range. A late sample often changes
 * little, and followers and dependent items should see no more than that. Undefined if nothing differs.
 */
export function resultChange(stored: Columns, computed: Columns): ResultChange | undefined {
  const storedCount = stored.timeMs.length;
  const computedCount = computed.timeMs.length;
  const least = Math.min(storedCount, computedCount);
  let head = 0;
  while (head < least && isSameSample(stored, head, computed, head)) head++;
  let tail = 0;
  while (tail < least - head && isSameSample(stored, storedCount - 1 - tail, computed, computedCount - 1 - tail)) {
    tail++;
  }
  const firstStoredMs = stored.timeMs[head];
  const isAnyStored = head < storedCount - tail;
  if (!isAnyStored && head === computedCount - tail) return undefined;
  const timeMs = computed.timeMs.subarray(head, computedCount - tail);
  const value = computed.value.subarray(head, computedCount - tail);
  if (!isAnyStored || firstStoredMs === undefined) return { timeMs, value };
  const lastMs = stored.timeMs[storedCount - tail - 1]!;
  // The time of a sample that stays or is computed, if one follows: the instant after `lastMs` has digits beyond
  // milliseconds, and a follower who cuts them off, as `Date` does, would keep the last sample.
  const laterMs = stored.timeMs[storedCount - tail] ?? computed.timeMs[computedCount - 1] ?? lastMs;
  return { timeMs, value, deleted: { fromMs: firstStoredMs, untilMs: Math.max(laterMs, nextDouble(lastMs)) } };
}

/** A change of a source, of clients or of another item. */
export type SourceChange = SampleChange & Pick<LoggedChange, 'damage'>;

/** The first instant that a change affects; Infinity if it has none. */
export function startOf({ timeMs, deleted, damage }: Pick<SourceChange, 'timeMs' | 'deleted' | 'damage'>): number {
  const starts = [deleted?.fromMs, damage?.fromMs, timeMs[0]];
  return Math.min(...starts.map((startMs) => startMs ?? Number.POSITIVE_INFINITY));
}

/** The part of a change after an instant. */
export function changeAfter({ deleted, damage, ...change }: SourceChange, afterMs: number): SourceChange {
  const fromMs = nextDouble(afterMs);
  const isLeft = (range: TimeRange | undefined) => range !== undefined && range.untilMs > fromMs;
  return {
    ...change,
    ...between(change, fromMs, Number.POSITIVE_INFINITY),
    ...(isLeft(deleted) ? { deleted: { ...deleted!, fromMs: Math.max(deleted!.fromMs, fromMs) } } : {}),
    ...(isLeft(damage) ? { damage: { ...damage!, fromMs: Math.max(damage!.fromMs, fromMs) } } : {}),
  };
}
