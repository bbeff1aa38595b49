/** What a retention rule takes, in words. */
export const KEEP =
  'a duration such as P90D or PT12H (months and years have no fixed length), above 0 and up to P104249991D, ' +
  'in whole milliseconds';

/** How long a rule may keep samples: what a double counts exactly, some 285,000 years. */
export function isKeep(keepMs: number): boolean {
  return Number.isSafeInteger(keepMs) && keepMs > 0;
}
