// PgBouncer before a PostgreSQL server, on a socket in a folder, for tests.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { owner } from './postgres-server.mjs';

const START_MS_MAX = 20_000;

/** The path of PgBouncer; undefined if it is not installed. */
export function findPooler() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
}

export class Pooler {
  #folder;
  #child;

  /** @param {string} folder its own; made where it is not there */
  constructor(folder) {
    this.#folder = folder;
  }

  /**
   * Starts it before a server; resolves when it accepts connections.
   *
   * @param {import('./postgres-server.mjs').PostgresServer} server
   * @param {Readonly<Record<string, string | number>>} options of pgbouncer.ini
   */
  async start(server, options) {
    const { uid, gid } = owner();
    mkdirSync(this.#folder, { recursive: true, mode: 0o711 });
    // It makes its socket here; as PostgreSQL, it refuses root.
    if (uid !== undefined) chownSync(this.#folder, uid, gid);
    const settings = {
      listen_addr: '',
      listen_port: 5432,
      unix_socket_dir: this.#folder,
      auth_type: 'any',
      ...options,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    const path = join(this.#folder, 'pgbouncer.ini');
    const databases = `[databases]\n* = host=${server.folder} user=windrow`;
    // Whatever this process's umask is: its owner must be able to read it.
    writeFileSync(path, `${databases}\n[pgbouncer]\n${lines.join('\n')}\n`);
    if (uid !== undefined) chownSync(path, uid, gid);
    const logPath = join(this.#folder, 'log');
    const log = openSync(logPath, 'a');
    this.#child = spawn(findPooler(), [path], { uid, gid, cwd: this.#folder, stdio: ['ignore', log, log] });
    for (let waitedMs = 0; !existsSync(join(this.#folder, '.s.PGSQL.5432')); waitedMs += 50) {
      if (this.#child.exitCode !== null || waitedMs > START_MS_MAX)
        throw new Error(`PgBouncer did not start: ${readFileSync(logPath, 'utf8')}`);
      await wait(50);
    }
  }

  /** The address of a server's database by way of it. */
  addressOf(address) {
    return address.replace(/host=[^&]*/, `host=${encodeURIComponent(this.#folder)}`);
  }

  /** Ends it at once, with all connections. */
  async stop() {
    if (this.#child === undefined || this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
