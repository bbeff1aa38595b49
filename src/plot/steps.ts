/** Counts the distances between samples, to tell the usual one. */
export interface StepCounter {
  readonly add: (timeMs: number) => void;
  /** The median within five hundredths, infinite where there is none. */
  readonly medianMs: () => number;
}

// Bins of equal ratio from a nanosecond to the age of the calendar.
const BINS_PER_OCTAVE = 16;
const LEAST_OCTAVE = -20;
const BIN_COUNT = (49 - LEAST_OCTAVE) * BINS_PER_OCTAVE;

export function createStepCounter(): StepCounter {
  const counts = new Float64Array(BIN_COUNT);
  let total = 0;
  let previousMs = Number.NaN;
  let lastStepMs = Number.NaN;
  let lastBin = 0;

  function add(timeMs: number): void {
    const stepMs = timeMs - previousMs;
    previousMs = timeMs;
    if (!(stepMs > 0)) return;
    if (stepMs !== lastStepMs) {
      lastStepMs = stepMs;
      const bin = Math.floor((Math.log2(stepMs) - LEAST_OCTAVE) * BINS_PER_OCTAVE);
      lastBin = Math.min(BIN_COUNT - 1, Math.max(0, bin));
    }
    counts[lastBin] = (counts[lastBin] ?? 0) + 1;
    total++;
  }

  function medianMs(): number {
    let seen = 0;
    for (let bin = 0; bin < BIN_COUNT; bin++) {
      seen += counts[bin] ?? 0;
      if (seen * 2 >= total && total > 0) return 2 ** ((bin + 1) / BINS_PER_OCTAVE + LEAST_OCTAVE);
    }
    return Number.POSITIVE_INFINITY;
  }

  return { add, medianMs };
}
