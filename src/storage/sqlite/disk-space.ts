import { randomFillSync } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from './database.js';

const CHUNK_BYTES = 1024 * 1024;

/**
 * Room on the disk that is kept back in a file of its own. When the disk is full it is given up, so that what is small
 * (tokens) and what frees room (deletions, compaction) goes on; when it can be taken again there is room for all.
 */
export class Reserve {
  readonly #path: string;
  readonly #byteCount: number;
  #isHeld: boolean;

  constructor(directory: string, byteCount: number) {
    this.#path = join(directory, 'windrow.reserve');
    this.#byteCount = byteCount;
    this.#isHeld = this.#isWhole() || this.take();
  }

  /** False while the disk is full. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Gives the room up; false where none is kept. */
  release(): boolean {
    if (this.#byteCount === 0) return false;
    this.#isHeld = false;
    this.#empty();
    return true;
  }

  /** Takes the room again; false where there is not as much. */
  take(): boolean {
    this.#isHeld = this.#byteCount === 0 || this.#fill();
    return this.#isHeld;
  }

  #isWhole(): boolean {
    return (statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) >= this.#byteCount;
  }

  #fill(): boolean {
    try {
      const file = openSync(this.#path, 'w', 0o600);
      try {
        // Random, so that no file system keeps it as next to nothing.
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

  #empty(): void {
    try {
      truncateSync(this.#path);
    } catch {
      // What it held back is not there to be given up.
    }
  }
}

function writeWhole(file: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

// Pages of deleted rows are used again by new ones. What a store keeps beyond that is given back to the disk.
const FREE_PAGES_MIN = 1024;
const FREE_SHARE_MAX = 0.2;
const STEP_PAGES = 256;

/** Whether much of the file is free; while the disk is full, whether anything is. */
export function isTrimDue(database: Database, isFull: boolean): boolean {
  const freePages = Number(database.all('PRAGMA freelist_count')[0]?.freelist_count);
  if (isFull) return freePages > 0;
  if (freePages < FREE_PAGES_MIN) return false;
  return freePages > FREE_SHARE_MAX * Number(database.all('PRAGMA page_count')[0]?.page_count);
}

/** Shortens the file by some free pages: few, so that nobody waits for it long. */
export function trim(database: Database): void {
  database.all(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
}
