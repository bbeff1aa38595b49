import { constants, type Stats } from 'node:fs';
import { WindrowError } from '../../core/errors.js';
import { systemCode } from '../../storage/system-code.js';
import { fileFailure } from '../failure.js';
import type { Io } from '../terminal/io.js';
import { placeOf } from './paths.js';
import { type TempFile, type TempFiles, writeAll } from './temp-files.js';

/** Where an output goes. A file appears complete or not at all. */
export interface Target {
  /** A path on the same disk, for temporary files; undefined if the output is not a regular file. */
  readonly beside?: string;
  /** Writes synchronously; only for a regular file. */
  readonly append?: (bytes: Uint8Array) => void;
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Discards what was written. */
  readonly reset: () => void;
  /** Makes it appear. */
  readonly keep: () => void;
}

/** Names of compressed files; what windrow writes could not be read under such a name, not even by itself. */
const PACKED = /\.(?:gz|zst)$/i;

/**
 * Opens a path (`-` is standard output) before the work starts, so that a bad path is reported at once. Waits until
 * somebody reads a named pipe.
 */
export async function openTarget(path: string, io: Io, temps: TempFiles): Promise<Target> {
  if (path === '-') return standardOutput(io);
  const [packing] = PACKED.exec(path) ?? [];
  if (packing !== undefined) {
    const expected = `expected a name without ${packing}, as windrow does not compress what it writes`;
    throw new WindrowError('arguments', `${path}: ${expected}; compress the file afterwards`);
  }
  const existing = existingTarget(path, io);
  if (existing === undefined) return isPipe(path, io) ? pipeTarget(path, io, temps) : deviceTarget(path, io, temps);
  let file: TempFile | undefined = temps.create(existing.path, existing.mode);
  const append = (bytes: Uint8Array): void => {
    if (file === undefined) throw new Error(`assertion failed: ${path} is written after its end`);
    temps.write(file, bytes);
  };
  return {
    beside: existing.path,
    append,
    write: async (bytes) => append(bytes),
    reset: () => {
      if (file !== undefined) temps.remove(file);
      file = temps.create(existing.path, existing.mode);
    },
    keep: () => {
      if (file !== undefined) temps.keep(file, existing.path);
      file = undefined;
    },
  };
}

// `/dev/stdout` and the like lead to files that the shell has opened: they are written to, never replaced.
const DEVICE_FOLDERS = /^\/(dev|proc)\//;

// Replacing a file keeps its permissions, and links to it. Undefined for a device.
function existingTarget(path: string, io: Io): { path: string; mode?: number } | undefined {
  if (DEVICE_FOLDERS.test(path)) return undefined;
  const real = placeOf(path, io);
  const stats = statsOf(real, path, io);
  const problem = stats?.isDirectory() ? 'is a folder' : path.endsWith('/') ? 'ends as a folder does' : undefined;
  if (problem !== undefined) {
    throw new WindrowError('file.directory', `${path}: ${problem}, expected the name of a file to write`);
  }
  if (stats !== undefined && !stats.isFile()) return undefined;
  return stats === undefined ? { path: real } : { path: real, mode: stats.mode & 0o777 };
}

function statsOf(real: string, path: string, io: Io): Stats | undefined {
  try {
    return io.fs.statSync(real, { throwIfNoEntry: false });
  } catch (error) {
    throw fileFailure(error, path, 'write');
  }
}

function standardOutput(io: Io): Target {
  return {
    write: io.stdout.write,
    reset: () => undefined,
    keep: () => undefined,
  };
}

// A device is written to directly.
function deviceTarget(path: string, io: Io, temps: TempFiles): Target {
  const descriptor = openDevice(path, io);
  const close = temps.closeAtEnd(() => io.fs.closeSync(descriptor));
  return {
    write: async (bytes) => writeAll(io.fs, descriptor, bytes, path),
    reset: () => undefined,
    keep: close,
  };
}

function openDevice(path: string, io: Io): number {
  try {
    return io.fs.openSync(path, 'a');
  } catch (error) {
    throw fileFailure(error, path, 'write');
  }
}

function isPipe(path: string, io: Io): boolean {
  return statsOf(path, path, io)?.isFIFO() === true;
}

// A named pipe takes bytes as its reader does. The process sleeps in no call meanwhile, and so hears signals.
async function pipeTarget(path: string, io: Io, temps: TempFiles): Promise<Target> {
  const { Socket } = await import('node:net');
  const pipe = new Socket({ fd: await openOnceRead(path, io, temps), readable: false, writable: true });
  // The callback of a write tells of its failure; without a listener, the event would end the process.
  pipe.on('error', () => undefined);
  const close = temps.closeAtEnd(() => pipe.destroy());
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        pipe.write(bytes, (error) => (error ? reject(fileFailure(error, path, 'write')) : resolve()));
      }),
    reset: () => undefined,
    keep: close,
  };
}

/** How often to look whether somebody reads a pipe: the system does not tell. */
const READER_MS = 20;

async function openOnceRead(path: string, io: Io, temps: TempFiles): Promise<number> {
  for (;;) {
    try {
      return io.fs.openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      // That is, nobody reads it yet.
      if (systemCode(error) !== 'ENXIO') throw fileFailure(error, path, 'write');
    }
    await new Promise((resolve) => setTimeout(resolve, READER_MS));
    if (temps.isOver) throw new Error('the run has ended');
  }
}
