/**
 * A run of samples on its way through the steps: the first `count` entries of two columns, in time order. Columns are
 * mostly scratch columns; whoever receives a chunk reads it at once and never writes to `timeMs`.
 */
export interface Chunk {
  timeMs: Float64Array;
  value: Float64Array;
  count: number;
  /** The input's own array of times, from `timeMs[0]` on to its end, where the chunk has its times. */
  inputTimeMs: Float64Array | undefined;
  /** Whether `value` stays as it is until all inputs have come as far, so nobody may write to it. */
  isReadOnly: boolean;
}

/** The most samples in one chunk: a column of it takes 1 MiB, as the second cache of a core does. */
export const CHUNK_LENGTH = 131_072;
