import { argumentOf, type Command, type CommandGroup, type Given, requiredOf } from '../command.js';
import { addedAt, administering, jsonOption, listCommand, orgOption, print } from './administer.js';

const add = administering({
  name: 'collection add',
  summary: 'Add an event collection, or allow more clients to use one.',
  argument: { name: 'ID', summary: 'its id, for the header ercollectionid' },
  options: [
    orgOption,
    { flag: '--allow', value: 'CLIENT', summary: 'ids of clients that may use it', isList: true },
    jsonOption,
  ],
  notes: ['A client needs core_read to read a collection, and core_write to write to it.'],
  examples: [
    {
      line: 'windrow collection add alarms --org acme --allow CLIENT_ID --data-dir /var/lib/windrow',
      does: 'a collection that one client may use',
    },
  ],
  ask: (given, command) => accessOf(given, command, '--allow'),
  work: (administration, access) => administration.addCollection(access),
  tell: async (added, given, io) => {
    if (given.options.has('--json')) await print(given, io, added, '');
    if (added.clientIds.length > 0) return;
    await io.stderr.write('windrow: no client may use it yet; allow one with --allow and its id from `client list`\n');
  },
});

const list = listCommand({
  name: 'collection list',
  summary: 'List the event collections, and the clients that may use each.',
  examples: [{ line: 'windrow collection list --data-dir /var/lib/windrow', does: 'all collections' }],
  read: (administration, of) => administration.listCollections(of),
  columns: {
    ID: ({ collectionId }) => collectionId,
    ORG: ({ organisation }) => organisation,
    ADDED: addedAt,
    CLIENTS: ({ clientIds }) => clientIds.join(' '),
  },
});

const remove = administering({
  name: 'collection remove',
  summary: 'Remove an event collection with its events, or take away access to it.',
  argument: { name: 'ID', summary: 'its id' },
  options: [
    orgOption,
    { flag: '--client', value: 'CLIENT', summary: 'take access from these clients instead', isList: true },
  ],
  examples: [
    { line: 'windrow collection remove alarms --org acme --data-dir data', does: 'remove it, and its events' },
    {
      line: 'windrow collection remove alarms --org acme --client CLIENT_ID --data-dir data',
      does: 'take access from one client',
    },
  ],
  ask: (given, command) => accessOf(given, command, '--client'),
  work: (administration, access) => administration.removeCollection(access),
});

function accessOf(given: Given, command: Command, clients: string) {
  return {
    collectionId: argumentOf(given, command),
    organisation: requiredOf(given, command, '--org'),
    clientIds: given.options.get(clients) ?? [],
  };
}

export const collection: CommandGroup = {
  name: 'collection',
  summary: 'Add, list and remove event collections, and set who may use them.',
  commands: [add, list, remove],
};
