import { argumentOf, type CommandGroup, requiredOf } from '../command.js';
import { placeOf } from '../store.js';
import { addedAt, addressOf, addressOption, administering, listCommand, orgOption } from './administer.js';
import { readPassword } from './password.js';

const add = administering({
  name: 'user add',
  summary: 'Add a user, who gets tokens through clients that have the password grant.',
  argument: { name: 'NAME', summary: 'the name that the user logs in with' },
  options: [
    orgOption,
    { flag: '--password-stdin', summary: 'read the password from standard input (default: ask at the terminal)' },
  ],
  notes: ['A user belongs to one organisation, and can log in only through its clients.'],
  examples: [
    { line: 'windrow user add zoe --org acme --data-dir /var/lib/windrow', does: 'be asked for the password' },
    {
      line: 'pass show windrow/zoe | windrow user add zoe --org acme --password-stdin --data-dir /var/lib/windrow',
      does: 'take it from another program',
    },
  ],
  isMaking: true,
  ask: async (given, command, io) => {
    const username = argumentOf(given, command);
    const organisation = requiredOf(given, command, '--org');
    placeOf(given, command, io);
    const password = await readPassword(given, io);
    // Hashed here, so that the password never leaves this process. Loaded here, so that --help needs no package.
    const { createPasswords } = await import('../../service/identity/passwords.js');
    const { systemRandom } = await import('../../service/system.js');
    return { organisation, username, passwordHash: await createPasswords(systemRandom).hash(password) };
  },
  work: (administration, user) => administration.addUser(user),
});

const list = listCommand({
  name: 'user list',
  summary: 'List the users.',
  examples: [{ line: 'windrow user list --org acme --data-dir /var/lib/windrow', does: 'those of an organisation' }],
  read: (administration, of) => administration.listUsers(of),
  columns: { NAME: ({ username }) => username, ORG: ({ organisation }) => organisation, ADDED: addedAt },
});

const remove = administering({
  name: 'user remove',
  summary: 'Remove a user: tokens obtained with the password become invalid.',
  argument: { name: 'NAME', summary: 'what the user logs in with' },
  options: [orgOption],
  examples: [{ line: 'windrow user remove zoe --org acme --data-dir /var/lib/windrow', does: 'shut a user out' }],
  ask: (given, command) => ({
    username: argumentOf(given, command),
    organisation: requiredOf(given, command, '--org'),
  }),
  work: (administration, user) => administration.removeUser(user),
});

const unlock = administering({
  name: 'user unlock',
  summary: 'Unlock a user whose password was wrong too often.',
  argument: { name: 'NAME', summary: 'what the user logs in with' },
  options: [orgOption, addressOption],
  examples: [
    { line: 'windrow user unlock zoe --org acme --data-dir /var/lib/windrow', does: "forget the user's failures" },
    {
      line: 'windrow user unlock zoe --org acme --address 192.0.2.7 --data-dir data',
      does: 'and all failures from an address',
    },
  ],
  ask: (given, command) => ({
    username: argumentOf(given, command),
    organisation: requiredOf(given, command, '--org'),
    ...addressOf(given),
  }),
  work: (administration, user) => administration.unlockUser(user),
});

export const user: CommandGroup = {
  name: 'user',
  summary: 'Add, list, remove and unlock users: people who log in through a client.',
  commands: [add, list, remove, unlock],
};
