/**
 * The counts of each source and each step. Checkpoints write them in the order in which they are listed here.
 */
export type SourceCounts = ReturnType<typeof zeroSourceCounts>;
export type StepCounts = ReturnType<typeof zeroStepCounts>;

export function zeroSourceCounts() {
  return { samplesIn: 0, samplesOut: 0, missing: 0, outOfRun: 0, duplicate: 0, late: 0 };
}

export function zeroStepCounts() {
  return {
    samplesIn: 0,
    samplesOut: 0,
    nonFinite: 0,
    outOfRange: 0,
    unmatchedFirst: 0,
    unmatchedSecond: 0,
    duplicate: 0,
    insufficient: 0,
  };
}
