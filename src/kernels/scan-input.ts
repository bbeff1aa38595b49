import type { ScanArea } from './scan-area.js';

/** Where bytes were put last: their address, and how many of them are there. */
export const placed = { address: 0, length: 0 };

/** The bytes that have been copied into the area: `bytes[from..to)`. */
const copied = { bytes: undefined as Uint8Array | undefined, from: 0, to: 0 };

/** Forgets what was copied. Must be called before parsing bytes that may have changed since. */
export function beginScan(): void {
  copied.bytes = undefined;
}

/**
 * Puts `bytes[start..stop)`, or their first part, where kernels can read them, and sets `placed`. Bytes of the area's
 * block are there already. Others are copied, unless enough of them have been: at least `reachBytes`.
 */
export function placeBytes(area: ScanArea, bytes: Uint8Array, start: number, stop: number, reachBytes: number): void {
  const { input } = area;
  if (bytes.buffer === input.buffer) {
    placed.address = bytes.byteOffset + start;
    placed.length = stop - start;
    return;
  }
  const isThere = copied.bytes === bytes && start >= copied.from && start < copied.to;
  if (!isThere || (copied.to !== stop && copied.to - start <= reachBytes)) {
    copied.bytes = bytes;
    copied.from = start;
    copied.to = Math.min(stop, start + input.length);
    input.set(bytes.subarray(start, copied.to));
  }
  placed.address = input.byteOffset + start - copied.from;
  placed.length = copied.to - start;
}
