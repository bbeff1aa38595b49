/**
 * A run of samples on its way through the steps: the first `count` entries of two columns, in time order. Columns are
 * mostly scratch columns; whoever receives a chunk reads it at once and never writes to `timeMs`.
 */
export interface Chunk {
  timeMs: Float64Array;
  value: Float64Array;
  count: number;
  /**
   * The same in the caller's own arrays, on to their ends, where they are those: results may share what lasts. Where
   * `value` is `lastingValue` itself nobody may write to it.
   */
  lastingTimeMs: Float64Array | undefined;
  lastingValue: Float64Array | undefined;
}

/** Samples in one chunk: a few columns of it (256 KiB each) fit into a core's second cache. */
export const CHUNK_LENGTH = 32_768;
