import { WindrowError } from '../core/errors.js';
import { isAddress, parseAddress } from '../storage/postgres/address.js';
import { type Command, type Given, requiredOf, textOf } from './command.js';
import type { Io } from './terminal/io.js';

/** Where a service keeps its data: in a directory, or in a PostgreSQL database. */
export type Place =
  | { readonly directory: string; readonly address?: never }
  | { readonly address: string; readonly directory?: never };

/** The options of every command that works with a store. */
export const storeOptions = [
  { flag: '--data-dir', value: 'DIR', summary: 'the data directory of the service' },
  {
    flag: '--store',
    value: 'ADDRESS',
    summary: 'its PostgreSQL database, such as postgres://user@host/windrow (default: WINDROW_STORE)',
  },
];

/** The store named by the options, or else by the environment. */
export function placeOf(given: Given, command: Command, io: Pick<Io, 'environment'>): Place {
  const place = givenPlace(given, command, io);
  if (place !== undefined) return place;
  const expected = '--data-dir DIR or --store ADDRESS';
  throw new WindrowError(
    'arguments',
    `${command.name}: expected ${expected}, received neither; see \`windrow ${command.name} --help\``,
  );
}

export function givenPlace(
  given: Given,
  command: Command,
  { environment }: Pick<Io, 'environment'>,
): Place | undefined {
  const hasDirectory = given.options.has('--data-dir');
  if (hasDirectory && given.options.has('--store')) {
    throw new WindrowError('arguments', `${command.name}: expected --data-dir or --store, received both`);
  }
  if (hasDirectory) return { directory: directoryIn(given, command, '--data-dir', 'give its address as --store') };
  const address = textOf(given, '--store') ?? environment.WINDROW_STORE ?? '';
  if (address === '' && !given.options.has('--store')) return undefined;
  const name = given.options.has('--store') ? '--store' : 'WINDROW_STORE';
  if (!/^postgres(?:ql)?:\/\//.test(address)) {
    // The address may contain a password, so it is not shown.
    throw new WindrowError(
      'arguments',
      `${name}: expected an address such as postgres://user@host:5432/windrow, received ` +
        (address === '' ? 'an empty text' : 'something else'),
    );
  }
  try {
    parseAddress(address);
  } catch (error) {
    if (!(error instanceof WindrowError)) throw error;
    throw new WindrowError('arguments', `${name}: ${error.message}`, { cause: error });
  }
  return { address };
}

/** @throws WindrowError for an address: a folder of that name is hardly meant. */
export function directoryIn(given: Given, command: Command, flag: string, mend: string): string {
  const directory = requiredOf(given, command, flag);
  if (!isAddress(directory)) return directory;
  throw new WindrowError(
    'arguments',
    `${flag}: expected a data directory, received the address of a database; ${mend}`,
  );
}
