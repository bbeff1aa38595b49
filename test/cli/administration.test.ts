// `windrow client`, `user` and `collection` on a store that is free and on one that a process holds.
import fs, { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { administer } from '../../src/cli/administer/administer.js';
import type { Io } from '../../src/cli/terminal/io.js';
import { createIdentity, type Identity } from '../../src/service/identity/identity.js';
import { defaultSettings } from '../../src/service/settings.js';
import { systemClock, systemRandom } from '../../src/service/system.js';
import { openSqliteStorage } from '../../src/storage/index.js';
import { shardOf } from '../../src/storage/shard.js';
import { loadSqlite } from '../../src/storage/sqlite/database.js';
import { collectionGrants } from '../../src/storage/tables/identity.js';
import { createWorld, type World } from './world.js';

const DATA = ['--data-dir', '~/data'];

interface Holder {
  readonly identity: Identity;
  readonly canUse: (organisation: string, collectionId: string, clientId: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** What a running service does with its store, as far as the command can see. */
async function hold(world: World): Promise<Holder> {
  const directory = world.path('data');
  const storage = await openSqliteStorage({ directory, clock: systemClock });
  const context = { storage, clock: systemClock, random: systemRandom, settings: defaultSettings };
  const identity = createIdentity(context);
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await storage.close();
  };
  onTestFinished(close);
  const canUse = (organisation: string, collectionId: string, clientId: string) =>
    storage.read(shardOf(organisation), async (tx) => {
      const grant = await tx.get(collectionGrants, { organisation, collectionId, clientId });
      return grant?.isAllowed === true;
    });
  return { identity, canUse, close };
}

async function printed(world: World, ...words: string[]) {
  const { code, stdout, stderr } = await world.run(...words, ...DATA);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const addClient = (world: World, name: string, ...words: string[]) =>
  printed(world, 'client', 'add', name, '--org', 'acme', '--scope', 'core_read core_write', ...words, '--json');

/** Asks for a token in the way the token endpoint does. */
async function canLogIn(
  { identity }: Holder,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
  user: readonly [string, string][] = [],
): Promise<boolean> {
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const grantType = user.length === 0 ? 'client_credentials' : 'password';
  const form = new Map([['grant_type', grantType], ['scope', 'core_read'], ...user]);
  const token = identity.tokens.issuer.issue({ authorization: [authorization], address: '192.0.2.1' }, form);
  return token.then(
    async ({ access_token }) => (await identity.authenticate(access_token)) !== undefined,
    () => false,
  );
}

describe.each(['free', 'held'] as const)('a store that is %s', (kind) => {
  async function open(options: Parameters<typeof createWorld>[0] = {}): Promise<World> {
    const world = createWorld(options);
    if (kind === 'held') await hold(world);
    return world;
  }

  it('client add prints the id and the secret, which list does not show', async () => {
    const world = await open();
    const words = ['client', 'add', 'gateway', '--org', 'acme', '--scope', 'core_read core_write', ...DATA];
    const { code, stdout, stderr } = await world.run(...words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^clientId {6}[0-9a-f-]{36}\nclientSecret {2}[\w-]{43}\n$/);
    expect(stderr).toContain('the secret is shown this once');
    const [clientId = '', clientSecret = ''] = stdout.match(/\S{36,}/g) ?? [];
    const [client, ...others] = await printed(world, 'client', 'list', '--json');
    expect(others).toEqual([]);
    expect(client).toEqual({
      clientId,
      organisation: 'acme',
      name: 'gateway',
      scopes: ['core_read', 'core_write'],
      grants: ['client_credentials'],
      createdMs: expect.any(Number),
    });
    const listed = await world.run('client', 'list', ...DATA);
    expect(listed.stdout).toMatch(/^ID +NAME +ORG +SCOPE +GRANT +ADDED\n/);
    expect(listed.stdout).toContain(clientId);
    expect(listed.stdout).not.toContain(clientSecret);
  });

  it('client add --json prints both as JSON; --grant sets the grants', async () => {
    const world = await open();
    const client = await addClient(world, 'portal', '--grant', 'client_credentials,password');
    expect(Object.keys(client)).toEqual(['clientId', 'clientSecret']);
    expect(await printed(world, 'client', 'list', '--org', 'acme', '--json')).toMatchObject([
      { grants: ['client_credentials', 'password'] },
    ]);
  });

  it('client add takes every --scope and --grant, however they are divided', async () => {
    const world = await open();
    const words = [
      '--scope',
      'core_read',
      '--scope',
      'core_write',
      '--grant',
      'client_credentials',
      '--grant',
      'password',
    ];
    await printed(world, 'client', 'add', 'portal', '--org', 'acme', ...words, '--json');
    expect(await printed(world, 'client', 'list', '--org', 'acme', '--json')).toMatchObject([
      { scopes: ['core_read', 'core_write'], grants: ['client_credentials', 'password'] },
    ]);
  });

  it('client remove removes a client, and reports one that does not exist', async () => {
    const world = await open();
    const { clientId } = await addClient(world, 'gateway');
    expect(await world.run('client', 'remove', clientId, ...DATA)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await printed(world, 'client', 'list', '--json')).toEqual([]);
    expect(await world.run('client', 'remove', clientId, ...DATA)).toEqual({
      code: 2,
      stdout: '',
      stderr: `windrow: there is no client with the id ${clientId}; \`windrow client list\` shows the ids\n`,
    });
  });

  it('users are added with a password from standard input, each name once, listed and removed', async () => {
    const world = await open({ stdin: 'pass word\n' });
    const add = ['user', 'add', 'zoë', '--org', 'acme', '--password-stdin', ...DATA];
    expect(await world.run(...add)).toMatchObject({ code: 0, stdout: '' });
    expect(await printed(world, 'user', 'list', '--json')).toEqual([
      { organisation: 'acme', username: 'zoë', createdMs: expect.any(Number) },
    ]);
    const again = await world.run(...add);
    expect(again.code).toBe(2);
    expect(again.stderr).toBe('windrow: acme already has a user zoë; to change the password, remove the user first\n');
    expect((await world.run('user', 'list', ...DATA)).stdout).toMatch(/^NAME +ORG +ADDED\nzoë +acme +\d{4}-/);
    expect((await world.run('user', 'remove', 'zoë', '--org', 'acme', ...DATA)).code).toBe(0);
    expect((await world.run('user', 'remove', 'zoë', '--org', 'acme', ...DATA)).code).toBe(2);
    expect(await printed(world, 'user', 'list', '--json')).toEqual([]);
  });

  it('collections are added with clients, admit and exclude clients, and are removed', async () => {
    const world = await open();
    const { clientId: first } = await addClient(world, 'first');
    const { clientId: second } = await addClient(world, 'second');
    const add = ['collection', 'add', 'alarms', '--org', 'acme'];
    expect(await printed(world, ...add, '--json', '--allow', first)).toMatchObject({ clientIds: [first] });
    const both = { collectionId: 'alarms', organisation: 'acme', clientIds: [first, second].sort() };
    expect(await printed(world, ...add, '--json', '--allow', second)).toMatchObject(both);
    expect(await printed(world, 'collection', 'list', '--json')).toMatchObject([both]);
    const remove = ['collection', 'remove', 'alarms', '--org', 'acme', ...DATA];
    expect((await world.run(...remove, '--client', first)).code).toBe(0);
    expect((await world.run('collection', 'list', ...DATA)).stdout).toMatch(
      new RegExp(`alarms +acme +\\S+ +${second}\n`),
    );
    expect((await world.run(...remove)).code).toBe(0);
    expect(await printed(world, 'collection', 'list', '--json')).toEqual([]);
    expect((await world.run(...remove)).stderr).toContain('acme has no collection alarms');
  });

  it('a collection does not admit a client of another organisation', async () => {
    const world = await open();
    const { clientId } = await addClient(world, 'first');
    const { code, stderr } = await world.run(
      'collection',
      'add',
      'alarms',
      '--org',
      'other',
      '--allow',
      clientId,
      ...DATA,
    );
    expect(code).toBe(2);
    expect(stderr).toContain(`other has no client with the id ${clientId}`);
    expect(await printed(world, 'collection', 'list', '--json')).toEqual([]);
  });

  it.each(['collection add alarms', 'retention set --keep P90D'])(
    '%s refuses an organisation that does not exist, and makes no store',
    async (line) => {
      const world = await open();
      const none = await world.run(...line.split(' '), '--org', 'acme', '--data-dir', '~/nowhere');
      expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no store of windrow') });
      expect(world.files()).not.toContain('nowhere');
      await addClient(world, 'gateway');
      expect(await world.run(...line.split(' '), '--org', 'nope', ...DATA)).toEqual({
        code: 2,
        stdout: '',
        stderr:
          'windrow: there is no organisation nope; `windrow client list` shows those there are, ' +
          '`windrow client add` makes one\n',
      });
      expect(await printed(world, line.split(' ')[0]!, 'list', '--json')).toEqual([]);
      expect((await world.run(...line.split(' '), '--org', 'acme', ...DATA)).code).toBe(0);
    },
  );

  it.each(['client', 'user', 'collection', 'retention'])(
    '%s list refuses an organisation that does not exist, and takes one that has nothing to list',
    async (kind) => {
      const world = await open({ stdin: 'secret' });
      await addClient(world, 'gateway');
      await world.run('user', 'add', 'zoe', '--org', 'people', '--password-stdin', ...DATA);
      for (const [org, owned] of [
        ['acme', 'client'],
        ['people', 'user'],
      ] as const) {
        const entries = await printed(world, kind, 'list', '--org', org, '--json');
        expect(entries.map(({ organisation }: { organisation: string }) => organisation)).toEqual(
          kind === owned ? [org] : [],
        );
      }
      for (const more of [[], ['--json']]) {
        expect(await world.run(kind, 'list', '--org', 'nope', ...more, ...DATA)).toEqual({
          code: 2,
          stdout: '',
          stderr:
            'windrow: there is no organisation nope; `windrow client list` shows those there are, ' +
            '`windrow client add` makes one\n',
        });
      }
    },
  );

  it('retention set says what it has set', async () => {
    const world = await open();
    await addClient(world, 'gateway');
    const set = async (...more: string[]) =>
      (await world.run('retention', 'set', '--org', 'acme', ...more, ...DATA)).stderr;
    expect(await set('--keep', 'PT36H')).toBe('windrow: acme: samples of all series are kept for P1DT12H\n');
    expect(await set('--keep', 'P90D', '--results', '--series', 'pump', '--metric', 'Mean')).toBe(
      'windrow: acme: results of the series pump, metric Mean, are kept for P90D\n',
    );
    expect(await set('--keep', 'P90D', '--metric', 'Raw')).toBe(
      'windrow: acme: samples of all series, metric Raw, are kept for P90D\n',
    );
  });

  it('an empty text, as of a variable that is not set, is no rule for all series', async () => {
    const world = await open();
    await addClient(world, 'gateway');
    for (const words of [['set', '--keep', 'P1D'], ['remove']]) {
      for (const [flag, value] of [
        ['--series', 'ID'],
        ['--metric', 'NAME'],
      ] as const) {
        const name = `retention ${words[0]}`;
        expect(await world.run('retention', ...words, '--org', 'acme', flag, '', ...DATA)).toEqual({
          code: 2,
          stdout: '',
          stderr:
            `windrow: ${name}: expected ${flag} ${value}, received an empty text; ` +
            `see \`windrow ${name} --help\`\n`,
        });
      }
    }
    expect(await printed(world, 'retention', 'list', '--json')).toEqual([]);
  });

  it.each(['P104249992D', 'PT0.0001S', 'PT0S', 'P1M'])('a rule is not to keep samples for %s', async (keep) => {
    const world = await open();
    await addClient(world, 'gateway');
    const set = (text: string) => world.run('retention', 'set', '--org', 'acme', '--keep', text, ...DATA);
    expect(await set(keep)).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'windrow: --keep: expected a duration such as P90D or PT12H (months and years have no fixed length), ' +
        `above 0 and up to P104249991D, in whole milliseconds, received "${keep}"\n`,
    });
    expect((await set('P104249991D')).code).toBe(0);
  });

  it.each([
    [
      'client add x --org acme --scope core_delete',
      'scope: expected one or more of core_read, core_write, core_admin, received "core_delete"',
    ],
    [
      'client add x --org acme --scope core_read --grant magic',
      'grant: expected one or more of client_credentials, password, received "magic"',
    ],
    ['client add x --scope core_read', 'client add: expected --org ORG, received nothing'],
    ['client add x --org acme', 'client add: expected --scope SCOPES, received nothing'],
    ['client add --org acme --scope core_read', 'client add: expected NAME, received nothing'],
    ['collection add caf\u00e9 --org acme', 'collection: expected 1 to 256 ASCII characters'],
    [
      'user add zoe --org acme',
      'standard input is not a terminal, so the password cannot be asked for; use --password-stdin',
    ],
    ['user add zoe --org acme --password-stdin', 'expected a password, received nothing'],
  ])('%s: exits with 2 and says what is wrong', async (line, message) => {
    const world = await open();
    await addClient(world, 'known');
    const { code, stderr } = await world.run(...line.split(/ (?=(?:[^"]*"[^"]*")*[^"]*$)/), ...DATA);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});

it('a user of a PostgreSQL store needs no data directory', async () => {
  const words = ['user', 'add', 'zoe', '--org', 'acme', '--password-stdin'];
  const { stderr } = await createWorld({ stdin: '' }).run(...words, '--store', 'postgres://db/windrow');
  expect(stderr).toContain('expected a password, received nothing');
  const { code, stderr: withoutStore } = await createWorld({ stdin: '' }).run(...words);
  expect({ code, withoutStore }).toEqual({
    code: 2,
    withoutStore: expect.stringContaining('user add: expected --data-dir DIR or --store ADDRESS, received neither'),
  });
});

it('while the service runs, what the command adds can log in at once, and what it removes cannot', async () => {
  const world = createWorld({ stdin: 'secret' });
  const holder = await hold(world);
  const client = await addClient(world, 'portal', '--grant', 'client_credentials,password');
  await world.run('user', 'add', 'zoe', '--org', 'acme', '--password-stdin', ...DATA);
  const zoe: [string, string][] = [
    ['username', 'zoe'],
    ['password', 'secret'],
  ];
  expect(await canLogIn(holder, client)).toBe(true);
  expect(await canLogIn(holder, client, zoe)).toBe(true);
  await world.run('collection', 'add', 'alarms', '--org', 'acme', '--allow', client.clientId, ...DATA);
  expect(await holder.canUse('acme', 'alarms', client.clientId)).toBe(true);

  const authorization = [`Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`];
  const form = new Map(Object.entries({ grant_type: 'client_credentials', scope: 'core_read' }));
  const { access_token: token } = await holder.identity.tokens.issuer.issue({ authorization, address: '::1' }, form);
  expect(await holder.identity.authenticate(token)).toMatchObject({ clientId: client.clientId, organisation: 'acme' });
  await world.run('user', 'remove', 'zoe', '--org', 'acme', ...DATA);
  expect(await canLogIn(holder, client, zoe)).toBe(false);
  await world.run('client', 'remove', client.clientId, ...DATA);
  expect(await holder.identity.authenticate(token)).toBeUndefined();
  expect(await canLogIn(holder, client)).toBe(false);
  expect(await holder.canUse('acme', 'alarms', client.clientId)).toBe(false);
});

it('a service that opens the store finds what was added to it before, and the other way round', async () => {
  const world = createWorld();
  const first = await addClient(world, 'first');
  const holder = await hold(world);
  expect(await canLogIn(holder, first)).toBe(true);
  const second = await addClient(world, 'second');
  await holder.close();
  const ids = (await printed(world, 'client', 'list', '--json')).map(({ clientId }: { clientId: string }) => clientId);
  expect(ids.sort()).toEqual([first.clientId, second.clientId].sort());
});

it('a client whose secret cannot be shown is named, to be removed', async () => {
  let isFull = true;
  const onStdout = (): void => {
    if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
  const world = createWorld({ onStdout });
  const words = ['client', 'add', 'one', '--org', 'acme', '--scope', 'core_read', ...DATA];
  const { code, stderr } = await world.run(...words);
  isFull = false;
  const [{ clientId }] = await printed(world, 'client', 'list', '--json');
  const mend = `its secret is lost: remove it with \`windrow client remove ${clientId}\`, and add a new one`;
  expect([code, stderr]).toEqual([1, expect.stringContaining(`windrow: the client was added, but ${mend}\n`)]);
});

it('a backup or a restore of a store of an older version says that its samples were not read', async () => {
  const world = createWorld();
  await addClient(world, 'one');
  const database = (await loadSqlite())(join(world.folder, 'data', 'windrow.db'));
  database.exec('PRAGMA user_version = 3');
  database.close();
  const scope = '; it is of an older windrow: only the structure of its file was checked; start the service once,';
  for (const [words, what] of [
    [['backup', '~/data', '--to', '~/old.db'], / is a backup of the store \(\d+ bytes\)/],
    [['restore', '~/old.db', '--to', '~/new'], / was restored from \S+old\.db/],
  ] as const) {
    const { code, stderr } = await world.run(...words);
    const [told = '', rest = ''] = stderr.split(/(?=; it is)/);
    expect([code, told]).toEqual([0, expect.stringMatching(new RegExp(`${what.source}$`))]);
    expect(rest.startsWith(scope)).toBe(true);
  }
});

it.each([
  ['SIGINT', 130, 'Ctrl-C'],
  ['SIGTERM', 143, 'SIGTERM'],
] as const)('%s leaves nothing of an unfinished backup or restore', async (signal, code, cause) => {
  const world = createWorld();
  await addClient(world, 'one');
  expect((await world.run('backup', '~/data', '--to', '~/monday.db')).code).toBe(0);
  for (const [words, lead] of [
    [['backup', '~/data', '--to', '~/tuesday.db'], 'tuesday.db.'],
    [['restore', '~/monday.db', '--to', '~/new'], join('new', 'windrow.db.')],
  ] as const) {
    const ended = world.run(...words);
    const names = () => readdirSync(world.folder, { recursive: true }).map(String);
    const isUnfinished = (name: string) => name.startsWith(lead) && name.endsWith('.unfinished');
    while (!names().some(isUnfinished)) await new Promise((done) => setImmediate(done));
    world.interrupt(signal);
    expect(await ended).toEqual({ code, stdout: '', stderr: `windrow: stopped by ${cause}; no file was written\n` });
    expect(names().filter((name) => /tuesday|new\W/.test(name))).toEqual([]);
  }
});

it.each([
  [['client', 'list', '--data-dir', 'postgres://u@h/x'], '--data-dir', 'give its address as --store'],
  [['serve', '--data-dir', 'postgresql://u@h/x'], '--data-dir', 'give its address as --store'],
  [['restore', 'x.db', '--to', 'postgres://u@h/x'], '--to', 'PostgreSQL has pg_restore and pg_basebackup for that'],
])('an address is no directory: %s', async (words, flag, mend) => {
  const world = createWorld();
  expect(await world.run(...words)).toEqual({
    code: 2,
    stdout: '',
    stderr: `windrow: ${flag}: expected a data directory, received the address of a database; ${mend}\n`,
  });
  expect(world.files()).toEqual([]);
});

it('list and remove create no store; add does, and says so', async () => {
  const world = createWorld();
  world.write('data', '');
  expect(await world.run('client', 'list', '--data-dir', '~/nowhere')).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'windrow: ~/nowhere: there is no store of windrow; check --data-dir; ' +
      '`windrow serve`, `client add` and `user add` create a store\n',
  });
  expect(world.files()).toEqual(['data']);
  const added = await world.run('client', 'add', 'x', '--org', 'o', '--scope', 'core_read', '--data-dir', '~/new');
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('windrow: created a new store in ') });
});

it.skipIf(process.platform === 'win32')(
  'files that a command creates are accessible to their owner only, also while it works',
  async () => {
    const world = createWorld();
    const umask = process.umask(0o022);
    onTestFinished(() => void process.umask(umask));
    const io = { fs, stderr: { write: async () => {} } } as unknown as Io; // `as`: all of Io that is used here
    const modes = await administer({ directory: world.path('data') }, io, true, async () =>
      readdirSync(world.path('data')).map((name) => [name, statSync(world.path(`data/${name}`)).mode & 0o077]),
    );
    expect(modes.map(([name]) => name)).toEqual(expect.arrayContaining(['windrow.db', 'windrow.db-wal']));
    expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
  },
);

it('two commands on a free store wait for each other', async () => {
  const world = createWorld();
  await addClient(world, 'zero');
  await Promise.all(['one', 'two', 'three'].map((name) => addClient(world, name)));
  expect(await printed(world, 'client', 'list', '--json')).toHaveLength(4);
});
