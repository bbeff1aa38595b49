/**
 * The first index in `from..count` whose time is at or after `timeMs`, else `count`. Times rise strictly.
 * Gallops from `from`, so the cost grows with the logarithm of the distance, not of the column.
 */
export function firstAtOrAfter(column: Float64Array, from: number, count: number, timeMs: number): number {
  let low = from;
  let reach = 1;
  while (low + reach < count && column[low + reach]! < timeMs) {
    low += reach;
    reach *= 2;
  }
  let high = Math.min(low + reach, count);
  if (low < count && column[low]! >= timeMs) return low;
  low++;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle]! < timeMs) low = middle + 1;
    else high = middle;
  }
  return low < count ? low : count;
}

/** Like `firstAtOrAfter`, but tries `from + guess` first: windows of evenly spaced samples hold equally many. */
export function firstAtOrAfterGuess(
  column: Float64Array,
  from: number,
  count: number,
  timeMs: number,
  guess: number,
): number {
  const at = from + guess;
  if (guess > 0 && at < count && column[at]! >= timeMs && column[at - 1]! < timeMs) return at;
  return firstAtOrAfter(column, from, count, timeMs);
}

/** The first index in `from..count` whose time is after `timeMs`, else `count`. */
export function firstAfter(column: Float64Array, from: number, count: number, timeMs: number): number {
  const index = firstAtOrAfter(column, from, count, timeMs);
  return index < count && column[index] === timeMs ? index + 1 : index;
}
