import { WindrowError } from '../core/errors.js';
import { findCommand } from './commands.js';
import { describeFailure, EXIT_DONE, exitCodeOf, isClosedPipe } from './failure.js';
import type { Io } from './io.js';
import { readPlainArguments } from './plain-arguments.js';

/** Runs the command of these words (those after `windrow`), tells what went wrong, and gives the exit code. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  try {
    const found = await findCommand(words);
    const given = found && readPlainArguments(found.command, found.rest);
    if (found !== undefined && given !== undefined) return await found.command.act(given, io);
    const { runProgram } = await loadProgram();
    return await runProgram(words, io);
  } catch (error) {
    if (isClosedPipe(error)) return EXIT_DONE;
    await io.stderr.write(`windrow: ${describeFailure(error)}\n`).catch(() => undefined);
    return exitCodeOf(error);
  }
}

async function loadProgram(): Promise<typeof import('./program.js')> {
  try {
    return await import('./program.js');
  } catch (error) {
    const hint = 'it was left out with --omit=optional; `npm install commander` brings it back';
    throw new WindrowError('arguments', `help and messages need the package commander: ${hint}`, { cause: error });
  }
}
