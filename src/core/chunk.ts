/**
 * A run of samples on its way through the steps: the first `count` entries of two columns, in time order. The columns
 * are mostly scratch columns, so whoever receives a chunk reads it at once; nobody writes to `timeMs`.
 */
export interface Chunk {
  timeMs: Float64Array;
  value: Float64Array;
  count: number;
  /** The input's own array, from the time in `timeMs[0]` to its end, if the chunk has the input's times. */
  inputTimeMs: Float64Array | undefined;
  /** Whether nobody may write to `value`: it stays as it is until all inputs have come this far. */
  isReadOnly: boolean;
}

/** The most samples in one chunk: its columns take 256 KiB each, so a core's second-level cache holds several. */
export const CHUNK_LENGTH = 32_768;
