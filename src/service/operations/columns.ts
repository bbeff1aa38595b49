import type { Columns } from '../../storage/samples/samples.js';

export function lastTimeMs({ timeMs }: Columns): number | undefined {
  return timeMs[timeMs.length - 1];
}

/** Whether two columns hold the same samples, bit for bit. */
export function areSameColumns(a: Columns, b: Columns): boolean {
  if (a.timeMs.length !== b.timeMs.length) return false;
  for (let i = 0; i < a.timeMs.length; i++) if (!isSameSample(a, i, b, i)) return false;
  return true;
}

export function isSameSample(a: Columns, i: number, b: Columns, j: number): boolean {
  // Values are finite; 0 and −0 are told apart.
  return a.timeMs[i] === b.timeMs[j] && Object.is(a.value[i], b.value[j]);
}
