// The stores of the attacked services: folders, or databases of a PostgreSQL server that is started for them.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer } from '../../scripts/cluster/postgres-server.mjs';

const folders = [];
const mounted = [];
let server;
let databaseCount = 0;

/** From here on, stores are databases of a server of their own. */
export async function startPostgres() {
  const path = folder();
  chmodSync(path, 0o711); // the server runs as another user
  server = new PostgresServer(join(path, 'postgres'), { max_connections: 200 });
  await server.create();
  await server.start();
}

/** The PostgreSQL server, if stores are its databases. */
export const postgres = () => server;

// What items read and write, without what a process asks once a second.
const OF_ITEMS =
  /LOG: +(?:execute|statement).*(?:(?:INSERT INTO|UPDATE|DELETE FROM) "(?!windrow_)|FROM "(?:items|item_sources|transactions|provisional_samples)")/g;

/** How many statements for items the database is sent meanwhile. */
export async function countStatements(_server, work) {
  const path = join(server.folder, 'log');
  await server.configure(["log_statement = 'all'"]);
  const before = statSync(path).size;
  try {
    await work();
    return readFileSync(path).subarray(before).toString('latin1').match(OF_ITEMS)?.length ?? 0;
  } finally {
    await server.configure(["log_statement = 'none'"]);
  }
}

/** A store without data; `words` names it for a command. */
export async function newStore() {
  return server === undefined ? folderStore(folder()) : databaseStore();
}

/** A folder has 32 MiB set aside; a database begins with 8. */
const FOLDER_MB = 80;
const DATABASE_MB = 32;

/**
 * A store on a small disk of its own.
 *
 * @returns undefined where this user may not mount one.
 */
export async function newSmallStore() {
  if (server === undefined) {
    const path = folder();
    return mount(path, FOLDER_MB) ? folderStore(path) : undefined;
  }
  // Its tables alone: when the disk of its log is full, PostgreSQL ends.
  const path = join(server.folder, 'small');
  mkdirSync(path);
  const { uid, gid } = statSync(server.folder);
  if (!mount(path, DATABASE_MB, `,uid=${uid},gid=${gid},mode=0700`)) return undefined;
  await server.query(`CREATE TABLESPACE small LOCATION '${path}'`);
  const enlarge = () => spawnSync('mount', ['-o', `remount,size=${4 * DATABASE_MB}m`, path]);
  return { ...(await databaseStore('TABLESPACE small')), enlarge };
}

function folder() {
  const path = mkdtempSync(join(tmpdir(), 'windrow-attack-'));
  folders.push(path);
  return path;
}

function mount(path, sizeMb, more = '') {
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m${more}`, 'tmpfs', path]);
  if (status === 0) mounted.push(path);
  return status === 0;
}

function folderStore(path) {
  return { words: ['--data-dir', path] };
}

async function databaseStore(more = '') {
  return { words: ['--store', await server.createDatabase(`attacked${databaseCount++}`, more)] };
}

/** Stops the database, and deletes the stores. */
export async function deleteStores() {
  await server?.stop('SIGQUIT');
  for (const path of mounted) spawnSync('umount', ['-l', path], { stdio: 'ignore' });
  for (const path of folders) rmSync(path, { recursive: true, force: true });
}
