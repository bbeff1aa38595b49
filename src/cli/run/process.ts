import { main } from '../command-line.js';
import { processIo } from '../terminal/io.js';
import { run } from './run.js';

/** Runs `windrow run`, which has a bundle of its own because that starts sooner than one shared with other commands. */
export function runProcess(words: readonly string[], code: URL): Promise<number> {
  return main(words, processIo(code), { run: async () => run });
}
