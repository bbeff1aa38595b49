import { homeArena } from './arena.js';
import {
  JOINED_TIMES_FROM,
  JOINED_VALUES_FROM,
  SCAN_BLOCK_BYTES,
  SCAN_BLOCK_FROM,
  SCAN_INPUT_BYTES,
  SCAN_INPUT_FROM,
  SCAN_ROWS_MAX,
  SCAN_TIMES_FROM,
  SCAN_VALUES_FROM,
} from './memory-layout.js';
import { openModule } from './open-module.js';
import { scanText } from './scan-module.js';

/** The parsers of CSV rows: a module of its own, so that programs without CSV need not load it. */
interface ScanKernels {
  scanPairs(
    bytes: number,
    length: number,
    rowMax: number,
    separator: number,
    date: bigint,
    dateEnd: number,
    utcMs: number,
    localMs: number,
    isUtc: number,
    times: number,
    values: number,
  ): number;
  readonly pairsEnd: { readonly value: number };
  scanFields(
    bytes: number,
    length: number,
    rowMax: number,
    separator: number,
    columns: number,
    columnCount: number,
    ends: number,
    date: bigint,
    dateEnd: number,
    utcMs: number,
    localMs: number,
    isUtc: number,
  ): number;
  readonly fieldsEnd: { readonly value: number };
  readonly missingCount: { readonly value: number };
  clearNames(table: number, slotCount: number): void;
  addName(table: number, length: number): void;
}

/** Where the bytes of a CSV file are parsed, and the kernels that do it. */
export type ScanArea = NonNullable<ReturnType<typeof openArea>>;

let area: ScanArea | undefined;

/** The area for parsing, shared by all readers; undefined without WebAssembly SIMD. */
export function scanArea(): ScanArea | undefined {
  area ??= openArea();
  return area;
}

function openArea() {
  const { memory } = homeArena();
  // The interface above is the one that assembly/csv.ts exports.
  const kernels = memory === undefined ? undefined : (openModule(scanText, memory) as ScanKernels | undefined);
  if (memory === undefined || kernels === undefined) return undefined;
  const { buffer } = memory;
  const column = (from: number): Float64Array => new Float64Array(buffer, from, SCAN_ROWS_MAX);
  return {
    kernels,
    /** For bytes that are copied into this memory. */
    input: new Uint8Array(buffer, SCAN_INPUT_FROM, SCAN_INPUT_BYTES),
    /** For a caller who can read a file straight into this memory. */
    block: new Uint8Array(buffer, SCAN_BLOCK_FROM, SCAN_BLOCK_BYTES),
    times: column(SCAN_TIMES_FROM),
    values: column(SCAN_VALUES_FROM),
    /** For rows that other threads have parsed. */
    joinedTimes: column(JOINED_TIMES_FROM),
    joinedValues: column(JOINED_VALUES_FROM),
  };
}
