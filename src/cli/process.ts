import { main } from './command-line.js';
import { commands } from './commands.js';
import { processIo } from './terminal/io.js';

/** Runs any command with the files and streams of this process. @param code of the reading threads */
export function runProcess(words: readonly string[], code: URL): Promise<number> {
  return main(words, processIo(code), commands);
}
