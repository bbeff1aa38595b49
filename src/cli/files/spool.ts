import type { Io } from '../terminal/io.js';
import { type TempFile, type TempFiles, writeAll } from './temp-files.js';

/** Bytes kept until they are wanted: in memory while they are few, then in a file. */
export interface Spool {
  readonly write: (bytes: Uint8Array) => void;
  /** Forgets everything. */
  readonly reset: () => void;
  /** All the bytes in order; each piece is valid until the next is asked for. */
  readonly pieces: () => Iterable<Uint8Array>;
}

const PIECE_BYTES = 1 << 20;

/**
 * @param memoryBytes how much may stay in memory.
 * @param beside a path whose folder has room for the file; the system's temporary folder without it.
 */
export function createSpool(io: Io, temps: TempFiles, memoryBytes: number, beside?: string): Spool {
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  let file: TempFile | undefined;

  function write(bytes: Uint8Array): void {
    if (file === undefined && keptBytes + bytes.length <= memoryBytes) {
      kept.push(bytes.slice());
      keptBytes += bytes.length;
      return;
    }
    file ??= temps.create(beside);
    for (const piece of kept) writeAll(io.fs, file.descriptor, piece, file.label);
    kept = [];
    keptBytes = 0;
    writeAll(io.fs, file.descriptor, bytes, file.label);
  }

  function reset(): void {
    kept = [];
    keptBytes = 0;
    if (file !== undefined) temps.remove(file);
    file = undefined;
  }

  function* pieces(): Iterable<Uint8Array> {
    if (file === undefined) {
      yield* kept;
      return;
    }
    const piece = new Uint8Array(PIECE_BYTES);
    for (let position = 0; ; ) {
      const count = io.fs.readSync(file.descriptor, piece, 0, piece.length, position);
      if (count === 0) return;
      yield piece.subarray(0, count);
      position += count;
    }
  }

  return { write, reset, pieces };
}
