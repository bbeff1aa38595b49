import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const CHUNK = new Uint8Array(256 * 1024);
const PROBE_BYTES_MIN = 2 * 1024 * 1024;
const PROBE_BYTES_MAX = 256 * 1024 * 1024;

/** Whether so many bytes can be written in a directory: tried out, for quotas show in no figure. */
export function hasRoomFor(directory: string, byteCount: number): boolean {
  const path = join(directory, `windrow.probe.${process.pid}`);
  try {
    const file = openSync(path, 'w');
    try {
      const untilBytes = Math.min(PROBE_BYTES_MAX, Math.max(PROBE_BYTES_MIN, byteCount));
      for (let written = 0; written < untilBytes; written += writeSync(file, CHUNK));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'));
  } finally {
    rmSync(path, { force: true });
  }
}
