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
import { scanHex } from './scan-module.js';

/** The parser of CSV rows: a module of its own, so that whoever reads no CSV does not load it. */
interface ScanKernels {
  scanRows(
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
  readonly scanEnd: { readonly value: number };
}

/** Where the bytes of a CSV file are parsed, and the kernel that does it. */
export interface ScanArea {
  readonly kernels: ScanKernels;
  /** For bytes that are copied here. */
  readonly input: Uint8Array;
  /** For a caller who can read a file straight into this memory. */
  readonly block: Uint8Array;
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** For rows that another thread has parsed, to be checked here. */
  readonly joinedTimes: Float64Array;
  readonly joinedValues: Float64Array;
}

let area: ScanArea | undefined;

/** The area for parsing, shared by all readers; undefined without WebAssembly SIMD. */
export function scanArea(): ScanArea | undefined {
  if (area === undefined) {
    const { memory } = homeArena();
    // The interface above is the one that assembly/csv.ts exports.
    const kernels = memory === undefined ? undefined : (openModule(scanHex, memory) as ScanKernels | undefined);
    if (memory === undefined || kernels === undefined) return undefined;
    const { buffer } = memory;
    area = {
      kernels,
      input: new Uint8Array(buffer, SCAN_INPUT_FROM, SCAN_INPUT_BYTES),
      block: new Uint8Array(buffer, SCAN_BLOCK_FROM, SCAN_BLOCK_BYTES),
      times: new Float64Array(buffer, SCAN_TIMES_FROM, SCAN_ROWS_MAX),
      values: new Float64Array(buffer, SCAN_VALUES_FROM, SCAN_ROWS_MAX),
      joinedTimes: new Float64Array(buffer, JOINED_TIMES_FROM, SCAN_ROWS_MAX),
      joinedValues: new Float64Array(buffer, JOINED_VALUES_FROM, SCAN_ROWS_MAX),
    };
  }
  return area;
}
