import { MEMBERS_PER_TRANSACTION } from '../end.js';

/** Limits on what the worker does at once and keeps in memory. The results do not depend on them. */
export type WorkerSizes = Readonly<typeof sizes>;

const sizes = {
  /** The most samples, and results, that an item computes within a transaction; more are left to a thread. */
  inlineSamplesMax: 65_536,
  inlineOutputMax: 100_000,
  /** A stream whose preview took longer within a transaction has the next ones from a thread. */
  inlineMsMax: 100,
  /** Samples of a step in a thread, and the least that is read of each source for it. */
  sliceSamples: 262_144,
  sourceSamplesMin: 1024,
  /** After this many steps in a row, or milliseconds, the next item has its turn. */
  stepsMax: 32,
  stepsMsMax: 250,
  /** For how long to work on items before requests are answered. */
  turnMs: 10,
  /**
   * Deliveries of changes to items, and settled items, per transaction, so that others can write in between. Later
   * transactions do more, until nothing is left.
   */
  workPerTransaction: 250,
  /** Items whose pending work is started in one transaction. */
  turnsPerTransaction: 50,
  /** Members of patterns that one transaction registers or deletes. */
  membersPerTransaction: MEMBERS_PER_TRANSACTION,
  /** The most series that one transaction checks for patterns that have not checked all. */
  seriesPerTransaction: 1000,
  /** The most samples that one transaction replays for all items together, to bound its memory. */
  replaySamplesMax: 500_000,
  /** Samples of sources that are cached for other items: 32 MB. */
  sharedSamplesMax: 2_000_000,
  /** How many samples between checkpoints. */
  checkpointSamples: 16_384,
  /** The most checkpoints of an item, and their bytes. */
  checkpointsMax: 32,
  checkpointBytesMax: 8 * 1024 * 1024,
  /** Items of a shard that stay in memory with their streams. */
  itemsKept: 10_000,
  /** The most characters of their requests, which take several times that in memory. */
  requestCharsKept: 8_000_000,
};

export const defaultSizes: WorkerSizes = Object.freeze(sizes);
