import { existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Linux's file system in memory. */
const MEMORY = '/dev/shm';
const BYTES_MIN = 2 ** 31;

/**
 * A new folder in memory, or a temporary one where that has no room. For stores of tests that are not about the disk:
 * on one, a test waits for each commit, and hundreds of small files are made and deleted slowly.
 */
export function folderInMemory(prefix: string): string {
  const hasRoom = existsSync(MEMORY) && bytesFreeAt(MEMORY) >= BYTES_MIN;
  return mkdtempSync(join(hasRoom ? MEMORY : tmpdir(), prefix));
}

function bytesFreeAt(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
