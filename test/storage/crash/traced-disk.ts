import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

// strace records the system calls by which SQLite reaches the disk. From them a test can build every state that a power
// failure might have left.

type Operation =
  | { readonly kind: 'write'; readonly file: string; readonly bytes: Uint8Array; readonly at: number }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  | { readonly kind: 'sync'; readonly file: string }
  | { readonly kind: 'mark'; readonly file: ''; readonly text: string };

export type Kept = 'none' | 'half' | 'all';

/** Whether programs can be traced here: strace is installed, and the system allows it. */
export const isTraceable = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']).status === 0;

/** What a program did to its files, in order, and what it printed. */
export function readTrace(path: string): Operation[] {
  const operations: Operation[] = [];
  for (const line of readFileSync(path, 'latin1').split('\n')) {
    const operation = readLine(line.replace(/^\d+ +/, ''));
    if (operation !== undefined) operations.push(operation);
  }
  return operations;
}

const CALL = /^(\w+)\((\d+)<([^>]*)>(?:, )?(.*)\) += (-?\d+)/s;

function readLine(line: string): Operation | undefined {
  const found = CALL.exec(line);
  if (found === null) return undefined;
  const [, call = '', descriptor, place = '', rest = '', result] = found;
  const file = basename(bytesOf(place).toString());
  if (call === 'write' && descriptor === '1') return { kind: 'mark', file: '', text: readBytes(rest).toString() };
  if (Number(result) < 0) return undefined;
  if (call === 'pwrite64') {
    const at = Number(rest.slice(rest.lastIndexOf(',') + 1));
    return { kind: 'write', file, bytes: readBytes(rest).subarray(0, Number(result)), at };
  }
  if (call === 'ftruncate') return { kind: 'truncate', file, size: Number(rest) };
  if (call === 'fdatasync' || call === 'fsync') return { kind: 'sync', file };
  return undefined;
}

function readBytes(rest: string): Buffer {
  return bytesOf(rest.slice(1, rest.indexOf('"', 1)));
}

// strace -xx prints each byte as \x2a, in paths too.
function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

/**
 * A file as a power failure after some operations might leave it: what was synced is there; of each later write,
 * `keeps` decides whether nothing, the first half or all of it is.
 */
export function stateOf(file: string, bytes: Buffer, operations: readonly Operation[], keeps: () => Kept): Buffer {
  const done = operations.filter((operation) => operation.file === file);
  const syncedCount = done.map(({ kind }) => kind).lastIndexOf('sync') + 1;
  // All writes go into one piece of memory: copying the file for each took half of the time of the test.
  const room = Buffer.alloc(Math.max(bytes.length, ...done.map(endOf)));
  bytes.copy(room);
  let size = bytes.length;
  for (const [i, operation] of done.entries()) {
    size = apply(room, size, operation, i < syncedCount ? 'all' : keeps());
  }
  return room.subarray(0, size);
}

function endOf(operation: Operation): number {
  if (operation.kind === 'truncate') return operation.size;
  return operation.kind === 'write' ? operation.at + operation.bytes.length : 0;
}

/** @returns the new size of the file; what lies behind it in its memory is 0. */
function apply(room: Buffer, size: number, operation: Operation, kept: Kept): number {
  if (kept === 'none') return size;
  if (operation.kind === 'truncate') {
    room.fill(0, operation.size);
    return operation.size;
  }
  if (operation.kind !== 'write') return size;
  const bytes = kept === 'half' ? operation.bytes.subarray(0, operation.bytes.length >> 1) : operation.bytes;
  room.set(bytes, operation.at);
  return Math.max(size, operation.at + bytes.length);
}
