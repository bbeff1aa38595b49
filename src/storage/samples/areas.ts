import { nextDouble } from '../../core/next-double.js';
import type { SegmentRow } from '../tables/samples.js';
import { between, indexAt, type Patch, patchBetween } from './patch.js';
import type { SegmentCursor } from './segments.js';

/** A part of the time of a series that a patch touches: a segment, or samples that lie in none. */
export interface Area {
  /** None where the samples lie between segments, or beyond the last one. */
  readonly segment: SegmentRow | undefined;
  readonly patch: Patch;
  /** Whether there is no segment after it. */
  readonly isTail: boolean;
  /** The next area begins here or later. */
  readonly endMs: number;
}

/**
 * The areas that a patch touches, in order of time.
 *
 * @param wantsNext whether the area after this one is wanted even if the patch does not touch it.
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

/** The first instant at or after this one at which the patch has a sample or deletes. */
function nextTouch({ timeMs, deleted }: Patch, atMs: number): number | undefined {
  const sampleMs = timeMs[indexAt(timeMs, atMs)];
  const range = deleted.find(({ untilMs }) => untilMs > atMs);
  if (range === undefined) return sampleMs;
  return Math.min(sampleMs ?? Infinity, Math.max(atMs, range.fromMs));
}

/** Whether nothing of a segment is left by a patch, as can be told without reading it: so also of a damaged one. */
export function isErased({ startMs, endMs }: SegmentRow, { deleted }: Patch): boolean {
  return deleted.some((range) => range.fromMs <= startMs && range.untilMs > endMs);
}
