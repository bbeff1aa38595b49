import { type LogHeads, patchOf, readInto } from './log-row.js';
import { combineAll, NO_PATCH, type Patch, sliceColumns } from './patch.js';

/** A change of a series in a row of the log. */
export interface FoundChange {
  readonly bytes: Uint8Array;
  readonly heads: LogHeads;
  readonly index: number;
}

/**
 * What changes of one series come to. They are read into one pair of columns; where each only adds to the end of the
 * one before, as most do, that is all.
 */
export function patchOfFound(changes: readonly FoundChange[]): Patch {
  if (changes.length === 0) return NO_PATCH;
  const count = changes.reduce((sum, { heads, index }) => sum + heads.counts[index]!, 0);
  const columns = { timeMs: new Float64Array(count), value: new Float64Array(count) };
  const { timeMs } = columns;
  let isRising = true;
  let at = 0;
  const parts = changes.map(({ bytes, heads, index }) => {
    const { deleted } = readInto(bytes, heads, index, columns, at);
    const from = at;
    at += heads.counts[index]!;
    isRising &&= deleted === undefined && (from === 0 || from === at || timeMs[from]! > timeMs[from - 1]!);
    return { from, until: at, deleted };
  });
  if (isRising) return { ...columns, deleted: [] };
  return combineAll(
    parts.map(({ from, until, deleted }) => {
      const part = sliceColumns(columns, from, until);
      return patchOf(deleted === undefined ? part : { ...part, deleted });
    }),
  );
}
