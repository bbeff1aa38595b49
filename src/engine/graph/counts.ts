/** What is counted of each source and each step: plain numbers, so that a checkpoint can carry them. */

const SOURCE_COUNTS = ['samplesIn', 'samplesOut', 'missing', 'outOfRun', 'duplicate', 'late'] as const;
const STEP_COUNTS = [
  'samplesIn',
  'samplesOut',
  'nonFinite',
  'outOfRange',
  'unmatchedFirst',
  'unmatchedSecond',
  'duplicate',
  'insufficient',
] as const;

export type SourceCounts = Record<(typeof SOURCE_COUNTS)[number], number>;
export type StepCounts = Record<(typeof STEP_COUNTS)[number], number>;

export function zeroSourceCounts(): SourceCounts {
  return { samplesIn: 0, samplesOut: 0, missing: 0, outOfRun: 0, duplicate: 0, late: 0 };
}

export function zeroStepCounts(): StepCounts {
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

/** Counts as a list in a fixed order, and back. */
export function countsToList(counts: SourceCounts | StepCounts): number[] {
  return 'missing' in counts ? SOURCE_COUNTS.map((name) => counts[name]) : STEP_COUNTS.map((name) => counts[name]);
}

export function setCounts(counts: SourceCounts | StepCounts, list: readonly number[]): void {
  const names: readonly string[] = 'missing' in counts ? SOURCE_COUNTS : STEP_COUNTS;
  for (const [index, name] of names.entries()) Object.assign(counts, { [name]: list[index] ?? 0 });
}

export const SOURCE_COUNT_LENGTH = SOURCE_COUNTS.length;
export const STEP_COUNT_LENGTH = STEP_COUNTS.length;
