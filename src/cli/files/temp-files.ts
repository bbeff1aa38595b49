import { basename, dirname, join } from 'node:path';
import { EXIT_INTERRUPTED, fileFailure } from '../failure.js';
import type { FileSystem, Interrupt, Io } from '../terminal/io.js';

/** A temporary file, which may become an output. */
export interface TempFile {
  readonly path: string;
  readonly descriptor: number;
  /** Its name in messages. */
  readonly label: string;
}

/**
 * All temporary files of a run. None is left behind, whatever happens: each is renamed to its final name or, on a
 * failure or a signal, removed. Devices and pipes that the run writes to are closed then.
 */
export class TempFiles {
  readonly #fs: FileSystem;
  readonly #folder: string;
  readonly #files = new Set<TempFile>();
  readonly #open = new Set<() => void>();
  #isOver = false;

  constructor(io: Io) {
    this.#fs = io.fs;
    this.#folder = io.tempFolder;
  }

  /** Creates a file beside its final path, so that renaming it moves no data; else in the system's temporary folder. */
  create(beside: string | undefined, mode?: number): TempFile {
    const label = beside ?? this.#folder;
    const folder = beside === undefined ? this.#folder : dirname(beside);
    const unique = `${process.pid}-${Math.random().toString(36).slice(2)}`;
    const name = `.${beside === undefined ? 'windrow' : startOf(basename(beside))}.${unique}.tmp`;
    const path = join(folder, name);
    if (this.#isOver) throw new Error('assertion failed: a temporary file after the end of the run');
    try {
      const file = { path, descriptor: this.#fs.openSync(path, 'wx+', mode ?? 0o666), label };
      this.#files.add(file);
      // A replaced file keeps its permissions, even those that the umask removes from new files.
      if (mode !== undefined) this.#fs.fchmodSync(file.descriptor, mode);
      return file;
    } catch (error) {
      throw fileFailure(error, label, 'write');
    }
  }

  write(file: TempFile, bytes: Uint8Array): void {
    writeAll(this.#fs, file.descriptor, bytes, file.label);
  }

  /** Syncs the file to disk and renames it to its final path. */
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
      // It was closed before; it must still be removed.
    }
    this.#fs.rmSync(file.path, { force: true });
  }

  /** Has what the run writes to closed at its end. @returns what closes it sooner. */
  closeAtEnd(close: () => void): () => void {
    const closeOnce = (): void => {
      if (this.#open.delete(closeOnce)) close();
    };
    this.#open.add(closeOnce);
    return closeOnce;
  }

  /** Whether the run has ended, by itself or by a signal. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Removes all files that are left, and closes what is open. Nothing can be created or kept after this. */
  removeAll(): void {
    this.#isOver = true;
    for (const file of this.#files) this.remove(file);
    for (const close of this.#open) close();
  }
}

/** As much of a name as leaves room for what makes it another one: file systems take 255 bytes. */
function startOf(name: string): string {
  return Buffer.from(name).toString('utf8', 0, NAME_BYTES_MAX);
}

const NAME_BYTES_MAX = 200;

/** Writes all of the bytes, even if the system takes only some at a time. */
export function writeAll(fs: FileSystem, descriptor: number, bytes: Uint8Array, label: string): void {
  let at = 0;
  try {
    while (at < bytes.length) at += fs.writeSync(descriptor, bytes, at, bytes.length - at);
  } catch (error) {
    throw fileFailure(error, label, 'write');
  }
}

const PIECE_BYTES = 1 << 20;

/** Keeps bytes until they are needed: in memory while they are few, then in a file. */
export class Spool {
  readonly #fs: FileSystem;
  readonly #temps: TempFiles;
  readonly #memoryBytes: number;
  readonly #beside: string | undefined;
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #file: TempFile | undefined;

  /**
   * @param memoryBytes how much may stay in memory.
   * @param beside a path in whose folder to put the file; by default the system's temporary folder.
   */
  constructor(io: Io, temps: TempFiles, memoryBytes: number, beside?: string) {
    this.#fs = io.fs;
    this.#temps = temps;
    this.#memoryBytes = memoryBytes;
    this.#beside = beside;
  }

  readonly write = (bytes: Uint8Array): void => {
    if (this.#file === undefined && this.#keptBytes + bytes.length <= this.#memoryBytes) {
      this.#kept.push(bytes.slice());
      this.#keptBytes += bytes.length;
      return;
    }
    this.#file ??= this.#temps.create(this.#beside);
    for (const piece of this.#kept) this.#temps.write(this.#file, piece);
    this.#forget();
    this.#temps.write(this.#file, bytes);
  };

  reset(): void {
    this.#forget();
    if (this.#file !== undefined) this.#temps.remove(this.#file);
    this.#file = undefined;
  }

  /** All bytes in order. Each piece is valid until the next one is requested. */
  *pieces(): Iterable<Uint8Array> {
    if (this.#file === undefined) {
      yield* this.#kept;
      return;
    }
    const piece = new Uint8Array(PIECE_BYTES);
    for (let position = 0; ; ) {
      const count = this.#fs.readSync(this.#file.descriptor, piece, 0, piece.length, position);
      if (count === 0) return;
      yield piece.subarray(0, count);
      position += count;
    }
  }

  #forget(): void {
    this.#kept = [];
    this.#keptBytes = 0;
  }
}

/**
 * Does work that writes files, and leaves no temporary file behind even if it fails or is stopped by a signal.
 *
 * @returns the exit code.
 */
export async function withTempFiles(io: Io, work: (temps: TempFiles) => Promise<number>): Promise<number> {
  const temps = new TempFiles(io);
  try {
    return await untilStopped(
      io,
      () => work(temps),
      () => temps.removeAll(),
    );
  } finally {
    temps.removeAll();
  }
}

/**
 * Does work that gives files their names only once they are whole.
 *
 * @param remove what is not whole yet, called when a signal stops it.
 * @returns the exit code.
 */
export async function untilStopped(
  io: Io,
  work: () => Promise<number>,
  remove: () => void | Promise<void>,
): Promise<number> {
  let stopListening = (): void => undefined;
  const interrupted = new Promise<Interrupt>((resolve) => {
    stopListening = io.onInterrupt(resolve);
  });
  try {
    const ended = await Promise.race([work(), interrupted]);
    if (typeof ended === 'number') return ended;
    await remove();
    // On a terminal the cursor is after ^C.
    const lead = io.stderr.isTerminal ? '\n' : '';
    const cause = ended === 'SIGINT' ? 'Ctrl-C' : ended;
    const message = `${lead}windrow: stopped by ${cause}; no file was written\n`;
    await io.stderr.write(message).catch(() => undefined);
    return EXIT_INTERRUPTED[ended];
  } finally {
    stopListening();
  }
}
