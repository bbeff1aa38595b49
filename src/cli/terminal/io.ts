import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { RangePool } from '../../formats/csv/threaded/pool.js';
import { fileFailure } from '../failure.js';
import { askHidden } from './ask-hidden.js';
import { printable } from './printable.js';

/** The part of `node:fs` that commands use. */
export type FileSystem = Pick<
  typeof fs,
  | 'closeSync'
  | 'createReadStream'
  | 'fstatSync'
  | 'fsyncSync'
  | 'fchmodSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readdirSync'
  | 'readFileSync'
  | 'readSync'
  | 'readlinkSync'
  | 'realpathSync'
  | 'renameSync'
  | 'rmSync'
  | 'statSync'
  | 'writeSync'
>;

/** All that a command uses of the outside world, so that tests can replace it. */
export interface Io {
  readonly stdin: () => Input;
  readonly stdout: Outlet;
  readonly stderr: Outlet;
  readonly fs: FileSystem;
  readonly tempFolder: string;
  /** Environment variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A clock in milliseconds that never runs backwards. */
  readonly clock: () => number;
  readonly threads: Threads;
  /** Calls `listener` on each signal that ends a command; returns a function that stops listening. */
  readonly onInterrupt: (listener: (signal: Interrupt) => void) => () => void;
}

/** The threads that a run may use. */
export interface Threads {
  /** The number of threads without --threads. */
  readonly usual: number;
  /** How many bytes of input make a thread worthwhile. */
  readonly bytesEach: number;
  /** How many bytes a thread reads at a time. */
  readonly rangeBytes: number;
  readonly open: (count: number) => Promise<RangePool>;
}

/**
 * Threads of a run without --threads. More take a third more CPU time and are faster only when cores are idle, which
 * the user knows.
 */
const THREADS_USUAL = 1;

/** How many bytes of input make a thread worthwhile. */
const BYTES_PER_THREAD = 16 << 20;

/** SIGHUP: the terminal was closed, and takes no more text. */
export type Interrupt = (typeof INTERRUPTS)[number];

const INTERRUPTS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** Standard input: its bytes as they come, or the file that it was redirected from. */
export interface Input {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The descriptor, if it is a regular file, which can be read again from its start. */
  readonly fileDescriptor: number | undefined;
  readonly isTerminal: boolean;
  /** Asks for a line at the terminal, without echo; absent without a terminal. */
  readonly askHidden?: (question: string) => Promise<string>;
}

export interface Outlet {
  /**
   * Writes bytes as they are, and text with its control characters made `printable`. Resolves once all is written;
   * rejects if the reader has gone.
   */
  readonly write: (data: string | Uint8Array) => Promise<void>;
  readonly isTerminal: boolean;
  /** The width in characters. */
  readonly columns: number;
  /** The stream that a progress bar draws on. */
  readonly stream?: NodeJS.WriteStream;
}

/**
 * The input and output of this process.
 *
 * @param code where the code of its threads is.
 */
export function processIo(code: URL): Io {
  return {
    stdin: standardInput,
    stdout: processOutlet('stdout'),
    stderr: processOutlet('stderr'),
    fs,
    tempFolder: tmpdir(),
    environment: process.env,
    // Not `performance`, which takes Node two milliseconds to load.
    clock: () => Number(process.hrtime.bigint()) / 1e6,
    threads: {
      usual: THREADS_USUAL,
      bytesEach: BYTES_PER_THREAD,
      rangeBytes: 2 << 20,
      open: (count) => RangePool.open(code, count),
    },
    onInterrupt: (listener) => {
      for (const signal of INTERRUPTS) process.on(signal, listener);
      return () => {
        for (const signal of INTERRUPTS) process.off(signal, listener);
      };
    },
  };
}

function standardInput(): Input {
  return {
    // A getter, because reading process.stdin opens it.
    get bytes() {
      return process.stdin;
    },
    fileDescriptor: isRegularFile(0) ? 0 : undefined,
    isTerminal: process.stdin.isTTY === true,
    ...(process.stdin.isTTY === true ? { askHidden: askAtTerminal } : {}),
  };
}

function askAtTerminal(question: string): Promise<string> {
  return askHidden(question, process.stdin, process.stderr);
}

function isRegularFile(descriptor: number): boolean {
  try {
    return fs.fstatSync(descriptor).isFile();
  } catch {
    return false; // closed by the caller
  }
}

/**
 * Standard output or standard error. Loading Node's stream for it takes a good part of a short run, so it is opened
 * only when needed: messages to standard error are written without it if that is a file or a pipe.
 */
function processOutlet(name: 'stdout' | 'stderr'): Outlet {
  const descriptor = name === 'stdout' ? 1 : 2;
  const isPlain = isFileOrPipe(descriptor);
  let opened: NodeJS.WriteStream | undefined;

  function stream(): NodeJS.WriteStream {
    // The callback reports a failed write; without a listener, the event would end the process.
    opened ??= process[name].on('error', () => undefined);
    return opened;
  }

  function streamed(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      stream().write(data, (error) => (error ? reject(error) : resolve()));
    });
  }

  return {
    // A pipe may not take all results at once. A stream waits for the reader, and can be interrupted meanwhile.
    write: async (data) => {
      const isWaiting = opened !== undefined || name === 'stdout' || !isPlain;
      try {
        const bytes = typeof data === 'string' ? printable(data) : data;
        const rest = isWaiting ? bytes : writeNow(descriptor, bytes);
        if (rest.length > 0) await streamed(rest);
      } catch (error) {
        throw fileFailure(error, name === 'stdout' ? 'standard output' : 'standard error', 'write');
      }
    },
    get isTerminal() {
      return !isPlain && stream().isTTY === true;
    },
    get columns() {
      return stream().columns ?? 80;
    },
    get stream() {
      return stream();
    },
  };
}

/** Writes as much as the descriptor takes at once; returns the rest. */
function writeNow(descriptor: number, data: string | Uint8Array): Uint8Array {
  let rest: Uint8Array = Buffer.from(data);
  try {
    while (rest.length > 0) rest = rest.subarray(fs.writeSync(descriptor, rest));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
  return rest;
}

function isFileOrPipe(descriptor: number): boolean {
  try {
    const stats = fs.fstatSync(descriptor);
    return stats.isFile() || stats.isFIFO() || stats.isSocket();
  } catch {
    return false; // closed by the caller, or of an unknown kind
  }
}
