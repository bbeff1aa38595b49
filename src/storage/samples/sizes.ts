/** How large segments are, and how much compaction does at a time. Tests take small ones, to see many of them. */
export interface Sizes {
  /** Segments are made of so many samples, and cut when they have come to twice that. */
  readonly segmentSamples: number;
  /** Where a change leaves fewer in a segment, the one after it is taken in. */
  readonly smallSamples: number;
  /** What a call of `compact` may cost, in samples written or read: some ten milliseconds. */
  readonly callCost: number;
  /**
   * A round begins when the log has come to `samplesMin` and to `seriesSamplesMin` for each of its series, or to one
   * of the others; so small amounts stay in it, and reading merges them.
   */
  readonly samplesMin: number;
  readonly seriesSamplesMin: number;
  readonly samplesEnough: number;
  readonly changesEnough: number;
  readonly rowsEnough: number;
  /** A round takes no more than this, so that what it reads of the log fits into the memory kept for it. */
  readonly roundSamplesMax: number;
  readonly roundChangesMax: number;
}

export const defaultSizes: Sizes = Object.freeze({
  segmentSamples: 4096,
  smallSamples: 1024,
  callCost: 100_000,
  samplesMin: 16_384,
  seriesSamplesMin: 32,
  samplesEnough: 262_144,
  changesEnough: 65_536,
  rowsEnough: 1000,
  roundSamplesMax: 524_288,
  roundChangesMax: 262_144,
});
