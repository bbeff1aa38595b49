// The commands that need nothing but files, as one file to load: most of a short run is loading code.
import { processIo } from './io.js';
import { localCommands } from './local-commands.js';
import { readPlainArguments } from './plain-arguments.js';
import { tellingFailures } from './telling-failures.js';
import type { CrewWorker } from './workers.js';

/**
 * Runs such a command in this process, and gives the exit code; undefined where the words are another's, or need a
 * look at the whole program: help, and mistakes.
 */
export async function startLocal(
  [name = '', ...rest]: readonly string[],
  code: string | URL,
  workers: readonly CrewWorker[],
): Promise<number | undefined> {
  const command = Object.hasOwn(localCommands, name) ? await localCommands[name]?.() : undefined;
  const given = command && readPlainArguments(command, rest);
  if (command === undefined || given === undefined) return undefined;
  const io = processIo(code, workers);
  return tellingFailures(io, () => command.act(given, io));
}
