import { argumentOf, type Command, type CommandGroup, type Given, requiredOf } from '../command.js';
import { addedAt, administering, jsonOption, listCommand, orgOption, print } from './administer.js';

const add = administering({
  name: 'collection add',
  summary: 'Add an event collection, or let more clients into one.',
  argument: { name: 'ID', summary: 'its id, for the header ercollectionid' },
  options: [
    orgOption,
    { flag: '--allow', value: 'CLIENT', summary: 'ids of clients that may use it', isList: true },
    jsonOption,
  ],
  notes: ['A client reads a collection with core_read, and writes to it with core_write.'],
  examples: [
    {
      line: 'windrow collection add alarms --org acme --allow CLIENT_ID --data-dir /var/lib/windrow',
      does: 'a collection that one client may use',
    },
  ],
  isMaking: true,
  ask: (given, command) => accessOf(given, command, '--allow'),
  work: (administration, access) => administration.addCollection(access),
  tell: async (added, given, io) => {
    if (given.options.has('--json')) await print(given, io, added, '');
    if (added.clientIds.length > 0) return;
    await io.stderr.write('windrow: no client may use it yet; --allow lets one in, by the id of `client list`\n');
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
  summary: 'Remove an event collection with its events, or shut clients out of it.',
  argument: { name: 'ID', summary: 'its id' },
  options: [
    orgOption,
    { flag: '--client', value: 'CLIENT', summary: 'shut these clients out, and keep the collection', isList: true },
  ],
  examples: [
    { line: 'windrow collection remove alarms --org acme --data-dir data', does: 'remove it, and its events' },
    {
      line: 'windrow collection remove alarms --org acme --client CLIENT_ID --data-dir data',
      does: 'take one client out',
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
  summary: 'Add, list and remove event collections, and say who may use them.',
  commands: [add, list, remove],
};
