import * as nodeFs from 'node:fs';
import { tmpdir } from 'node:os';

/** All that a command touches of the world outside, so that tests can hold it. */
export interface Io {
  readonly stdin: () => Input;
  readonly stdout: Outlet;
  readonly stderr: Outlet;
  readonly fs: FileSystem;
  readonly tempFolder: string;
  /** A clock in milliseconds that never runs backwards. */
  readonly clock: () => number;
  /** Calls `listener` on Ctrl-C and on being asked to end; gives a function that stops listening. */
  readonly onInterrupt: (listener: (signal: Interrupt) => void) => () => void;
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

/** The process's own. */
export function processIo(): Io {
  return {
    stdin: standardInput,
    stdout: outletOf(process.stdout),
    stderr: outletOf(process.stderr),
    fs: nodeFs,
    tempFolder: tmpdir(),
    clock: () => performance.now(),
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
  };
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
