import { WindrowError } from '../core/errors.js';
import { findCommand } from './commands.js';
import type { Io } from './io.js';
import { readPlainArguments } from './plain-arguments.js';
import { tellingFailures } from './telling-failures.js';

/** Runs the command of these words (those after `windrow`), tells what went wrong, and gives the exit code. */
export function main(words: readonly string[], io: Io): Promise<number> {
  return tellingFailures(io, async () => {
    const found = await findCommand(words);
    const given = found && readPlainArguments(found.command, found.rest);
    if (found !== undefined && given !== undefined) return found.command.act(given, io);
    const { runProgram } = await loadProgram();
    return runProgram(words, io);
  });
}

async function loadProgram(): Promise<typeof import('./program.js')> {
  try {
    return await import('./program.js');
  } catch (error) {
    const hint = 'it was left out with --omit=optional; `npm install commander` brings it back';
    throw new WindrowError('arguments', `help and messages need the package commander: ${hint}`, { cause: error });
  }
}
