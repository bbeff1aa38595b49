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

/** The most samples in one chunk: a column of it takes 1 MiB, as the second cache of a core does. */
export const CHUNK_LENGTH = 131_072;
