/**
 * A run of samples on its way through the graph: the first `count` entries of two columns, in time order. They are
 * mostly scratch columns, so a receiver must read them before it returns, and must never write to `timeMs`.
 */
export interface Chunk {
  timeMs: Float64Array;
  value: Float64Array;
  count: number;
  /** If the chunk has the input's times: the input's own array from `timeMs[0]` to its end. */
  inputTimeMs: Float64Array | undefined;
  /** If true, `value` must not be written to, and stays as it is until every input has come this far. */
  isReadOnly: boolean;
}

/** The most samples in one chunk: its columns take 256 KiB each, so a core's second-level cache holds several. */
export const CHUNK_LENGTH = 32_768;
