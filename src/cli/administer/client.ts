import { allOf, argumentOf, type CommandGroup, countOf, defined, requiredOf } from '../command.js';
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
  argument: { name: 'NAME', summary: 'its name, for people' },
  options: [
    orgOption,
    {
      flag: '--scope',
      value: 'SCOPES',
      summary: 'the scopes it may request: core_read, core_write, core_admin',
      isRepeatable: true,
    },
    {
      flag: '--grant',
      value: 'GRANTS',
      summary: 'client_credentials, password, or both separated by a comma (default: client_credentials)',
      isRepeatable: true,
    },
    {
      flag: '--groups',
      value: 'COUNT',
      summary: 'for the first client of an organisation: into how many groups to divide its series (default: 1)',
    },
    jsonOption,
  ],
  notes: [
    'The secret is shown this once: the store keeps only a hash of it. If a secret is lost, remove the client and ' +
      'add a new one. core_read allows reading, core_write writing, core_admin both and deleting.',
    'One process at a time works on each group of an organisation: with 8 groups, up to 8 processes compute for it. ' +
      'The number cannot be changed later. Upgrade all processes to a version that knows groups first.',
  ],
  examples: [
    {
      line: 'windrow client add gateway --org acme --scope "core_read core_write" --data-dir /var/lib/windrow',
      does: 'a program that reads and writes',
    },
    {
      line: 'windrow client add portal --org acme --scope core_read --grant password --data-dir data --json',
      does: 'one that logs users in, printed for a program',
    },
  ],
  isMaking: true,
  ask: (given, command) => ({
    name: argumentOf(given, command),
    organisation: requiredOf(given, command, '--org'),
    scopes: namesIn(allOf(given, command, '--scope')),
    grants: namesIn(given.options.get('--grant') ?? ['client_credentials']),
    ...defined({ groups: countOf(given, '--groups', 1) }),
  }),
  work: (administration, client) => administration.addClient(client),
  tell: async (credentials, given, io) => {
    const { clientId, clientSecret } = credentials;
    try {
      await print(given, io, credentials, `clientId      ${clientId}\nclientSecret  ${clientSecret}\n`);
    } catch (error) {
      const mend = `its secret is lost: remove it with \`windrow client remove ${clientId}\`, and add a new one`;
      await io.stderr.write(`windrow: the client was added, but ${mend}\n`).catch(() => undefined);
      throw error;
    }
    await io.stderr.write('windrow: the secret is shown this once; keep it now\n');
  },
});

const list = listCommand({
  name: 'client list',
  summary: 'List the clients, without their secrets.',
  examples: [{ line: 'windrow client list --data-dir /var/lib/windrow', does: 'all clients, one a line' }],
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
  summary: 'Remove a client: its tokens become invalid, and it loses access to collections.',
  argument: { name: 'ID', summary: 'its id, as `windrow client list` shows it' },
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
  summary: 'Unlock a client that has failed too often to get a token.',
  argument: { name: 'ID', summary: 'its id, as `windrow client list` shows it' },
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

function namesIn(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(/[\s,]+/)).filter((name) => name !== '');
}
