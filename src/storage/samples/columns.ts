import type { Columns } from './samples.js';

export const NO_COLUMNS: Columns = Object.freeze({ timeMs: new Float64Array(0), value: new Float64Array(0) });

/** Columns one after the other. */
export function concatenate(parts: readonly Columns[]): Columns {
  const present = parts.filter(({ timeMs }) => timeMs.length > 0);
  if (present.length <= 1) return present[0] ?? NO_COLUMNS;
  const count = present.reduce((sum, part) => sum + part.timeMs.length, 0);
  const timeMs = new Float64Array(count);
  const value = new Float64Array(count);
  let at = 0;
  for (const part of present) {
    timeMs.set(part.timeMs, at);
    value.set(part.value, at);
    at += part.timeMs.length;
  }
  return { timeMs, value };
}
