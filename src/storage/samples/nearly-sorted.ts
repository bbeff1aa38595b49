import type { Columns } from './samples.js';

/** How many places samples may move on average; beyond that another sort is faster. */
const MOVES_MAX = 32;

/**
 * Sorts columns by time in place if they are nearly in order, as samples from several connections are. It sorts by
 * insertion, whose cost grows with how late samples are. Of equal times the last sample stays.
 *
 * @returns the number of samples left, at the start; undefined if there is too much disorder: then all samples are
 * still there, those with equal times in their order.
 */
export function sortNearlySorted({ timeMs, value }: Columns): number | undefined {
  const { length } = timeMs;
  let first = 1;
  while (first < length && timeMs[first]! > timeMs[first - 1]!) first++;
  if (first >= length) return length;
  let movesLeft = MOVES_MAX * length;
  for (let i = first; i < length; i++) {
    const ms = timeMs[i]!;
    if (ms >= timeMs[i - 1]!) continue;
    let at = i - 1;
    while (at > 0 && timeMs[at - 1]! > ms) at--;
    movesLeft -= i - at;
    if (movesLeft < 0) return undefined;
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
