import { WindrowError } from '../core/errors.js';
import type { Io } from './terminal/io.js';

/** A command of windrow as data: its help, its options, and its code. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** The argument after the name, like `REQUEST.json`. */
  readonly argument?: {
    readonly name: string;
    readonly summary: string;
    readonly isOptional?: true;
    /** The possible values, if it is not a file. */
    readonly values?: readonly string[];
  };
  /** The second argument, if there are two. */
  readonly second?: { readonly name: string; readonly summary: string };
  readonly options: readonly CommandOption[];
  /** Options that commands of its kind have and this one has not: why, by the flag. The help leaves them out. */
  readonly refused?: Readonly<Record<string, string>>;
  readonly examples: readonly { readonly line: string; readonly does: string }[];
  /** Further paragraphs of the help. */
  readonly notes?: readonly string[];
  /** Runs the command and returns the exit code. Throws if anything is wrong. */
  readonly act: (given: Given, io: Io) => Promise<number>;
}

/** Commands under a common name, such as `windrow client add` and `windrow client list`. Their names begin with it. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
}

export interface CommandOption {
  /** Like `--input`. */
  readonly flag: string;
  /** The name of its value, like `FILE`; a switch has none. */
  readonly value?: string;
  readonly summary: string;
  /** The possible values, if there are only a few. */
  readonly values?: readonly string[];
  /** Takes one or more values, and may be given more than once. */
  readonly isList?: true;
  /** May be given more than once, each time with one value. */
  readonly isRepeatable?: true;
}

/** What the caller gave: the values of each option by its flag; a switch has an empty list. */
export interface Given {
  readonly argument: string | undefined;
  readonly second?: string | undefined;
  readonly options: ReadonlyMap<string, readonly string[]>;
}

/** The last value of an option. */
export function textOf(given: Given, flag: string): string | undefined {
  return given.options.get(flag)?.at(-1);
}

/** The last value of a required option. @throws WindrowError if it is missing. */
export function requiredOf(given: Given, command: Command, flag: string): string {
  const text = filledOf(given, command, flag);
  if (text !== undefined) return text;
  throw lacking(command, flag, 'nothing');
}

/** All values of a required option. @throws WindrowError if it is missing. */
export function allOf(given: Given, command: Command, flag: string): readonly string[] {
  requiredOf(given, command, flag);
  return given.options.get(flag) ?? [];
}

/** The last value of an option. @throws WindrowError for an empty text, as of a shell's variable that is not set. */
export function filledOf(given: Given, command: Command, flag: string): string | undefined {
  const text = textOf(given, flag);
  if (text !== '') return text;
  throw lacking(command, flag, 'an empty text');
}

/** An option without the value that it needs. */
export function lacking(command: Command, flag: string, received: string): WindrowError {
  const value = command.options.find((option) => option.flag === flag)?.value ?? 'VALUE';
  const help = `see \`windrow ${command.name} --help\``;
  return new WindrowError('arguments', `${command.name}: expected ${flag} ${value}, received ${received}; ${help}`);
}

/** An option whose value is one of some names, in any case. */
export function nameOf<Name extends string>(given: Given, flag: string, names: readonly Name[]): Name | undefined {
  const text = textOf(given, flag);
  if (text === undefined) return undefined;
  const name = names.find((known) => known === text.toLowerCase());
  if (name !== undefined) return name;
  throw new WindrowError('arguments', `${flag}: expected ${names.join(' or ')}, received ${JSON.stringify(text)}`);
}

/** An option whose value is a whole number of at least `least`, and at most `most`. */
export function countOf(given: Given, flag: string, least: number, most?: number): number | undefined {
  const text = textOf(given, flag);
  if (text === undefined) return undefined;
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(count) && count >= least && count <= (most ?? count)) return count;
  const expected = `a whole number ${most === undefined ? `of at least ${least}` : `from ${least} to ${most}`}`;
  throw new WindrowError('arguments', `${flag}: expected ${expected}, received ${JSON.stringify(text)}`);
}

/** The fields that have a value: options of the library may be left out, but must not be undefined. */
export function defined<Of extends object>(fields: Of): { [Name in keyof Of]?: Exclude<Of[Name], undefined> } {
  // `as`: what is left has no undefined.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof defined<Of>
  >;
}

/** The required argument of a command. @throws WindrowError if it is missing. */
export function argumentOf(given: Given, command: Command): string {
  if (given.argument !== undefined && given.argument !== '') return given.argument;
  const received = given.argument === undefined ? 'nothing' : 'an empty text';
  const name = command.argument?.name ?? 'argument';
  const ending = /\.\w+$/.exec(name)?.[0];
  const isFile = (word: string): boolean => (ending === undefined ? /\.\w+$/.test(word) : word.endsWith(ending));
  const taken = command.options.flatMap(({ flag, isList }) => {
    const words = isList ? (given.options.get(flag) ?? []) : [];
    return words.filter(isFile).map((word) => ({ flag, word }));
  })[0];
  const hint =
    taken === undefined
      ? `see \`windrow ${command.name} --help\``
      : `write it before ${taken.flag}, which takes all words after it: ` +
        `\`windrow ${command.name} ${taken.word} ${taken.flag} …\``;
  throw new WindrowError('arguments', `${command.name}: expected ${name}, received ${received}; ${hint}`);
}

/** `1 file`, `7,267 rows`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 || noun.endsWith('s') ? '' : 's'}`;
}

/** A number with thousands separators. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A word as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
