// Several PostgreSQL servers, each on a machine of its own, under a tool that decides which one takes writes.

import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Network } from './machines.mjs';
import { Patroni } from './patroni.mjs';
import { PgAutoFailover } from './pg-auto-failover.mjs';
import { findPostgres } from './postgres-server.mjs';

export const tools = { pg_auto_failover: PgAutoFailover, patroni: Patroni };

const USER = 'windrow';
const PASSWORD = 'secret';

export class Managed {
  network = new Network();
  #tool;
  #options;

  /**
   * @param {keyof typeof tools} tool
   * @param {string} folder of the machines; a user without rights must be able to reach it
   * @param {object} options
   * @param {number} options.nodeCount
   * @param {boolean} options.isQuick with shorter timeouts than the tool's own
   * @param {string} options.only no other failures than those with this text in their names
   */
  constructor(tool, folder, options) {
    const port = 10_000 + 10 * (process.pid % 2000);
    this.#tool = new tools[tool](this.network, folder, port);
    this.#options = options;
  }

  async start(database, options) {
    await this.network.start();
    await this.#tool.start({ database, user: USER, password: PASSWORD, options, ...this.#options });
  }

  /** The addresses of the nodes' servers, comma-separated. */
  get #places() {
    return this.#tool.nodes.map((node) => `${node.host}:${this.#tool.portOf(node)}`).join(',');
  }

  /** The address of the database for windrow, with all nodes. */
  address(database) {
    const words = `${this.#tool.tls}&target_session_attrs=read-write`;
    return `postgres://${USER}:${PASSWORD}@${this.#places}/${database}?${words}`;
  }

  /** Runs a statement on the primary. */
  async query(sql, database) {
    const words = ['-X', '-q', '-A', '-t', '-d', `${this.address(database)}&connect_timeout=2`, '-c', sql];
    const { stdout } = await promisify(execFile)(join(findPostgres(), 'psql'), words);
    return stdout.trim();
  }

  /** Whether its server accepts connections. */
  isUp(node) {
    return new Promise((resolve) => {
      const socket = connect(this.#tool.portOf(node), node.host);
      const answer = (isUp) => {
        socket.destroy();
        resolve(isUp);
      };
      socket.once('connect', () => answer(true)).once('error', () => answer(false));
    });
  }

  killServer(node) {
    return node.kill(this.#tool.data);
  }

  killKeeper(node) {
    return node.killOthers(this.#tool.data);
  }

  keep(node) {
    this.#tool.keep(node);
  }

  primary() {
    return this.#tool.primary();
  }

  settle() {
    return this.#tool.settle();
  }

  /** Whether a failure of this name is to come. */
  fails(name, isTwofold) {
    const { only } = this.#options;
    return only === '' ? !isTwofold : name.includes(only);
  }

  stop() {
    return this.network.stop();
  }
}
