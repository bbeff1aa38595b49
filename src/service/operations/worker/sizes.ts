/** What the worker does at once, and how much it keeps. The results are the same for all of them. */
export type WorkerSizes = Readonly<typeof sizes>;

const sizes = {
  /** Samples, and results, of an item that are worked on within a transaction; more are left to a thread. */
  inlineSamplesMax: 65_536,
  inlineOutputMax: 1_000_000,
  /** Samples of a step that a thread computes, and the least that is read of each source for it. */
  sliceSamples: 262_144,
  sourceSamplesMin: 1024,
  /** After so many steps in a row the next item has its turn. */
  stepsMax: 32,
  /** Items that are looked up or worked on before others are answered: some ten milliseconds of work. */
  itemsATurn: 100,
  /**
   * Changes that items are told of, and items that are settled, in one transaction: others write in between. The next
   * ones take in more until nothing is left.
   */
  workATransaction: 250,
  /** Items whose waiting work is begun in one transaction. */
  turnsATransaction: 50,
  /** So many samples of all items together are read again within a transaction for want of memory. */
  replaySamplesMax: 500_000,
  /** Samples of sources that are kept for other items that read them: 32 MB. */
  sharedSamplesMax: 2_000_000,
  /** A checkpoint is written after so many samples. */
  checkpointSamples: 16_384,
  /** Checkpoints kept of an item: so many, and so many bytes. */
  checkpointsMax: 32,
  checkpointBytesMax: 8 * 1024 * 1024,
  /** Items of a shard that are kept in memory with their streams. */
  itemsKept: 10_000,
};

export const defaultSizes: WorkerSizes = Object.freeze(sizes);
