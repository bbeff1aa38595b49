// The stores of the attacked services: folders, or databases of a PostgreSQL server that is started for them.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
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

/** A store without data; `words` names it for a command. */
export async function newStore() {
  return server === undefined ? folderStore(folder()) : databaseStore();
}

/**
 * A store on a disk of its own.
 *
 * @returns undefined where this user may not mount one.
 */
export async function newSmallStore(sizeMb) {
  if (server === undefined) {
    const path = folder();
    return mount(path, sizeMb) ? folderStore(path) : undefined;
  }
  // Its tables alone: when the disk of its log is full, PostgreSQL ends.
  const path = join(server.folder, 'small');
  mkdirSync(path);
  const { uid, gid } = statSync(server.folder);
  if (!mount(path, sizeMb, `,uid=${uid},gid=${gid},mode=0700`)) return undefined;
  await server.query(`CREATE TABLESPACE small LOCATION '${path}'`);
  const enlarge = (newMb) => spawnSync('mount', ['-o', `remount,size=${newMb}m`, path]);
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
  const name = `attacked${databaseCount++}`;
  await server.query(`CREATE DATABASE ${name} ${more}`);
  return { words: ['--store', server.address(name)] };
}

/** Stops the database, and deletes the stores. */
export async function deleteStores() {
  await server?.stop('SIGQUIT');
  for (const path of mounted) spawnSync('umount', ['-l', path], { stdio: 'ignore' });
  for (const path of folders) rmSync(path, { recursive: true, force: true });
}
