import { basename, dirname, join } from 'node:path';
import { fileFailure } from '../failure.js';
import type { FileSystem, Io } from '../terminal/io.js';

/** A file that is not yet what it shall be. */
export interface TempFile {
  readonly path: string;
  readonly descriptor: number;
  /** What messages call it. */
  readonly label: string;
}

/**
 * Every temporary file of a run. Whatever happens, none is left: they are renamed to what they shall be, or
 * removed, on each failure and each signal.
 */
export class TempFiles {
  readonly #fs: FileSystem;
  readonly #folder: string;
  readonly #files = new Set<TempFile>();
  #isOver = false;

  constructor(io: Io) {
    this.#fs = io.fs;
    this.#folder = io.tempFolder;
  }

  /** A new file beside the one that it stands for, so that renaming it moves no data; or in the system's folder. */
  create(beside: string | undefined, mode = 0o666): TempFile {
    const label = beside ?? this.#folder;
    const folder = beside === undefined ? this.#folder : dirname(beside);
    const unique = `${process.pid}-${Math.random().toString(36).slice(2)}`;
    const name = `.${beside === undefined ? 'windrow' : basename(beside)}.${unique}.tmp`;
    const path = join(folder, name);
    if (this.#isOver) throw new Error('assertion failed: a temporary file after the end of the run');
    try {
      const file = { path, descriptor: this.#fs.openSync(path, 'wx+', mode), label };
      this.#files.add(file);
      return file;
    } catch (error) {
      throw fileFailure(error, label, 'write');
    }
  }

  write(file: TempFile, bytes: Uint8Array): void {
    writeAll(this.#fs, file.descriptor, bytes, file.label);
  }

  /** Brings the data to the disk, and the file to its name. */
  keep(file: TempFile, path: string): void {
    if (this.#isOver) throw new Error('assertion failed: a file is kept after the end of the run');
    try {
      this.#fs.fsyncSync(file.descriptor);
      this.#fs.closeSync(file.descriptor);
      this.#fs.renameSync(file.path, path);
      this.#files.delete(file);
    } catch (error) {
      throw fileFailure(error, file.label, 'write');
    }
  }

  remove(file: TempFile): void {
    if (!this.#files.delete(file)) return;
    try {
      this.#fs.closeSync(file.descriptor);
    } catch {
      // Closed before: what matters is that the file goes.
    }
    this.#fs.rmSync(file.path, { force: true });
  }

  /** Removes all that is left; nothing more can be created or kept. */
  removeAll(): void {
    this.#isOver = true;
    for (const file of this.#files) this.remove(file);
  }
}

/** Writes all of the bytes, however often the system takes only some. */
export function writeAll(fs: FileSystem, descriptor: number, bytes: Uint8Array, label: string): void {
  let at = 0;
  try {
    while (at < bytes.length) at += fs.writeSync(descriptor, bytes, at, bytes.length - at);
  } catch (error) {
    throw fileFailure(error, label, 'write');
  }
}
