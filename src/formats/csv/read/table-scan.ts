import type { FieldKind, FieldScanner } from '../../../kernels/scan-fields.js';
import { scanned, scanPairs } from '../../../kernels/scan-pairs.js';
import { slowRowsAfter } from './rows.js';
import type { Clock } from './time.js';

// What a column holds if not the values of a series.
export const TIME = -1;
export const UNWANTED = -2;

/** The kind of a column by its slot. */
export function kindOf(slot: number): FieldKind {
  if (slot === UNWANTED) return 'skipped';
  return slot === TIME ? 'time' : 'number';
}

/** What is known of a file in the single or the wide layout as far as parsing many rows at once needs it. */
export interface ScannedTable {
  /** For each column the index of its values, or TIME, or UNWANTED. */
  readonly slots: Int32Array;
  /** Whether rows are a time and a number, which have a kernel of their own. */
  readonly isPairs: boolean;
  readonly separator: number;
  /** How many rows are to be read as fields before the kernel of pairs is tried again, now and the last time. */
  fieldRows: number;
  pairsSlowRows: number;
  /** Undefined without WebAssembly and for too many columns. */
  readonly scanner: FieldScanner | undefined;
  readonly clock: Clock;
  /** The columns of the current chunk. */
  readonly timeMs: Float64Array;
  readonly values: readonly Float64Array[];
  /** Rows in the chunk. */
  count: number;
  /** How many values of all rows are missing. */
  missing: number;
}

/** If the kernel of pairs takes fewer rows than this, the other one is faster. */
const PAIRS_MIN = 32;
const PAIRS_SLOW_ROWS_MAX = 65_536;

/** Parses rows in WebAssembly until the chunk is full, and returns the place of the first row that it leaves. */
export function scanTable(state: ScannedTable, bytes: Uint8Array, from: number, stop: number): number {
  const rowMax = state.timeMs.length;
  if (!state.isPairs) return scanFields(state, bytes, from, stop, rowMax);
  let at = from;
  while (at < stop && state.count < rowMax) {
    if (state.fieldRows === 0) at = scanPairsOnly(state, bytes, at, stop);
    const before = state.count;
    at = scanFields(state, bytes, at, stop, Math.min(before + state.fieldRows, rowMax));
    state.fieldRows -= state.count - before;
    // At a row that neither of them takes.
    if (state.fieldRows > 0) break;
  }
  return at;
}

// Reads rows of a time and a short number, and decides how many rows are read as fields before it is tried again: the
// more often it takes only a few, the more.
function scanPairsOnly(state: ScannedTable, bytes: Uint8Array, from: number, stop: number): number {
  const { separator, clock, timeMs, values } = state;
  const taken = scanPairs(bytes, from, stop, separator, clock, timeMs, values[0]!, state.count);
  state.count += taken;
  state.pairsSlowRows = slowRowsAfter(taken >= PAIRS_MIN, state.pairsSlowRows, PAIRS_SLOW_ROWS_MAX);
  state.fieldRows = state.pairsSlowRows;
  return scanned.end;
}

function scanFields(state: ScannedTable, bytes: Uint8Array, from: number, stop: number, rowMax: number): number {
  const { scanner, slots, clock, timeMs, values } = state;
  if (scanner === undefined) return from;
  let at = from;
  while (at < stop && state.count < rowMax) {
    const row = state.count;
    const taken = scanner.scan(bytes, at, stop, rowMax - row, clock);
    if (taken === 0) break;
    for (const [column, slot] of slots.entries()) {
      const out = slot === TIME ? timeMs : values[slot];
      out?.set(scanner.columns[column]!.subarray(0, taken), row);
    }
    state.missing += scanner.missing;
    state.count += taken;
    at = scanner.end;
  }
  return at;
}
