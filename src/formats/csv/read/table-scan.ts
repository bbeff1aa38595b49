import type { FieldKind, FieldScanner } from '../../../kernels/scan-fields.js';
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

/** Parses rows in WebAssembly until the chunk is full, and returns the place of the first row that it leaves. */
export function scanTable(state: ScannedTable, bytes: Uint8Array, from: number, stop: number): number {
  const { scanner, slots, clock, timeMs, values } = state;
  if (scanner === undefined) return from;
  let at = from;
  while (at < stop && state.count < timeMs.length) {
    const row = state.count;
    const taken = scanner.scan(bytes, at, stop, timeMs.length - row, clock, clock.zone === undefined);
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
