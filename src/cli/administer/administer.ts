import { resolve } from 'node:path';
import { WindrowError } from '../../core/errors.js';
import type { Administration } from '../../service/identity/administration.js';
import type { OfOrganisation } from '../../service/identity/names.js';
import { type Command, defined, type Given, textOf } from '../command.js';
import { EXIT_DONE, fileFailure } from '../failure.js';
import { type Place, placeOf, storeOptions } from '../store.js';
import type { Io } from '../terminal/io.js';

/** Options of commands that work with clients, users and collections. */
export const orgOption = { flag: '--org', value: 'ORG', summary: 'the organisation' };
const someOrgOption = { flag: '--org', value: 'ORG', summary: 'only those of this organisation (default: all)' };
export const addressOption = {
  flag: '--address',
  value: 'ADDRESS',
  summary: 'forget the failures of this address too',
};
export const jsonOption = { flag: '--json', summary: 'print JSON, for a program' };

/** The address of `addressOption`, if given. */
export function addressOf(given: Given): { readonly address?: string } {
  return defined({ address: textOf(given, '--address') });
}

const administrationNotes: readonly string[] = [
  'Works whether the service runs or not; a running service sees the change at once. With --data-dir, use it on the ' +
    "service's machine, as the service's user.",
];

/** A command that works on the clients, users and collections of a store. */
interface Administering<Asked, Result> extends Omit<Command, 'act'> {
  /** Whether it creates the store if there is none. */
  readonly isMaking?: true;
  /** Reads what the caller wants before the store is opened, so that the store never waits for somebody who types. */
  readonly ask: (given: Given, command: Command, io: Io) => Asked | Promise<Asked>;
  readonly work: (administration: Administration, asked: Asked) => Promise<Result>;
  readonly tell?: (result: Result, given: Given, io: Io) => Promise<void>;
}

export function administering<Asked, Result>(parts: Administering<Asked, Result>): Command {
  const { isMaking = false, ask, work, tell, ...texts } = parts;
  const command: Command = {
    ...texts,
    options: [...texts.options, ...storeOptions],
    notes: [...administrationNotes, ...(texts.notes ?? [])],
    act: async (given, io) => {
      const asked = await ask(given, command, io);
      const place = placeOf(given, command, io);
      const result = await administer(place, io, isMaking, (administration) => work(administration, asked));
      await tell?.(result, given, io);
      return EXIT_DONE;
    },
  };
  return command;
}

/** Opens a store for some work on it. @param isMaking whether to create it if there is none. */
export async function administer<Result>(
  place: Place,
  io: Io,
  isMaking: boolean,
  work: (administration: Administration) => Promise<Result>,
): Promise<Result> {
  // Loaded here, so that --help needs no package.
  const { hasStore } = await import('../../storage/sqlite/open.js');
  const isMissing = place.directory !== undefined && !hasStore(place.directory);
  if (isMissing && !isMaking) throw noStore(`${place.directory}: there is no store of windrow`, '--data-dir');
  const { createAdministration } = await import('../../service/identity/administration.js');
  const { systemClock, systemRandom } = await import('../../service/system.js');
  // Nobody else may read the files that it creates.
  process.umask(0o077);
  const storage = await openPlace(place, io, isMaking);
  try {
    const result = await work(createAdministration({ storage, clock: systemClock, random: systemRandom }));
    if (isMissing) await io.stderr.write(`windrow: created a new store in ${resolve(place.directory)}\n`);
    return result;
  } finally {
    await storage.close();
  }
}

function noStore(fault: string, option: string): WindrowError {
  const mend = `check ${option}; \`windrow serve\`, \`client add\` and \`user add\` create a store`;
  return new WindrowError('file.missing', `${fault}; ${mend}`);
}

async function openPlace({ directory, address }: Place, { stderr }: Pick<Io, 'stderr'>, isMaking: boolean) {
  const { systemClock } = await import('../../service/system.js');
  const { openStorage } = await import('../../storage/index.js');
  if (address !== undefined) {
    const onWait = ({ message }: Error) =>
      void stderr.write(`windrow: waiting for ${message}\n`).catch(() => undefined);
    return openStorage({ address, clock: systemClock, onWait, isMaking }).catch((error: unknown) => {
      throw error instanceof WindrowError && error.code === 'file.missing' ? noStore(error.message, '--store') : error;
    });
  }
  const { prepareDataDirectory } = await import('../../storage/data-directory.js');
  try {
    prepareDataDirectory(directory);
    return await openStorage({ directory, clock: systemClock });
  } catch (error) {
    throw fileFailure(error, directory, 'write');
  }
}

interface Listing<Entry> extends Pick<Command, 'name' | 'summary' | 'examples'> {
  readonly read: (administration: Administration, of: OfOrganisation) => Promise<readonly Entry[]>;
  /** The text of each column of an entry, under its header. */
  readonly columns: Readonly<Record<string, (entry: Entry) => string>>;
}

/** A command that lists all entries of a kind, or those of an organisation, one a line. */
export function listCommand<Entry>({ read, columns, ...texts }: Listing<Entry>): Command {
  return administering({
    ...texts,
    options: [someOrgOption, jsonOption],
    ask: (given): OfOrganisation => defined({ organisation: textOf(given, '--org') }),
    work: async (administration, of) => {
      const entries = await read(administration, of);
      // None may mean that the name is mistyped.
      const { organisation } = of;
      if (entries.length === 0 && organisation !== undefined) await administration.checkOrganisation(organisation);
      return entries;
    },
    tell: (entries, given, io) => {
      const rows = entries.map((entry) => Object.values(columns).map((textIn) => textIn(entry)));
      return print(given, io, entries, table(Object.keys(columns), rows));
    },
  });
}

/** Rows as columns of text under a header. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lines = [header, ...rows].map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** When an entry was added, to the second. */
export function addedAt({ createdMs }: { readonly createdMs: number }): string {
  return new Date(createdMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Prints a result, as text for people or as JSON. */
export async function print(given: Given, io: Io, data: unknown, text: string): Promise<void> {
  await io.stdout.write(given.options.has('--json') ? `${JSON.stringify(data)}\n` : text);
}
