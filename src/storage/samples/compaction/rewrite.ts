import type { Reader } from '../../storage.js';
import type { SegmentRow, SeriesRow } from '../../tables/samples.js';
import { overlay, type Patch, sliceColumns } from '../patch.js';
import { type Columns, concatenate, NO_COLUMNS } from '../samples.js';
import { type Area, isErased, SegmentCursor, segmentsBefore, touchedAreas, unpackSegments } from '../segments.js';

/** The remaining budget of a step, in samples written or read. */
export interface Budget {
  left: number;
}

/** The cost of a row in addition to its samples. */
const ROW_COST = 256;
/**
 * Appended samples are merged into the last segment only if it has at most this many times as many. So a sample is
 * rewritten a few times until its segment is full, not thousands of times.
 */
const TAIL_RATIO = 3;

/** What a patch changes in the segments of a series; `row` is the series as it was found. */
export interface Rewrite {
  readonly row: SeriesRow;
  /** Whether it only appends samples: those of the removed segments are in the new ones. */
  readonly isAppend: boolean;
  readonly removed: readonly SegmentRow[];
  /** The samples of each new segment, in order of time. */
  readonly added: readonly Columns[];
}

/**
 * Applies a patch to the segments of a series; rewrites only those that it touches.
 *
 * @returns also where to resume if the budget ended first.
 */
export async function rewriteSegments(
  tx: Reader,
  row: SeriesRow,
  patch: Patch,
  budget: Budget,
  sizes: Sizes,
): Promise<Rewrite & { readonly resumeMs: number | undefined }> {
  const writing = new Writing(tx, row, budget, sizes);
  let resumeMs: number | undefined;
  const cursor = new SegmentCursor(tx, row.seriesKey);
  for await (const area of touchedAreas(cursor, patch, () => writing.isHolding)) {
    await writing.takeArea(area);
    if (budget.left > 0 || writing.isHolding || area.isTail) continue;
    resumeMs = area.endMs;
    break;
  }
  writing.writeHeld(evenPieces);
  return { ...writing.rewrite(false), resumeMs };
}

/** Samples after all segments of a series. */
export interface Tail {
  readonly row: SeriesRow;
  readonly patch: Patch;
}

export function isTail({ row: { lastMs }, patch: { timeMs, deleted } }: Tail): boolean {
  return deleted.length === 0 && timeMs.length > 0 && (lastMs === null || timeMs[0]! > lastMs);
}

/** The least cost of a tail, in samples written. */
export function costOf({ patch }: Tail): number {
  return ROW_COST + patch.timeMs.length;
}

/** Appends to a series, as most new samples are appends: reads its last segments alone. */
export async function appendTail(tx: Reader, { row, patch }: Tail, budget: Budget, sizes: Sizes): Promise<Rewrite> {
  const writing = new Writing(tx, row, budget, sizes);
  await writing.appendAtEnd(patch);
  return writing.rewrite(true);
}

/** Rewriting one series. */
class Writing {
  readonly #tx: Reader;
  readonly #row: SeriesRow;
  readonly #budget: Budget;
  readonly #sizes: Sizes;
  /** Samples not yet in a segment: too few for one, so the next area is added to them. */
  #held = NO_COLUMNS;
  /** By the times of their ends. */
  readonly #removed = new Map<number, SegmentRow>();
  readonly #added: Columns[] = [];

  constructor(tx: Reader, row: SeriesRow, budget: Budget, sizes: Sizes) {
    this.#tx = tx;
    this.#row = row;
    this.#budget = budget;
    this.#sizes = sizes;
  }

  get isHolding(): boolean {
    return this.#held.timeMs.length > 0;
  }

  rewrite(isAppend: boolean): Rewrite {
    return { row: this.#row, isAppend, removed: [...this.#removed.values()], added: this.#added };
  }

  async takeArea({ segment, patch, isTail }: Area): Promise<void> {
    if (segment !== undefined) this.#takeSegment(segment, patch);
    else if (isTail) await this.appendAtEnd(patch);
    else this.#hold(patch);
  }

  #takeSegment(segment: SegmentRow, patch: Patch): void {
    const isGone = isErased(segment, patch);
    const stored = isGone ? NO_COLUMNS : unpackSegments([segment]);
    const changed = overlay(stored, patch);
    this.#budget.left -= ROW_COST + stored.timeMs.length;
    if (!isGone && !this.isHolding && isSame(stored, changed)) return;
    this.#removed.set(segment.endMs, segment);
    this.#hold(changed);
  }

  #hold(columns: Columns): void {
    this.#held = concatenate([this.#held, columns]);
    if (this.#held.timeMs.length >= this.#sizes.smallSamples) this.writeHeld(evenPieces);
  }

  async appendAtEnd(patch: Columns): Promise<void> {
    this.#held = concatenate([this.#held, patch]);
    if (this.#row.lastMs !== null || this.#added.length > 0) await this.#takeLastSegments();
    this.writeHeld(fullPieces);
  }

  async #takeLastSegments(): Promise<void> {
    const { segmentSamples } = this.#sizes;
    for (;;) {
      const stored = await this.#lastStored();
      const own = this.#added.at(-1);
      const isOwn = own !== undefined && !(stored !== undefined && stored.endMs > own.timeMs.at(-1)!);
      const count = isOwn ? own.timeMs.length : (stored?.sampleCount ?? Infinity);
      if (count >= segmentSamples || count > TAIL_RATIO * this.#held.timeMs.length) return;
      if (isOwn) this.#added.pop();
      else this.#removed.set(stored!.endMs, stored!);
      this.#held = concatenate([isOwn ? own : unpackSegments([stored!]), this.#held]);
    }
  }

  /** The last stored segment before the held samples that is not removed. */
  async #lastStored(): Promise<SegmentRow | undefined> {
    let beforeMs = this.#held.timeMs[0]!;
    for (;;) {
      const [last] = await segmentsBefore(this.#tx, this.#row.seriesKey, beforeMs, 1);
      if (last === undefined || !this.#removed.has(last.endMs)) return last;
      beforeMs = last.endMs;
    }
  }

  writeHeld(lengthsOf: PieceLengths): void {
    let from = 0;
    for (const length of lengthsOf(this.#held.timeMs.length, this.#sizes.segmentSamples)) {
      this.#added.push(sliceColumns(this.#held, from, from + length));
      this.#budget.left -= ROW_COST + length;
      from += length;
    }
    this.#held = NO_COLUMNS;
  }
}

type PieceLengths = (count: number, segmentSamples: number) => number[];

/** In the middle of a series: pieces of similar length, so that each has room for late samples. */
function evenPieces(count: number, segmentSamples: number): number[] {
  const pieceCount = count <= 2 * segmentSamples ? Math.min(count, 1) : Math.round(count / segmentSamples);
  return Array.from({ length: pieceCount }, (_, i) => bound(count, pieceCount, i + 1) - bound(count, pieceCount, i));
}

function bound(count: number, pieceCount: number, i: number): number {
  return Math.round((count * i) / pieceCount);
}

/** At the end of a series: full pieces, and a rest that the next samples will likely fill. */
function fullPieces(count: number, segmentSamples: number): number[] {
  const rest = count % segmentSamples;
  const full = new Array<number>((count - rest) / segmentSamples).fill(segmentSamples);
  return rest === 0 ? full : [...full, rest];
}

// Samples that are sent again change nothing and are not written.
function isSame(a: Columns, b: Columns): boolean {
  if (a.timeMs.length !== b.timeMs.length) return false;
  for (let i = 0; i < a.timeMs.length; i++) {
    if (a.timeMs[i] !== b.timeMs[i] || !Object.is(a.value[i], b.value[i])) return false;
  }
  return true;
}

/** The sizes of segments and of compaction's steps. Tests use small ones, to get many of them. */
export interface Sizes {
  /** Samples in a new segment; segments are split at twice as many. */
  readonly segmentSamples: number;
  /** If a change leaves fewer in a segment, it is merged with the next one. */
  readonly smallSamples: number;
  /** The budget of a step, in samples written or read. Storing it takes a millisecond or two. */
  readonly stepCost: number;
  /** The most samples of one series that a step moves: after a large body, one series may have more than all others. */
  readonly stepSamples: number;
  /**
   * A round begins when the log has `samplesMin` samples and `seriesSamplesMin` for each of its series, or reaches one
   * of the other limits. Less stays in the log, and reads merge it.
   */
  readonly samplesMin: number;
  readonly seriesSamplesMin: number;
  readonly samplesEnough: number;
  readonly changesEnough: number;
  readonly rowsEnough: number;
  /** The limits of a round, so that the rows it reads fit into their cache. */
  readonly roundSamplesMax: number;
  readonly roundChangesMax: number;
}

export const defaultSizes: Sizes = Object.freeze({
  segmentSamples: 4096,
  smallSamples: 1024,
  stepCost: 60_000,
  stepSamples: 30_000,
  samplesMin: 16_384,
  seriesSamplesMin: 4096,
  samplesEnough: 1_048_576,
  changesEnough: 262_144,
  rowsEnough: 4000,
  roundSamplesMax: 1_048_576,
  roundChangesMax: 524_288,
});
