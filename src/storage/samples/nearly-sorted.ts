import type { Columns } from './samples.js';

/** More disorder than this, in places that samples move on average, is for a sort that takes less time then. */
const PLACES_MAX = 32;

/**
 * Sorts columns by time in place where they are nearly in order, as those are that come over several connections: by
 * insertion, which takes as long as samples are late. Of equal times the last sample stays.
 *
 * @returns how many samples are left, at the start; undefined for too much disorder: then all are there, those of equal
 *   times in their order.
 */
export function sortNearlySorted({ timeMs, value }: Columns): number | undefined {
  const { length } = timeMs;
  let first = 1;
  while (first < length && timeMs[first]! > timeMs[first - 1]!) first++;
  if (first >= length) return length;
  let placesLeft = PLACES_MAX * length;
  for (let i = first; i < length; i++) {
    const ms = timeMs[i]!;
    if (ms >= timeMs[i - 1]!) continue;
    let at = i - 1;
    while (at > 0 && timeMs[at - 1]! > ms) at--;
    placesLeft -= i - at;
    if (placesLeft < 0) return undefined;
    const sample = value[i]!;
    timeMs.copyWithin(at + 1, at, i);
    value.copyWithin(at + 1, at, i);
    timeMs[at] = ms;
    value[at] = sample;
  }
  let count = 1;
  for (let i = 1; i < length; i++) {
    if (timeMs[i]! > timeMs[count - 1]!) count++;
    timeMs[count - 1] = timeMs[i]!;
    value[count - 1] = value[i]!;
  }
  return count;
}
