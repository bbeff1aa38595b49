/**
 * A run of samples on its way through the steps: the first `count` entries of two columns, in time order.
 * Chunks are views of scratch columns or of the caller's own arrays; whoever receives one reads it at once
 * and never writes to `timeMs`.
 */
export interface Chunk {
  timeMs: Float64Array;
  value: Float64Array;
  count: number;
  /** Whether the times outlive the call: they are the caller's own, not a scratch column. */
  areTimesLasting: boolean;
}

/** Samples in one chunk: a column of it fits into a core's first cache (32 KiB). */
export const CHUNK_LENGTH = 4096;
