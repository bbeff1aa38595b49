import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { type OpenLogFile, openLogFile } from '../../src/storage/sqlite/log-file.js';

// node-sqlite3-wasm reaches the disk through the functions of `node:fs`, looked up at each call; so a test can write
// down what it does, and make of it every state that a loss of power might have left.

type Operation =
  | { readonly kind: 'write'; readonly file: string; readonly bytes: Uint8Array; readonly at: number }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  | { readonly kind: 'sync'; readonly file: string }
  | { readonly kind: 'mark'; readonly file: ''; readonly name: string };

export interface RecordedDisk {
  readonly operations: readonly Operation[];
  /** Opens a commit log whose operations are recorded with the others. */
  readonly openLog: OpenLogFile;
  /** Notes that something has happened between two operations. */
  mark(name: string): void;
  stop(): void;
  /**
   * The files as a loss of power after so many operations might leave them: what was synced is there; of what was
   * written since, `keeps` tells what is: nothing of it, the first half of it, or all.
   */
  filesAfter(count: number, keeps: () => 'none' | 'half' | 'all'): Map<string, Buffer>;
}

/** Records what is done to files from now on; those given are there already, and on the disk. */
export function recordDisk(paths: readonly string[]): RecordedDisk {
  const operations: Operation[] = [];
  const before = new Map(paths.map((path) => [basename(path), readFileSync(path)]));
  // The object that CommonJS modules share; `import` has copies of its functions.
  const fs: typeof import('node:fs') = createRequire(import.meta.url)('node:fs');
  const original = { writeSync: fs.writeSync, ftruncateSync: fs.ftruncateSync, fsyncSync: fs.fsyncSync };
  const fileOf = (descriptor: number) => basename(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
  const record = (operation: Operation) => {
    if (before.has(operation.file)) operations.push(operation);
  };
  Object.assign(fs, {
    writeSync: (descriptor: number, buffer: Uint8Array, offset: number, length: number, at: number) => {
      record({ kind: 'write', file: fileOf(descriptor), bytes: buffer.slice(offset, offset + length), at });
      return original.writeSync(descriptor, buffer, offset, length, at);
    },
    ftruncateSync: (descriptor: number, size: number) => {
      record({ kind: 'truncate', file: fileOf(descriptor), size });
      original.ftruncateSync(descriptor, size);
    },
    fsyncSync: (descriptor: number) => {
      record({ kind: 'sync', file: fileOf(descriptor) });
      original.fsyncSync(descriptor);
    },
  });
  return {
    operations,
    openLog: (path) => {
      const log = openLogFile(path);
      const file = basename(path);
      return {
        read: () => log.read(),
        write: (bytes, at) => {
          record({ kind: 'write', file, bytes: bytes.slice(), at });
          log.write(bytes, at);
        },
        sync: async () => {
          await log.sync();
          record({ kind: 'sync', file });
        },
        truncate: () => {
          record({ kind: 'truncate', file, size: 0 });
          log.truncate();
          record({ kind: 'sync', file });
        },
        close: () => log.close(),
      };
    },
    mark: (name) => operations.push({ kind: 'mark', file: '', name }),
    stop: () => Object.assign(fs, original),
    filesAfter: (count, keeps) =>
      new Map([...before].map(([file, bytes]) => [file, stateOf(file, bytes, count, keeps)])),
  };

  function stateOf(file: string, bytes: Buffer, count: number, keeps: () => 'none' | 'half' | 'all'): Buffer {
    const done = operations.slice(0, count).filter((operation) => operation.file === file);
    const syncedCount = done.map(({ kind }) => kind).lastIndexOf('sync') + 1;
    return done.reduce((state, operation, i) => apply(state, operation, i < syncedCount ? 'all' : keeps()), bytes);
  }
}

function apply(state: Buffer, operation: Operation, kept: 'none' | 'half' | 'all'): Buffer {
  if (kept === 'none') return state;
  if (operation.kind === 'truncate') return resized(state, operation.size);
  if (operation.kind !== 'write') return state;
  const bytes = kept === 'half' ? operation.bytes.subarray(0, operation.bytes.length >> 1) : operation.bytes;
  const next = resized(state, Math.max(state.length, operation.at + bytes.length));
  next.set(bytes, operation.at);
  return next;
}

function resized(state: Buffer, size: number): Buffer {
  const next = Buffer.alloc(size);
  state.copy(next, 0, 0, Math.min(size, state.length));
  return next;
}
