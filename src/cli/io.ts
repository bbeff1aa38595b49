import * as nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import type { Crew } from './scan-crew.js';
import { BYTES_PER_THREAD, THREADS_USUAL } from './thread-count.js';
import type { CrewWorker } from './workers.js';

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

/** What is used of `node:fs`. */
export type FileSystem = Pick<
  typeof nodeFs,
  | 'closeSync'
  | 'createReadStream'
  | 'fstatSync'
  | 'fsyncSync'
  | 'openSync'
  | 'read'
  | 'readdirSync'
  | 'readFileSync'
  | 'readSync'
  | 'realpathSync'
  | 'renameSync'
  | 'rmSync'
  | 'statSync'
  | 'writeSync'
>;

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
 * @param workers threads that were started already.
 */
export function processIo(code: URL, workers: readonly CrewWorker[]): Io {
  return {
    stdin: standardInput,
    stdout: outletOf(process.stdout),
    stderr: outletOf(process.stderr),
    fs: nodeFs,
    tempFolder: tmpdir(),
    clock: () => performance.now(),
    threads: {
      usual: THREADS_USUAL,
      bytesEach: BYTES_PER_THREAD,
      start: async (count) => {
        const { startWorkers } = await import('./workers.js');
        const { createCrew } = await import('./scan-crew.js');
        const more = startWorkers(code, Math.max(0, count - workers.length));
        return createCrew([...workers, ...more].slice(0, count), RANGE_BYTES);
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
    return nodeFs.fstatSync(descriptor).isFile();
  } catch {
    return false; // closed by the caller
  }
}

function outletOf(stream: NodeJS.WriteStream): Outlet {
  // A failed write is told by its callback; the event would end the process.
  stream.on('error', () => undefined);
  return {
    write: (data) =>
      new Promise((resolve, reject) => {
        stream.write(data, (error) => (error ? reject(error) : resolve()));
      }),
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns ?? 80;
    },
    stream,
  };
}
