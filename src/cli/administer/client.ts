import { argumentOf, type CommandGroup, type Given, requiredOf, textOf } from '../command.js';
import {
  addedAt,
  addressOf,
  addressOption,
  administering,
  jsonOption,
  listCommand,
  orgOption,
  print,
} from './administer.js';

const add = administering({
  name: 'client add',
  summary: 'Add a client, and print its id and secret.',
  argument: { name: 'NAME', summary: 'what it is called, for people' },
  options: [
    orgOption,
    { flag: '--scope', value: 'SCOPES', summary: 'what it may ask for: core_read, core_write, core_admin' },
    {
      flag: '--grant',
      value: 'GRANTS',
      summary: 'client_credentials, password, or both with a comma (default: client_credentials)',
    },
    {
      flag: '--groups',
      value: 'COUNT',
      summary: 'with the first client of an organisation: how many groups its series form (default: 1)',
    },
    jsonOption,
  ],
  notes: [
    'The secret is shown this once: the store keeps a hash of it. A client whose secret was lost is removed, and a ' +
      'new one added. core_read reads, core_write writes, core_admin does both and deletes.',
    'Each group of an organisation is worked on by one process at a time: with 8 groups, up to 8 compute for it. ' +
      'That stays as it is, and every process must know of groups: upgrade all of them first.',
  ],
  examples: [
    {
      line: 'windrow client add gateway --org acme --scope "core_read core_write" --data-dir /var/lib/windrow',
      does: 'a program that reads and writes',
    },
    {
      line: 'windrow client add portal --org acme --scope core_read --grant password --data-dir data --json',
      does: 'one that logs users in, told to a program',
    },
  ],
  isMaking: true,
  ask: (given, command) => ({
    name: argumentOf(given, command),
    organisation: requiredOf(given, command, '--org'),
    scopes: listOf(requiredOf(given, command, '--scope')),
    grants: listOf(textOf(given, '--grant') ?? 'client_credentials'),
    ...groupsOf(given),
  }),
  work: (administration, client) => administration.addClient(client),
  tell: async (credentials, given, io) => {
    const { clientId, clientSecret } = credentials;
    await print(given, io, credentials, `clientId      ${clientId}\nclientSecret  ${clientSecret}\n`);
    await io.stderr.write('windrow: the secret is shown this once; keep it now\n');
  },
});

const list = listCommand({
  name: 'client list',
  summary: 'List the clients, without their secrets.',
  examples: [{ line: 'windrow client list --data-dir /var/lib/windrow', does: 'all clients, a line each' }],
  read: (administration, of) => administration.listClients(of),
  columns: {
    ID: ({ clientId }) => clientId,
    NAME: ({ name }) => name,
    ORG: ({ organisation }) => organisation,
    SCOPE: ({ scopes }) => scopes.join(' '),
    GRANT: ({ grants }) => grants.join(' '),
    ADDED: addedAt,
  },
});

const remove = administering({
  name: 'client remove',
  summary: 'Remove a client: its tokens hold no longer, and its access to collections ends.',
  argument: { name: 'ID', summary: 'its id, as `windrow client list` tells it' },
  options: [],
  examples: [
    {
      line: 'windrow client remove 0198c1f0-0000-7000-8000-000000000000 --data-dir /var/lib/windrow',
      does: 'shut a client out',
    },
  ],
  ask: (given, command) => ({ clientId: argumentOf(given, command) }),
  work: (administration, client) => administration.removeClient(client),
});

const unlock = administering({
  name: 'client unlock',
  summary: 'Let a client in again at once that has failed too often to get a token.',
  argument: { name: 'ID', summary: 'its id, as `windrow client list` tells it' },
  options: [addressOption],
  examples: [
    {
      line: 'windrow client unlock 0198c1f0-0000-7000-8000-000000000000 --data-dir /var/lib/windrow',
      does: 'forget its failures',
    },
  ],
  ask: (given, command) => ({ clientId: argumentOf(given, command), ...addressOf(given) }),
  work: (administration, client) => administration.unlockClient(client),
});

export const client: CommandGroup = {
  name: 'client',
  summary: 'Add, list, remove and unlock clients: the programs that may use the service.',
  commands: [add, list, remove, unlock],
};

function groupsOf(given: Given): { readonly groups?: number } {
  const text = textOf(given, '--groups');
  return text === undefined ? {} : { groups: Number(text) };
}

function listOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}
