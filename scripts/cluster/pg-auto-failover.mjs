// PostgreSQL under pg_auto_failover: a monitor and several nodes, set up as in docs/scale.md.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Authority } from './certificates.mjs';
import { hasProgram } from './machines.mjs';

const DATA = 'data';
/** Of the user by whom nodes ask the monitor, and the one by whom they ask each other. */
const MONITOR_PASSWORD = 'secret-of-nodes';
const REPLICATION_PASSWORD = 'secret-of-standbys';
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
  #authority;
  nodes = [];
  /** The folder of a server within its machine's. */
  data = DATA;

  /**
   * @param {import('./machines.mjs').Network} network
   * @param {string} folder
   * @param {number} port of the monitor; those of the nodes follow
   */
  constructor(network, folder, port) {
    this.#network = network;
    this.#folder = folder;
    this.#port = port;
    this.#authority = new Authority(folder);
  }

  /** What has to be installed, in a sentence; undefined if nothing. */
  static missing() {
    if (hasProgram('pg_autoctl')) return undefined;
    return 'pg_auto_failover is not installed: apt-get install pg-auto-failover-cli postgresql-15-auto-failover';
  }

  async start({ database, user, password, nodeCount, isQuick, options }) {
    await this.#authority.start();
    this.#monitor = await this.#add('monitor');
    await this.#monitor.run('pg_autoctl', 'create', 'monitor', ...this.#placeOf(this.#monitor));
    if (isQuick) appendFileSync(join(dataOf(this.#monitor), 'postgresql.conf'), QUICK);
    this.keep(this.#monitor);
    await this.#tell(this.#monitor, 'pg_auto_failover', `ALTER USER autoctl_node PASSWORD '${MONITOR_PASSWORD}'`);
    const lines = Object.entries(options).map(([name, value]) => `${name} = ${value}\n`);
    const [replicator, { outside, all }] = ['pgautofailover_replicator', this.#network];
    for (let i = 1; i <= nodeCount; i++) {
      const node = await this.#add(`node${i}`);
      this.nodes.push(node);
      node.write('.pgpass', `*:*:*:${replicator}:${REPLICATION_PASSWORD}\n`);
      const words = ['--name', node.name, '--dbname', database, '--username', user, '--monitor', this.#monitorAddress];
      await node.run('pg_autoctl', 'create', 'postgres', ...this.#placeOf(node), ...words);
      const wait = ['timeout.network_partition_timeout', String(QUICK_PARTITION_S)];
      if (isQuick) await node.run('pg_autoctl', 'config', 'set', '--pgdata', dataOf(node), ...wait);
      // The others copy them from the first.
      if (i === 1) appendFileSync(join(dataOf(node), 'postgresql.conf'), lines.join(''));
      // The second is for pg_rewind, which asks for the database `postgres`.
      const rules = [`hostssl ${database} ${user} ${outside}/32`, `hostssl all ${replicator} ${all}`];
      appendFileSync(join(dataOf(node), 'pg_hba.conf'), rules.map((rule) => `${rule} scram-sha-256\n`).join(''));
      this.keep(node);
      if (i === 1) {
        await this.#tell(node, database, `ALTER USER ${replicator} PASSWORD '${REPLICATION_PASSWORD}'`);
        await this.#tell(node, database, `ALTER USER ${user} PASSWORD '${password}'`);
      }
      await this.#begin();
    }
  }

  async #begin() {
    const unsettled = await this.settle();
    if (unsettled !== undefined) throw new Error(`the nodes did not start: ${unsettled}`);
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

  /** Resolves when one node is the primary and all others are ready to take over; after long, what they are. */
  async settle() {
    let states = [];
    for (const endMs = performance.now() + SETTLE_MS_MAX; performance.now() < endMs; await wait(200)) {
      states = await this.#states().catch(() => []);
      const count = (name) => states.filter(([, ...both]) => both.every((state) => state === name)).length;
      const first = states.length === 1 ? 'single' : 'primary';
      if (states.length === this.nodes.length && count(first) === 1 && count('secondary') === states.length - 1)
        return undefined;
    }
    return states.map((state) => state.join(' ')).join(', ');
  }

  /** @returns for each node its name, the state it has reported, and the one the monitor wants. */
  async #states() {
    const rows = await this.#monitor.run('psql', '-X', '-A', '-t', '-d', this.#monitorAddress, '-c', STATES);
    return rows.split('\n').map((row) => row.split('|'));
  }

  async #add(name) {
    const machine = await this.#network.add(this.#folder, name);
    await this.#authority.certify(machine, this.#network.hosts);
    return machine;
  }

  #placeOf(machine) {
    const where = ['--pgdata', dataOf(machine), '--pgport', String(this.portOf(machine)), '--hostname', machine.host];
    const [key, certificate, authority] = ['server.key', 'server.crt', 'ca.crt'].map((name) =>
      join(machine.folder, name),
    );
    const tls = ['--server-key', key, '--server-cert', certificate, '--ssl-ca-file', authority];
    return [...where, '--auth', 'scram-sha-256', '--ssl-mode', 'verify-full', ...tls];
  }

  /** Runs a statement as the owner of a server, once that runs. */
  async #tell(machine, database, sql) {
    for (let tries = 0; ; tries++) {
      try {
        return await machine.run('psql', '-X', '-p', String(this.portOf(machine)), '-d', database, '-c', sql);
      } catch (error) {
        if (tries > 120) throw error;
        await wait(500);
      }
    }
  }

  /** What a client needs to trust the servers. */
  get tls() {
    return `sslmode=verify-full&sslrootcert=${encodeURIComponent(this.#authority.path)}`;
  }

  get #monitorAddress() {
    const { host } = this.#monitor;
    return `postgres://autoctl_node:${MONITOR_PASSWORD}@${host}:${this.#port}/pg_auto_failover?${this.tls}`;
  }
}

function dataOf(machine) {
  return join(machine.folder, DATA);
}
