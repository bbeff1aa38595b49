import { describeFailure, EXIT_DONE, exitCodeOf, isClosedPipe } from './failure.js';
import type { Io } from './io.js';

/** Does the work of a command, tells what went wrong with it, and gives the exit code. */
export async function tellingFailures(io: Io, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (isClosedPipe(error)) return EXIT_DONE;
    await io.stderr.write(`windrow: ${describeFailure(error)}\n`).catch(() => undefined);
    return exitCodeOf(error);
  }
}
