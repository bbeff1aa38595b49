/** What the worker does at once, and how much it keeps. The results are the same for all of them. */
export interface WorkerSizes {
  /** Samples, and results, of an item that are worked on within a transaction; more are left to a thread. */
  readonly inlineSamplesMax: number;
  readonly inlineOutputMax: number;
  /** Samples of a step that a thread computes, and the least that is read of each source for it. */
  readonly sliceSamples: number;
  readonly sourceSamplesMin: number;
  /** After so many steps in a row the next item has its turn. */
  readonly stepsMax: number;
  /** Items that are looked up or worked on before others are answered: some ten milliseconds of work. */
  readonly itemsATurn: number;
  /** Items whose waiting work is begun in one transaction. */
  readonly turnsATransaction: number;
  /** So many samples of all items together are read again within a transaction for want of memory. */
  readonly replaySamplesMax: number;
  /** A checkpoint is written after so many samples. */
  readonly checkpointSamples: number;
  /** Checkpoints kept of an item: so many, and so many bytes. */
  readonly checkpointsMax: number;
  readonly checkpointBytesMax: number;
  /** Items of a shard that are kept in memory with their streams. */
  readonly itemsKept: number;
}

export const defaultSizes: WorkerSizes = Object.freeze({
  inlineSamplesMax: 65_536,
  inlineOutputMax: 1_000_000,
  sliceSamples: 262_144,
  sourceSamplesMin: 1024,
  stepsMax: 32,
  itemsATurn: 100,
  turnsATransaction: 50,
  replaySamplesMax: 500_000,
  checkpointSamples: 16_384,
  checkpointsMax: 32,
  checkpointBytesMax: 8 * 1024 * 1024,
  itemsKept: 10_000,
});
