import { main } from './command-line.js';
import { processIo } from './io.js';
import type { CrewWorker } from './workers.js';

/**
 * Runs the command in this process, and gives the exit code.
 *
 * @param code where the code of its threads lies.
 * @param workers threads that were started already.
 */
export function start(words: readonly string[], code: string | URL, workers: readonly CrewWorker[]): Promise<number> {
  return main(words, processIo(code, workers));
}
