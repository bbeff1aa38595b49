import type { Columns } from '../../../storage/samples/samples.js';
import { lastTimeMs } from '../compute/columns.js';
import type { WorkerSizes } from './sizes.js';

/** For each source of a plan the time of the last sample taken, −Infinity before the first. */
export type Positions = readonly number[];

export function startPositions(sourceCount: number): Positions {
  return new Array<number>(sourceCount).fill(Number.NEGATIVE_INFINITY);
}

export function positionsToText(positions: Positions): string {
  return JSON.stringify(positions.map((timeMs) => (timeMs === Number.NEGATIVE_INFINITY ? null : timeMs)));
}

export function positionsFromText(text: string): Positions {
  // Written above.
  const times = JSON.parse(text) as (number | null)[];
  return times.map((timeMs) => timeMs ?? Number.NEGATIVE_INFINITY);
}

/** Where a plan stands after it has taken a chunk of each source. */
export function positionsAfter(positions: Positions, chunks: readonly Columns[]): Positions {
  return positions.map((timeMs, source) => lastTimeMs(chunks[source]!) ?? timeMs);
}

/** A checkpoint without its state: enough to tell which one to go on from. */
export interface Mark {
  readonly ordinal: number;
  readonly positions: Positions;
  readonly emittedMs: number | null;
  readonly sampleCount: number;
  readonly byteCount: number;
}

/**
 * The marks, in order, that a change of a source at an instant leaves true. Positions never go back from one mark to
 * the next, so those that are no longer true are the last ones.
 */
export function trueMarks(marks: readonly Mark[], source: number, fromMs: number): readonly Mark[] {
  let count = marks.length;
  while (count > 0 && marks[count - 1]!.positions[source]! >= fromMs) count--;
  return count === marks.length ? marks : marks.slice(0, count);
}

/**
 * The mark to give up when there are too many: the one whose gap is the smallest beside its age, so that late samples
 * find one near however old they are. The last is kept.
 */
export function markToDrop(
  marks: readonly Mark[],
  { marksMax, markBytesMax }: Pick<WorkerSizes, 'marksMax' | 'markBytesMax'>,
): Mark | undefined {
  const byteCount = marks.reduce((sum, mark) => sum + mark.byteCount, 0);
  if (marks.length < 2 || (marks.length <= marksMax && byteCount <= markBytesMax)) return undefined;
  const end = marks[marks.length - 1]!.sampleCount;
  let least: Mark | undefined;
  let leastShare = Number.POSITIVE_INFINITY;
  for (let k = 0; k < marks.length - 1; k++) {
    const before = marks[k - 1]?.sampleCount ?? 0;
    const share = (marks[k + 1]!.sampleCount - before) / (end - before + 1);
    if (share >= leastShare) continue;
    least = marks[k]!;
    leastShare = share;
  }
  return least;
}

/** A checkpoint is written after so many samples; of a large state after more, as bytes cost like samples. */
export function isCheckpointDue(
  samplesSince: number,
  last: Mark | undefined,
  { checkpointSamples }: Pick<WorkerSizes, 'checkpointSamples'>,
): boolean {
  return samplesSince >= Math.max(checkpointSamples, (last?.byteCount ?? 0) / SAMPLE_BYTES);
}

const SAMPLE_BYTES = 16;
