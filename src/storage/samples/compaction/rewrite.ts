import { areSameColumns } from '../../../core/series.js';
import type { Reader } from '../../storage.js';
import type { SegmentRow, SeriesRow } from '../../tables/samples.js';
import { isEmptyPatch, overlay, type Patch, sliceColumns } from '../patch.js';
import { type Columns, concatenate, NO_COLUMNS } from '../samples.js';
import {
  type Area,
  isErased,
  packSegment,
  SegmentCursor,
  segmentsBefore,
  touchedAreas,
  unpackIfSound,
  unpackSegments,
} from '../segments.js';
import { allOf, type SeriesMove } from './move.js';

/** What a call of compaction may still cost, in samples written or read. */
export class Budget {
  #left: number;

  constructor(cost: number) {
    this.#left = cost;
  }

  spend(cost: number): void {
    this.#left -= cost;
  }

  /** Whether there is no more than is needed for something else. */
  isSpent(reserved = 0): boolean {
    return this.#left <= reserved;
  }
}

/** The cost of a row in addition to its samples. */
const ROW_COST = 256;
/**
 * Appended samples are merged into the last segment only if it has at most this many times as many. So a sample is
 * rewritten a few times until its segment is full, not thousands of times.
 */
const TAIL_RATIO = 3;

/**
 * Applies a patch to the segments of a series; rewrites only those that it touches.
 *
 * @returns the change, and where to resume if the budget ended first.
 */
export async function rewriteSegments(
  tx: Reader,
  row: SeriesRow,
  patch: Patch,
  budget: Budget,
  sizes: Sizes,
): Promise<{ readonly move: SeriesMove; readonly resumeMs: number | undefined }> {
  const rewrite = new SegmentRewrite(tx, row, budget, sizes);
  let resumeMs: number | undefined;
  const cursor = new SegmentCursor(tx, row.seriesKey);
  for await (const area of touchedAreas(cursor, patch, () => rewrite.isHolding)) {
    await rewrite.take(area);
    if (!budget.isSpent() || rewrite.isHolding || area.isTail) continue;
    resumeMs = area.endMs;
    break;
  }
  return { move: rewrite.end(undefined), resumeMs };
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

/** Appends to many series at once, as most new samples are appends: a remote database is asked for all together. */
export function appendTails(
  tx: Reader,
  tails: readonly Tail[],
  budget: Budget,
  sizes: Sizes,
): Promise<readonly SeriesMove[]> {
  return allOf(
    tails.map(async ({ row, patch }) => {
      const rewrite = new SegmentRewrite(tx, row, budget, sizes);
      await rewrite.append(patch);
      return rewrite.end([row.firstMs ?? patch.timeMs[0]!, patch.timeMs.at(-1)!]);
    }),
  );
}

/** Rewrites segments of one series: gathers samples in order of time, and packs them into new segments. */
class SegmentRewrite {
  readonly #tx: Reader;
  readonly #row: SeriesRow;
  readonly #budget: Budget;
  readonly #sizes: Sizes;
  /** Samples not yet in a segment: too few for one, so the next area is added to them. */
  #held = NO_COLUMNS;
  /** The ends of stored segments to delete. */
  readonly #removed = new Set<number>();
  /** New segments, in order of time. */
  readonly #added: SegmentRow[] = [];
  #countChange = 0;

  constructor(tx: Reader, row: SeriesRow, budget: Budget, sizes: Sizes) {
    this.#tx = tx;
    this.#row = row;
    this.#budget = budget;
    this.#sizes = sizes;
  }

  get isHolding(): boolean {
    return this.#held.timeMs.length > 0;
  }

  async take({ segment, patch, isTail }: Area): Promise<void> {
    if (segment === undefined && isTail) {
      await this.append(patch);
      return;
    }
    if (segment === undefined) this.#held = concatenate([this.#held, patch]);
    // Only a neighbour, which would take in what is held. A damaged one stays as it is.
    else if (isEmptyPatch(patch) && unpackIfSound(segment) === undefined) this.#pack(evenPieces);
    else if (!this.#change(segment, patch)) return;
    if (this.#held.timeMs.length >= this.#sizes.smallSamples) this.#pack(evenPieces);
  }

  /** Appends samples after all segments of the series. */
  async append(samples: Columns): Promise<void> {
    this.#held = concatenate([this.#held, samples]);
    if (this.#row.lastMs !== null) await this.#takeLastSegments();
    this.#pack(fullPieces);
  }

  /** Packs what is held, and returns the change. */
  end(range: SeriesMove['range']): SeriesMove {
    this.#pack(evenPieces);
    const sampleCount = this.#row.sampleCount + this.#countChange;
    return { row: this.#row, removed: [...this.#removed], added: this.#added, sampleCount, range };
  }

  /** Applies a patch to a segment, and holds the result; false if it changes nothing. */
  #change(segment: SegmentRow, patch: Patch): boolean {
    const isGone = isErased(segment, patch);
    const stored = isGone ? NO_COLUMNS : unpackSegments([segment]);
    const changed = overlay(stored, patch);
    this.#budget.spend(ROW_COST + stored.timeMs.length);
    // Samples that are sent again change nothing and are not written.
    if (!isGone && !this.isHolding && areSameColumns(stored, changed)) return false;
    this.#remove(segment);
    this.#held = concatenate([this.#held, changed]);
    return true;
  }

  async #takeLastSegments(): Promise<void> {
    for (;;) {
      const last = await this.#lastBefore(this.#held.timeMs[0]!);
      if (last === undefined || last.sampleCount >= this.#sizes.segmentSamples) return;
      if (last.sampleCount > TAIL_RATIO * this.#held.timeMs.length) return;
      const samples = unpackIfSound(last);
      if (samples === undefined) return;
      this.#remove(last);
      this.#held = concatenate([samples, this.#held]);
    }
  }

  /** The last segment that ends before an instant, after what was removed and added so far. */
  async #lastBefore(untilMs: number): Promise<SegmentRow | undefined> {
    const own = this.#added.filter(({ endMs }) => endMs < untilMs).at(-1);
    for (let beforeMs = untilMs; ; ) {
      const [stored] = await segmentsBefore(this.#tx, this.#row.seriesKey, beforeMs, 1);
      if (stored === undefined || (own !== undefined && own.endMs >= stored.endMs)) return own;
      if (!this.#removed.has(stored.endMs)) return stored;
      beforeMs = stored.endMs;
    }
  }

  #remove(segment: SegmentRow): void {
    const at = this.#added.indexOf(segment);
    if (at >= 0) this.#added.splice(at, 1);
    else this.#removed.add(segment.endMs);
    this.#countChange -= segment.sampleCount;
  }

  #pack(lengthsOf: PieceLengths): void {
    const held = this.#held;
    let from = 0;
    for (const length of lengthsOf(held.timeMs.length, this.#sizes.segmentSamples)) {
      this.#added.push(packSegment(this.#row.seriesKey, sliceColumns(held, from, from + length)));
      this.#budget.spend(ROW_COST + length);
      from += length;
    }
    this.#countChange += held.timeMs.length;
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

/** The sizes of segments and of compaction's steps. Tests use small ones, to get many of them. */
export interface Sizes {
  /** Samples in a new segment; segments are split at twice as many. */
  readonly segmentSamples: number;
  /** If a change leaves fewer in a segment, it is merged with the next one. */
  readonly smallSamples: number;
  /** The budget of a call of `compact`, in samples written or read: some milliseconds. */
  readonly callCost: number;
  /** The most samples of one series that a call moves: after a large body, one series may have more than all others. */
  readonly callSamples: number;
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
  /** For how long rows stay in the log once they are in segments, and how many samples; one round does anyway. */
  readonly keptMs: number;
  readonly keptCostMax: number;
}

export const defaultSizes: Sizes = Object.freeze({
  segmentSamples: 4096,
  smallSamples: 1024,
  callCost: 30_000,
  callSamples: 30_000,
  samplesMin: 16_384,
  seriesSamplesMin: 4096,
  samplesEnough: 1_048_576,
  changesEnough: 262_144,
  rowsEnough: 4000,
  roundSamplesMax: 1_048_576,
  roundChangesMax: 524_288,
  keptMs: 30_000,
  keptCostMax: 1_048_576,
});
