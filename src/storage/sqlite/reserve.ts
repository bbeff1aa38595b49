import { randomFillSync } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';

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
