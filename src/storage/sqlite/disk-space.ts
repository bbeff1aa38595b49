import { spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, statfsSync, statSync, truncateSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Database } from './database.js';

const CHUNK_BYTES = 1024 * 1024;

/**
 * Disk space reserved in a file. When the disk is full, the file is emptied, so that small writes (tokens) and those
 * that free space (deletions, compaction) still work; once the space can be reserved again, all writes do.
 */
export class Reserve {
  readonly #directory: string;
  readonly #path: string;
  readonly #byteCount: number;
  #isHeld: boolean;

  constructor(directory: string, byteCount: number) {
    this.#directory = directory;
    this.#path = join(directory, RESERVE);
    this.#byteCount = byteCount;
    this.#isHeld = this.take();
  }

  /** What the disk must have room for, in words. */
  get description(): string {
    return `the ${this.#byteCount / 1024 / 1024} MiB of ${RESERVE}`;
  }

  /** False while the disk is full. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Frees the space; false if none is reserved. */
  release(): boolean {
    if (this.#byteCount === 0) return false;
    this.#isHeld = false;
    emptyReserve(this.#directory);
    return true;
  }

  /** Reserves the space where it is not; false if there is not enough. */
  take(): boolean {
    this.#isHeld = this.#byteCount === 0 || this.#isWhole() || this.#fill();
    return this.#isHeld;
  }

  #isWhole(): boolean {
    return (statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) >= this.#byteCount;
  }

  #fill(): boolean {
    try {
      const file = openSync(this.#path, 'w', 0o600);
      try {
        // Random bytes, which no file system can compress.
        const chunk = randomFillSync(new Uint8Array(Math.min(CHUNK_BYTES, this.#byteCount)));
        for (let at = 0; at < this.#byteCount; at += chunk.length) writeWhole(file, chunk, at);
      } catch {
        ftruncateSync(file);
        return false;
      } finally {
        closeSync(file);
      }
      return true;
    } catch {
      return false;
    }
  }
}

const RESERVE = 'windrow.reserve';

/** Frees the space that is reserved in a directory. */
export function emptyReserve(directory: string): void {
  try {
    truncateSync(join(directory, RESERVE));
  } catch {
    // There is nothing to free.
  }
}

function writeWhole(file: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

// New rows reuse the pages of deleted ones. What exceeds these limits is returned to the file system.
const FREE_PAGES_MIN = 1024;
const FREE_SHARE_MAX = 0.2;
const STEP_PAGES = 256;

/** Whether many pages are free; while the disk is full, whether any are. */
export function isTrimDue(database: Database, isFull: boolean): boolean {
  const freePages = Number(database.all('PRAGMA freelist_count')[0]?.freelist_count);
  if (isFull) return freePages > 0;
  if (freePages < FREE_PAGES_MIN) return false;
  return freePages > FREE_SHARE_MAX * Number(database.all('PRAGMA page_count')[0]?.page_count);
}

/** Shortens the file by some free pages, few, so that nobody waits for long. */
export function trim(database: Database): void {
  database.all(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
}

/** The type of file system that statfs(2) gives for btrfs. */
const BTRFS = 0x9123683e;

/**
 * SQLite maps the index of the write-ahead log into memory. btrfs writes a changed page to a new place, and if there is
 * none, the system ends the process (SIGBUS). So the index is created as a file whose pages stay where they are.
 */
export function keepIndexInPlace(path: string): void {
  if (statfsSync(dirname(path)).type !== BTRFS) return;
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It exists, and chattr takes only empty files.
    return;
  }
  spawnSync('chattr', ['+C', path], { stdio: 'ignore' });
}
