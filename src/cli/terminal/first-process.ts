import { constants } from 'node:os';

/** What a process has that hears signals. */
interface Hearing {
  readonly pid: number;
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  listenerCount(signal: NodeJS.Signals): number;
  exit(code: number): void;
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Ends the first process of a container by signals that end any other. Linux lets it ignore those for which it has no
 * listener of its own: a stop while it starts, say, or the second one.
 */
export function endAsOtherProcesses(process: Hearing): void {
  if (process.pid !== 1) return;
  for (const signal of ENDING) {
    process.on(signal, () => {
      // Whoever listens besides decides what the signal means.
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
    });
  }
}
