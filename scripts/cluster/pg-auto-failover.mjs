// PostgreSQL under pg_auto_failover: a monitor and several nodes, set up as in docs/scale.md.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hasProgram } from './machines.mjs';

const DATA = 'data';
/** With these the monitor decides sooner than by default. */
const QUICK = `
pgautofailover.health_check_period = 1000
pgautofailover.health_check_timeout = 2000
pgautofailover.health_check_retry_delay = 500
pgautofailover.node_considered_unhealthy_timeout = 5000
pgautofailover.primary_demote_timeout = 6000
`;
/** After so many seconds without the monitor and its standbys, a primary stops by itself: sooner than the above. */
const QUICK_PARTITION_S = 5;
const STATES = 'SELECT nodename, reportedstate, goalstate FROM pgautofailover.node ORDER BY nodeid';
const WRITABLE = ['single', 'wait_primary', 'primary'];
const SETTLE_MS_MAX = 180_000;

export class PgAutoFailover {
  #network;
  #folder;
  #port;
  #monitor;
  nodes = [];
  /** The folder of a server within its machine's. */
  data = DATA;
  sslmode = 'require';

  /**
   * @param {import('./machines.mjs').Network} network
   * @param {string} folder
   * @param {number} port of the monitor; those of the nodes follow
   */
  constructor(network, folder, port) {
    this.#network = network;
    this.#folder = folder;
    this.#port = port;
  }

  /** What has to be installed, in a sentence; undefined if nothing. */
  static missing() {
    if (hasProgram('pg_autoctl')) return undefined;
    return 'pg_auto_failover is not installed: apt-get install pg-auto-failover-cli postgresql-15-auto-failover';
  }

  async start({ database, user, password, nodeCount, isQuick, options }) {
    this.#monitor = await this.#network.add(this.#folder, 'monitor');
    const place = (machine) => {
      const where = ['--pgdata', dataOf(machine), '--pgport', String(this.portOf(machine)), '--hostname', machine.host];
      return [...where, '--auth', 'trust', '--ssl-self-signed'];
    };
    await this.#monitor.run('pg_autoctl', 'create', 'monitor', ...place(this.#monitor));
    if (isQuick) appendFileSync(join(dataOf(this.#monitor), 'postgresql.conf'), QUICK);
    this.keep(this.#monitor);
    const lines = Object.entries(options).map(([name, value]) => `${name} = ${value}\n`);
    for (let i = 1; i <= nodeCount; i++) {
      const node = await this.#network.add(this.#folder, `node${i}`);
      this.nodes.push(node);
      const words = ['--name', node.name, '--dbname', database, '--username', user, '--monitor', this.#monitorAddress];
      await this.#onceMonitored(() => node.run('pg_autoctl', 'create', 'postgres', ...place(node), ...words));
      const wait = ['timeout.network_partition_timeout', String(QUICK_PARTITION_S)];
      if (isQuick) await node.run('pg_autoctl', 'config', 'set', '--pgdata', dataOf(node), ...wait);
      // The others copy them from the first.
      if (i === 1) appendFileSync(join(dataOf(node), 'postgresql.conf'), lines.join(''));
      const rule = `hostssl ${database} ${user} ${this.#network.outside}/32 scram-sha-256\n`;
      appendFileSync(join(dataOf(node), 'pg_hba.conf'), rule);
      this.keep(node);
      await this.settle();
    }
    const [first] = this.nodes;
    const sql = `ALTER USER ${user} PASSWORD '${password}'`;
    await first.run('psql', '-X', '-p', String(this.portOf(first)), '-d', database, '-c', sql);
  }

  /** Starts what keeps the server of a machine: the server, too. */
  keep(machine) {
    machine.start('pg_autoctl', 'run', '--pgdata', dataOf(machine));
  }

  portOf(machine) {
    return this.#port + 1 + this.nodes.indexOf(machine);
  }

  /** The node that takes writes, as the monitor sees it. */
  async primary() {
    const states = await this.#states();
    const found = states.find(([, ...both]) => both.every((state) => WRITABLE.includes(state)));
    return this.nodes.find(({ name }) => name === found?.[0]);
  }

  /** Resolves when one node is the primary and all others are ready to take over. */
  async settle() {
    let states = [];
    for (const endMs = performance.now() + SETTLE_MS_MAX; performance.now() < endMs; await wait(200)) {
      states = await this.#states().catch(() => []);
      const count = (name) => states.filter(([, ...both]) => both.every((state) => state === name)).length;
      const first = states.length === 1 ? 'single' : 'primary';
      if (states.length === this.nodes.length && count(first) === 1 && count('secondary') === states.length - 1) return;
    }
    throw new Error(`pg_auto_failover did not settle: ${states.map((state) => state.join(' ')).join(', ')}`);
  }

  /** @returns for each node its name, the state it has reported, and the one the monitor wants. */
  async #states() {
    const rows = await this.#monitor.run('psql', '-X', '-A', '-t', '-d', this.#monitorAddress, '-c', STATES);
    return rows.split('\n').map((row) => row.split('|'));
  }

  async #onceMonitored(work) {
    for (let tries = 0; ; tries++) {
      try {
        await this.#states().catch((error) => error);
        return await work();
      } catch (error) {
        if (tries > 20) throw error;
        await wait(500);
      }
    }
  }

  get #monitorAddress() {
    return `postgres://autoctl_node@${this.#monitor.host}:${this.#port}/pg_auto_failover?sslmode=require`;
  }
}

function dataOf(machine) {
  return join(machine.folder, DATA);
}
