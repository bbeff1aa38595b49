import { fstatSync, writeSync } from 'node:fs';
import type { Outlet } from './io.js';

/**
 * Standard output or standard error. Node's stream for it takes a good part of a short run to load, so it is opened
 * only where it is needed, and what is said on standard error goes without it where nobody sits there.
 */
export function processOutlet(name: 'stdout' | 'stderr'): Outlet {
  const descriptor = name === 'stdout' ? 1 : 2;
  const isPlain = isFileOrPipe(descriptor);
  let opened: NodeJS.WriteStream | undefined;

  function stream(): NodeJS.WriteStream {
    // A failed write is told by its callback; the event would end the process.
    opened ??= process[name].on('error', () => undefined);
    return opened;
  }

  function streamed(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      stream().write(data, (error) => (error ? reject(error) : resolve()));
    });
  }

  return {
    // Results may be more than a pipe takes at once: a stream waits for the reader, and can be interrupted meanwhile.
    write: async (data) => {
      const isWaiting = opened !== undefined || name === 'stdout' || !isPlain;
      const rest = isWaiting ? data : writeNow(descriptor, data);
      if (rest.length > 0) await streamed(rest);
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

/** Writes as much as is taken at once, and gives the rest. */
function writeNow(descriptor: number, data: string | Uint8Array): Uint8Array {
  let rest: Uint8Array = Buffer.from(data);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
  }
  return rest;
}

function isFileOrPipe(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || stats.isFIFO() || stats.isSocket();
  } catch {
    return false; // closed by the caller, or of a kind that the system does not tell
  }
}
