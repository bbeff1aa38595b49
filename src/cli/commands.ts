import type { Command, CommandGroup } from './command.js';
import { localCommands } from './local-commands.js';

/** Every command by its name, in the order of `--help`, loaded when it is needed. */
export const commands: Readonly<Record<string, () => Promise<Command | CommandGroup>>> = {
  ...localCommands,
  serve: async () => (await import('./serve.js')).serve,
  client: async () => (await import('./client.js')).client,
  user: async () => (await import('./user.js')).user,
  collection: async () => (await import('./collection.js')).collection,
};

/** The command that these words begin with, and the words after its name; undefined where there is none. */
export async function findCommand(
  words: readonly string[],
): Promise<{ readonly command: Command; readonly rest: readonly string[] } | undefined> {
  const [name = '', ...rest] = words;
  const found = Object.hasOwn(commands, name) ? await commands[name]?.() : undefined;
  if (found === undefined || !('commands' in found)) return found && { command: found, rest };
  const command = found.commands.find((one) => one.name === `${name} ${rest[0] ?? ''}`);
  return command && { command, rest: rest.slice(1) };
}
