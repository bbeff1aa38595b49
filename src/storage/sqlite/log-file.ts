import { closeSync, fdatasync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

/** The file of the commit log: an edge at which storage touches the world, as `Database` is one. */
export interface LogFile {
  /** All that it holds. */
  read(): Uint8Array;
  write(bytes: Uint8Array, at: number): void;
  /** Resolves once what was written is on the disk; others have the thread until then. */
  sync(): Promise<void>;
  /** Leaves nothing in it, and that is on the disk. */
  truncate(): void;
  close(): void;
}

/** Opens a file, made when it is not there. */
export type OpenLogFile = (path: string) => LogFile;

export function openLogFile(path: string): LogFile {
  const file = openSync(path, 'a+', 0o600);
  closeSync(file);
  // Only now: of a file that is open for appending, all writes go to its end.
  return new NodeLogFile(openSync(path, 'r+'));
}

class NodeLogFile implements LogFile {
  readonly #file: number;

  constructor(file: number) {
    this.#file = file;
  }

  read(): Uint8Array {
    const bytes = new Uint8Array(fstatSync(this.#file).size);
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(this.#file, bytes, at, bytes.length - at, at);
      if (count === 0) return bytes.subarray(0, at);
      at += count;
    }
    return bytes;
  }

  write(bytes: Uint8Array, at: number): void {
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(this.#file, bytes, written, bytes.length - written, at + written);
    }
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#file, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  truncate(): void {
    ftruncateSync(this.#file);
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}
