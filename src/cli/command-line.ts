import { Command as CommanderCommand, CommanderError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { WindrowError } from '../core/errors.js';
import { type Command, type CommandGroup, type Given, lacking } from './command.js';
import { describeFailure, EXIT_DONE, EXIT_WRONG, exitCodeOf, isClosedPipe } from './failure.js';
import type { Io } from './terminal/io.js';

/** Commands by their names, in the order of `--help`, each loaded when it is needed. */
export type Commands = Readonly<Record<string, () => Promise<Command | CommandGroup>>>;

const EXIT_CODES = `
Exit codes:
  0  done
  1  failed while running
  2  the request or the arguments are wrong

Run \`windrow <command> --help\` for details and examples.`;

/** Runs the command given by the words after `windrow`, reports what went wrong, and returns the exit code. */
export async function main(words: readonly string[], io: Io, commands: Commands): Promise<number> {
  try {
    const chosen = await readWords(words, io, commands);
    return typeof chosen === 'number' ? chosen : await chosen.command.act(chosen.given, io);
  } catch (error) {
    if (isClosedPipe(error)) return EXIT_DONE;
    await io.stderr.write(`windrow: ${describeFailure(error)}\n`).catch(() => undefined);
    return exitCodeOf(error);
  }
}

interface Chosen {
  readonly command: Command;
  readonly given: Given;
}

// The command and what was given to it; the exit code if help or an error message was the answer.
async function readWords(words: readonly string[], io: Io, commands: Commands): Promise<Chosen | number> {
  let chosen: Chosen | undefined;
  const written: Promise<void>[] = [];
  const program = createProgram(io, written);
  const [name = '', topic] = words;
  // Help and mistakes need all commands, others only the one that is named.
  const needed = Object.hasOwn(commands, name) ? [commands[name]] : Object.values(commands);
  for (const load of needed) {
    const found = await load?.();
    if (found === undefined) continue;
    const isGroup = 'commands' in found;
    const parent = isGroup ? addGroup(program, found) : program;
    for (const command of isGroup ? found.commands : [found]) {
      addCommand(parent, command, (given) => {
        chosen = { command, given };
      });
    }
  }
  // To `help` of an unknown command, commander prints the help of all without a word on it.
  const isUnknown = name === 'help' && topic !== undefined && !Object.hasOwn(commands, topic);
  try {
    program.parse(isUnknown ? [topic] : words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    await Promise.all(written);
    return error.exitCode === 0 ? EXIT_DONE : EXIT_WRONG;
  }
  return chosen ?? EXIT_WRONG;
}

/** @param written collects the pending writes to standard output and standard error. */
function createProgram(io: Io, written: Promise<void>[]): CommanderCommand {
  const program = new CommanderCommand('windrow');
  // Subcommands inherit these, so they come first.
  program
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => written.push(io.stdout.write(text)),
      writeErr: (text) => written.push(io.stderr.write(text)),
      outputError: (text, write) => write(ownText(text)),
      getOutHelpWidth: () => Math.min(io.stdout.columns, 110),
      getErrHelpWidth: () => Math.min(io.stderr.columns, 110),
    });
  return program
    .description('Computes time series: runs a request over files of samples, as a batch or as a stream.')
    .usage('<command> [options]')
    .version(packageJson.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', EXIT_CODES);
}

/**
 * What commander found wrong, in the form of windrow's own messages.
 *
 * @param name of the command or group; undefined if none was named.
 * @param sharing options that share a word with an unknown one; commander suggests those that are spelled alike.
 */
function ownText(text: string, name?: string, sharing: readonly string[] = []): string {
  const [line = '', alike = ''] = text.trimEnd().split('\n');
  const meant = /^\(Did you mean (.+)\?\)$/.exec(alike)?.[1] ?? sharing.join(', ');
  const help = `see \`windrow ${name === undefined ? '' : `${name} `}--help\``;
  const hint = meant === '' ? help : `did you mean ${meant}?`;
  const wrong = line
    .replace(/^error: /, '')
    .replace(/^(unknown \w+) '(.*)'$/, '$1 $2')
    .replace(/^too many arguments .* Expected (\d+ arguments?) but got (\d+)\.$/, 'expected $1, received $2')
    .replace(/^option '(\S+) <(.+)>' argument missing$/, 'expected $1 $2, received nothing');
  return `windrow: ${name === undefined ? '' : `${name}: `}${wrong}; ${hint}\n`;
}

/** The options of a command that have a word of the unknown one in commander's text. */
function withWordOf(text: string, { options }: Command): string[] {
  const [, word] = /unknown option '--([a-z]+)/.exec(text) ?? [];
  return options.map(({ flag }) => flag).filter((flag) => word !== undefined && flag.split('-').includes(word));
}

function addGroup(program: CommanderCommand, { name, summary }: CommandGroup): CommanderCommand {
  const group = program.command(name).description(summary).usage('<command> [options]');
  group.configureOutput({ outputError: (text, write) => write(ownText(text, name)) });
  return group.helpOption('-h, --help', 'print this help').helpCommand('help [command]', 'print the help of a command');
}

/** Adds a command to commander, which calls `choose` if it is the one given. */
function addCommand(program: CommanderCommand, command: Command, choose: (given: Given) => void): void {
  // `client add` is the command `add` of `client`.
  const name = command.name.split(' ').at(-1) ?? '';
  const added = program.command(name).description(command.summary).helpOption('-h, --help', 'print this help');
  added.configureOutput({
    outputError: (text, write) => write(ownText(text, command.name, withWordOf(text, command))),
  });
  // Optional to commander, so that commands themselves can say what is missing and why.
  added.usage(usageOf(command));
  for (const argument of [command.argument, command.second]) {
    if (argument !== undefined) added.argument(`[${argument.name}]`, argument.summary);
  }
  for (const { flag, value, summary, isList, isRepeatable } of command.options) {
    const option = new Option(value === undefined ? flag : `${flag} <${value}${isList ? '...' : ''}>`, summary);
    added.addOption(isRepeatable ? option.argParser(addValue) : option);
  }
  for (const [flag, reason] of Object.entries(command.refused ?? {})) {
    const option = new Option(`${flag} [VALUE]`).hideHelp();
    added.addOption(option).on(`option:${option.name()}`, () => {
      throw new WindrowError('arguments', `${command.name}: unknown option '${flag}': ${reason}`);
    });
  }
  added.addHelpText('after', () => helpAfter(command, added));
  added.action((...received: unknown[]) => {
    // After the arguments, commander passes the options and the command.
    const [argument, second] = received.map((one) => (typeof one === 'string' ? one : undefined));
    choose({ argument, second, options: optionsOf(command, added) });
  });
}

function addValue(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function usageOf({ argument, second }: Command): string {
  if (argument === undefined) return '[options]';
  const names = second === undefined ? argument.name : `${argument.name} ${second.name}`;
  return `${argument.isOptional ? `[${names}]` : names} [options]`;
}

function optionsOf(command: Command, added: CommanderCommand): Map<string, readonly string[]> {
  const options = new Map<string, readonly string[]>();
  for (const { flag, value: placeholder } of command.options) {
    const name = added.options.find((option) => option.long === flag)?.attributeName() ?? '';
    const value: unknown = added.getOptionValue(name);
    if (value === undefined) continue;
    // As of a shell's variable that is not set: as a path it would be this folder.
    if (placeholder === 'FILE' && [value].flat().includes('')) throw lacking(command, flag, 'an empty text');
    options.set(flag, Array.isArray(value) ? value.map(String) : value === true ? [] : [String(value)]);
  }
  return options;
}

function helpAfter({ notes = [], examples }: Command, added: CommanderCommand): string {
  const width = added.configureOutput().getOutHelpWidth!(); // set by createProgram
  // The line breaks of the source are spaces, but those around indented lines, which are a table.
  const wrapped = notes.map((note) => added.createHelp().boxWrap(note.replace(/\n(?! )/g, ' '), width));
  const shown = examples.map(({ line, does }) => `  # ${does}\n  ${line}`).join('\n\n');
  return ['', ...wrapped, `Examples:\n${shown}`].join('\n\n').replace(/^\n\n/, '\n');
}
