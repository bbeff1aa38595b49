import { EXIT_INTERRUPTED } from '../failure.js';
import { TempFiles } from '../files/temp-files.js';
import type { Interrupt, Io } from './io.js';

/**
 * Does work that writes files. However it ends, by itself, by a failure or by Ctrl-C, no temporary file is left.
 *
 * @returns the exit code.
 */
export async function interruptible(io: Io, work: (temps: TempFiles) => Promise<number>): Promise<number> {
  const temps = new TempFiles(io);
  let stopListening = (): void => undefined;
  const interrupted = new Promise<Interrupt>((resolve) => {
    stopListening = io.onInterrupt(resolve);
  });
  try {
    const ended = await Promise.race([work(temps), interrupted]);
    if (typeof ended === 'number') return ended;
    temps.removeAll();
    // On a terminal the cursor stands behind ^C.
    const lead = io.stderr.isTerminal ? '\n' : '';
    const cause = ended === 'SIGINT' ? 'Ctrl-C' : ended;
    await io.stderr.write(`${lead}windrow: stopped by ${cause}; no file was written\n`);
    return EXIT_INTERRUPTED[ended];
  } finally {
    temps.removeAll();
    stopListening();
  }
}
