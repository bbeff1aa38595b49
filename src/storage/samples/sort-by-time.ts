import type { Columns } from './samples.js';

/** How many places samples may move on average; beyond that, merging is faster. */
const MOVES_MAX = 32;

/**
 * Sorts columns by time in place. Of equal times the last sample stays.
 *
 * @returns the number of samples left, at the start.
 */
export function sortByTime(columns: Columns): number {
  const { timeMs } = columns;
  const { length } = timeMs;
  let first = 1;
  while (first < length && timeMs[first]! > timeMs[first - 1]!) first++;
  if (first >= length) return length;
  if (!insertEach(columns, first)) mergeRuns(columns);
  return keepLast(columns);
}

/**
 * Sorts by insertion, whose cost grows with how late samples are: few are in what several connections send.
 *
 * @param from the samples before are sorted.
 * @returns false if there is too much disorder: then the columns are sorted up to some sample.
 */
function insertEach({ timeMs, value }: Columns, from: number): boolean {
  const { length } = timeMs;
  let movesLeft = MOVES_MAX * length;
  for (let i = from; i < length; i++) {
    const ms = timeMs[i]!;
    if (ms >= timeMs[i - 1]!) continue;
    let at = i - 1;
    while (at > 0 && timeMs[at - 1]! > ms) at--;
    movesLeft -= i - at;
    if (movesLeft < 0) return false;
    const sample = value[i]!;
    timeMs.copyWithin(at + 1, at, i);
    value.copyWithin(at + 1, at, i);
    timeMs[at] = ms;
    value[at] = sample;
  }
  return true;
}

/** Merge sort, of the runs that ascend. */
function mergeRuns(columns: Columns): void {
  let from = columns;
  let to: Columns = { timeMs: new Float64Array(from.timeMs.length), value: new Float64Array(from.timeMs.length) };
  for (let ends = runEnds(from.timeMs); ends.length > 1; [from, to] = [to, from]) {
    const merged: number[] = [];
    for (let run = 0; run < ends.length; run += 2) {
      const middle = ends[run]!;
      const end = ends[run + 1] ?? middle;
      merge(from, merged.at(-1) ?? 0, middle, end, to);
      merged.push(end);
    }
    ends = merged;
  }
  if (from === columns) return;
  columns.timeMs.set(from.timeMs);
  columns.value.set(from.value);
}

function runEnds(timeMs: Float64Array): number[] {
  const ends: number[] = [];
  for (let i = 1; i <= timeMs.length; i++) if (i === timeMs.length || timeMs[i]! < timeMs[i - 1]!) ends.push(i);
  return ends;
}

/** Merges the runs `[start, middle)` and `[middle, end)`; of equal times, those of the first come first. */
function merge(from: Columns, start: number, middle: number, end: number, to: Columns): void {
  const { timeMs, value } = from;
  for (let at = start, i = start, j = middle; at < end; at++) {
    const next = j >= end || (i < middle && timeMs[i]! <= timeMs[j]!) ? i++ : j++;
    to.timeMs[at] = timeMs[next]!;
    to.value[at] = value[next]!;
  }
}

/** Leaves the last sample of each time. */
function keepLast({ timeMs, value }: Columns): number {
  let count = 1;
  for (let i = 1; i < timeMs.length; i++) {
    if (timeMs[i]! > timeMs[count - 1]!) count++;
    timeMs[count - 1] = timeMs[i]!;
    value[count - 1] = value[i]!;
  }
  return count;
}
