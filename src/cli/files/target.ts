import { WindrowError } from '../../core/errors.js';
import { fileFailure } from '../failure.js';
import type { Io } from '../terminal/io.js';
import { type TempFile, type TempFiles, writeAll } from './temp-files.js';

/** Where an output goes in the end: it appears there whole or not at all. */
export interface Target {
  /** A place on the same disk, for temporary files; undefined where the output is no regular file. */
  readonly beside?: string;
  /** Writes at once; only to a regular file, which takes all there is room for. */
  readonly append?: (bytes: Uint8Array) => void;
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Forgets what was written. */
  readonly reset: () => void;
  /** Makes it appear. */
  readonly keep: () => void;
}

/** Opens a path for writing, `-` being standard output, so that what is wrong with it shows before the work starts. */
export function openTarget(path: string, io: Io, temps: TempFiles): Target {
  if (path === '-') return standardOutput(io);
  const existing = existingTarget(path, io);
  if (existing === undefined) return deviceTarget(path, io);
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

// Standard output and its like lead to files of the shell's, which are written to and never replaced.
const DEVICE_FOLDERS = /^\/(dev|proc)\//;

// A link stays a link to the file that is replaced, and a file keeps its permissions; undefined for a device.
function existingTarget(path: string, io: Io): { path: string; mode?: number } | undefined {
  if (DEVICE_FOLDERS.test(path)) return undefined;
  let real: string;
  try {
    real = io.fs.realpathSync(path);
  } catch {
    return { path };
  }
  const stats = io.fs.statSync(real);
  if (stats?.isDirectory()) {
    throw new WindrowError('file.directory', `${path}: is a folder, expected the name of a file to write`);
  }
  if (stats !== undefined && !stats.isFile()) return undefined;
  return stats === undefined ? { path: real } : { path: real, mode: stats.mode & 0o777 };
}

function standardOutput(io: Io): Target {
  return {
    write: async (bytes) => {
      try {
        await io.stdout.write(bytes);
      } catch (error) {
        throw fileFailure(error, 'standard output', 'write');
      }
    },
    reset: () => undefined,
    keep: () => undefined,
  };
}

// A pipe with a name or a device: nothing to rename.
function deviceTarget(path: string, io: Io): Target {
  let descriptor: number;
  try {
    descriptor = io.fs.openSync(path, 'a');
  } catch (error) {
    throw fileFailure(error, path, 'write');
  }
  return {
    write: async (bytes) => writeAll(io.fs, descriptor, bytes, path),
    reset: () => undefined,
    keep: () => io.fs.closeSync(descriptor),
  };
}
