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

/** The scanner of CSV rows: a module of its own, so that who reads no CSV does not carry it. */
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

/** Where bytes of a CSV file are scanned, and what scans them. */
export interface ScanArea {
  readonly kernels: ScanKernels;
  /** For bytes that lie elsewhere. */
  readonly input: Uint8Array;
  /** For a caller who can read a file to where it is scanned. */
  readonly block: Uint8Array;
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** For rows that were scanned elsewhere, to be checked here. */
  readonly joinedTimes: Float64Array;
  readonly joinedValues: Float64Array;
}

let area: ScanArea | undefined;

/** The area for scanning, or undefined where there is no WebAssembly SIMD. Shared by all readers. */
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
