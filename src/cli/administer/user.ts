import { argumentOf, type Command, type CommandGroup, requiredOf, textOf } from '../command.js';
import { EXIT_DONE } from '../failure.js';
import {
  addedAt,
  addressOption,
  administer,
  administrationNotes,
  dataDirOption,
  listCommand,
  orgOption,
} from './administer.js';
import { readPassword } from './password.js';

const add: Command = {
  name: 'user add',
  summary: 'Add a user, who gets tokens through clients that have the password grant.',
  argument: { name: 'NAME', summary: 'what the user logs in with' },
  options: [
    orgOption,
    { flag: '--password-stdin', summary: 'read the password from standard input (default: ask at the terminal)' },
    dataDirOption,
  ],
  notes: [...administrationNotes, 'A user belongs to one organisation, and logs in through clients of it alone.'],
  examples: [
    { line: 'windrow user add zoe --org acme --data-dir /var/lib/windrow', does: 'be asked for the password' },
    {
      line: 'pass show windrow/zoe | windrow user add zoe --org acme --password-stdin --data-dir /var/lib/windrow',
      does: 'take it from another program',
    },
  ],
  act: async (given, io) => {
    const username = argumentOf(given, add);
    const organisation = requiredOf(given, add, '--org');
    // Asked for before the store is opened, so that nobody waits for somebody who types.
    requiredOf(given, add, '--data-dir');
    const password = await readPassword(given, io);
    // Hashed here: the password leaves this process for nowhere.
    // Loaded here, so that --help needs no package.
    const { createPasswords } = await import('../../service/identity/passwords.js');
    const { systemRandom } = await import('../../service/system.js');
    const passwordHash = await createPasswords(systemRandom).hash(password);
    const user = { organisation, username, passwordHash };
    await administer(given, add, io, true, (administration) => administration.addUser(user));
    return EXIT_DONE;
  },
};

const list = listCommand({
  name: 'user list',
  summary: 'List the users.',
  examples: [{ line: 'windrow user list --org acme --data-dir /var/lib/windrow', does: 'those of an organisation' }],
  read: (administration, of) => administration.listUsers(of),
  columns: { NAME: ({ username }) => username, ORG: ({ organisation }) => organisation, ADDED: addedAt },
});

const remove: Command = {
  name: 'user remove',
  summary: 'Remove a user: the tokens that were got with the password hold no longer.',
  argument: { name: 'NAME', summary: 'what the user logs in with' },
  options: [orgOption, dataDirOption],
  notes: administrationNotes,
  examples: [{ line: 'windrow user remove zoe --org acme --data-dir /var/lib/windrow', does: 'shut a user out' }],
  act: async (given, io) => {
    const user = { username: argumentOf(given, remove), organisation: requiredOf(given, remove, '--org') };
    await administer(given, remove, io, false, (administration) => administration.removeUser(user));
    return EXIT_DONE;
  },
};

const unlock: Command = {
  name: 'user unlock',
  summary: 'Let a user in again at once whose password was wrong too often.',
  argument: { name: 'NAME', summary: 'what the user logs in with' },
  options: [orgOption, addressOption, dataDirOption],
  notes: administrationNotes,
  examples: [
    { line: 'windrow user unlock zoe --org acme --data-dir /var/lib/windrow', does: "forget the user's failures" },
    {
      line: 'windrow user unlock zoe --org acme --address 192.0.2.7 --data-dir data',
      does: 'and those of all at an address',
    },
  ],
  act: async (given, io) => {
    const address = textOf(given, '--address');
    const of = {
      username: argumentOf(given, unlock),
      organisation: requiredOf(given, unlock, '--org'),
      ...(address === undefined ? {} : { address }),
    };
    await administer(given, unlock, io, false, (administration) => administration.unlockUser(of));
    return EXIT_DONE;
  },
};

export const user: CommandGroup = {
  name: 'user',
  summary: 'Add, list, remove and unlock users: people who log in through a client.',
  commands: [add, list, remove, unlock],
};
