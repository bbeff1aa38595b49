import { openSync, readSync } from 'node:fs';
import { StorageError } from '../errors.js';
import { SqliteFailure } from './database.js';

const CHUNK_BYTES = 1024 * 1024;

/**
 * The error to tell instead, if the disk is to blame: SQLite calls a page damaged that the disk cannot read (EIO), and
 * a whole file would be given up.
 *
 * @param path the file of the store.
 * @param mend what to do about it, after `check the disk and the system log`.
 */
export function unlessUnreadable(error: unknown, path: string, mend: string): unknown {
  const isOfSqlite = error instanceof SqliteFailure && (error.kind === 'damaged' || error.kind === 'io');
  const mayBe = isOfSqlite || (error instanceof StorageError && error.code === 'storage.damaged');
  return (mayBe && findUnreadable(path, mend, error)) || error;
}

/** Reads the file of a store and its write-ahead log to their ends: an error if the disk fails meanwhile. */
export function findUnreadable(path: string, mend: string, cause?: unknown): StorageError | undefined {
  for (const file of [path, `${path}-wal`]) {
    const code = readFailure(file);
    if (code === undefined) continue;
    const message = `${file}: the disk cannot read it (${code}); check the disk and the system log${mend}`;
    return new StorageError('storage.failed', message, { cause });
  }
  return undefined;
}

/**
 * The code of the system's error; undefined if the file can be read to its end, or cannot be opened. Its descriptor
 * stays open, for to close one ends the locks that SQLite may hold on the file for another store of this process.
 */
function readFailure(file: string): string | undefined {
  const chunk = new Uint8Array(CHUNK_BYTES);
  try {
    const descriptor = openSync(file, 'r');
    for (let at = 0, count = 1; count > 0; at += count) count = readSync(descriptor, chunk, 0, chunk.length, at);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    // A file that is not there, or that this user may not read, is no matter of the disk.
    return error.syscall === 'read' || error.code === 'EIO' ? String(error.code) : undefined;
  }
}
