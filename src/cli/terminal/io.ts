import {
  closeSync,
  createReadStream,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { BYTES_PER_THREAD, THREADS_USUAL } from '../run/thread-count.js';
import type { Crew } from '../scan-crew.js';
import { processOutlet } from './outlet.js';

// One by one: all of `node:fs` as one name is a copy of it in a bundle, and loads its promises too.
const fs = {
  closeSync,
  createReadStream,
  fstatSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
};

/** What is used of `node:fs`. */
export type FileSystem = Readonly<typeof fs>;

/** All that a command touches of the world outside, so that tests can hold it. */
export interface Io {
  readonly stdin: () => Input;
  readonly stdout: Outlet;
  readonly stderr: Outlet;
  readonly fs: FileSystem;
  readonly tempFolder: string;
  /** A clock in milliseconds that never runs backwards. */
  readonly clock: () => number;
  readonly threads: Threads;
  /** Calls `listener` on Ctrl-C and on being asked to end; gives a function that stops listening. */
  readonly onInterrupt: (listener: (signal: Interrupt) => void) => () => void;
}

/** The threads that a run may use. */
export interface Threads {
  /** How many when nobody says. */
  readonly usual: number;
  /** Bytes to read for each that is worth its start. */
  readonly bytesEach: number;
  /** Starts some beside the main one. */
  readonly start: (count: number) => Promise<Crew>;
}

export type Interrupt = 'SIGINT' | 'SIGTERM';

/** Standard input: its bytes as they come, or the file that it was redirected from. */
export interface Input {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The descriptor, where it is a regular file that can be read again from its start. */
  readonly fileDescriptor: number | undefined;
  readonly isTerminal: boolean;
  /** Asks whoever sits at the terminal for a line, which is not shown; absent where there is none. */
  readonly askHidden?: (question: string) => Promise<string>;
}

export interface Outlet {
  /** Resolves once the data has been handed on; rejects when nobody can take it any more. */
  readonly write: (data: string | Uint8Array) => Promise<void>;
  readonly isTerminal: boolean;
  /** Characters in a line. */
  readonly columns: number;
  /** What a progress bar draws on. */
  readonly stream?: NodeJS.WriteStream;
}

const RANGE_BYTES = 2 << 20;

/**
 * The process's own.
 *
 * @param code where the code of its threads lies.
 */
export function processIo(code: URL): Io {
  return {
    stdin: standardInput,
    stdout: processOutlet('stdout'),
    stderr: processOutlet('stderr'),
    fs,
    tempFolder: tmpdir(),
    // Not `performance`, which Node loads when it is first asked: two milliseconds.
    clock: () => Number(process.hrtime.bigint()) / 1e6,
    threads: {
      usual: THREADS_USUAL,
      bytesEach: BYTES_PER_THREAD,
      start: async (count) => {
        const { startWorkers } = await import('../workers.js');
        const { createCrew } = await import('../scan-crew.js');
        return createCrew(startWorkers(code, count), RANGE_BYTES);
      },
    },
    onInterrupt: (listener) => {
      process.on('SIGINT', listener).on('SIGTERM', listener);
      return () => process.off('SIGINT', listener).off('SIGTERM', listener);
    },
  };
}

function standardInput(): Input {
  return {
    // A getter, because to touch process.stdin opens it.
    get bytes() {
      return process.stdin;
    },
    fileDescriptor: isRegularFile(0) ? 0 : undefined,
    isTerminal: process.stdin.isTTY === true,
    ...(process.stdin.isTTY === true ? { askHidden: askAtTerminal } : {}),
  };
}

async function askAtTerminal(question: string): Promise<string> {
  const { askHidden } = await import('./ask-hidden.js');
  return askHidden(question, process.stdin, process.stderr);
}

function isRegularFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    return false; // closed by the caller
  }
}
