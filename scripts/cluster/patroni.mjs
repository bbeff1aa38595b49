// PostgreSQL under Patroni, with one etcd: set up as in docs/scale.md.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hasProgram } from './machines.mjs';
import { findPostgres } from './postgres-server.mjs';

const DATA = 'data';
/** The least that Patroni takes for `ttl`. */
const QUICK = { ttl: 20, loop_wait: 2, retry_timeout: 5 };
const SETTLE_MS_MAX = 180_000;
const ASK_MS_MAX = 1000;

export class Patroni {
  #network;
  #folder;
  #port;
  #etcd;
  nodes = [];
  /** The folder of a server within its machine's. */
  data = DATA;
  tls = 'sslmode=disable';

  /**
   * @param {import('./machines.mjs').Network} network
   * @param {string} folder
   * @param {number} port of etcd; those of the nodes and of their Patroni follow
   */
  constructor(network, folder, port) {
    this.#network = network;
    this.#folder = folder;
    this.#port = port;
  }

  /** What has to be installed, in a sentence; undefined if nothing. */
  static missing() {
    if (hasProgram('patroni') && hasProgram('etcd')) return undefined;
    return 'Patroni and etcd are not both installed: apt-get install patroni python3-etcd etcd-server';
  }

  async start({ database, user, password, nodeCount, isQuick, options }) {
    this.#etcd = await this.#network.add(this.#folder, 'etcd');
    const url = `http://${this.#etcd.host}:${this.#port}`;
    const peers = ['--listen-peer-urls', `http://127.0.0.1:${this.#port + 9}`];
    this.#etcd.start('etcd', '--data-dir', DATA, '--listen-client-urls', url, '--advertise-client-urls', url, ...peers);
    for (let i = 1; i <= nodeCount; i++) this.nodes.push(await this.#network.add(this.#folder, `node${i}`));
    for (const node of this.nodes) {
      const settings = this.#settingsOf(node, { ...(isQuick ? QUICK : {}) }, options);
      // JSON is YAML.
      writeFileSync(join(node.folder, 'patroni.yml'), JSON.stringify(settings, null, 2));
      this.keep(node);
    }
    await this.#begin();
    const first = await this.primary();
    const psql = (sql) =>
      first.run('psql', '-X', '-h', first.folder, '-p', String(this.portOf(first)), '-U', 'postgres', '-c', sql);
    await psql(`CREATE USER ${user} PASSWORD '${password}'`);
    await psql(`CREATE DATABASE ${database} OWNER ${user}`);
  }

  async #begin() {
    const unsettled = await this.settle();
    if (unsettled !== undefined) throw new Error(`the nodes did not start: ${unsettled}`);
  }

  /** Starts what keeps the server of a machine: the server, too. */
  keep(machine) {
    machine.start('patroni', 'patroni.yml');
  }

  portOf(machine) {
    return this.#port + 1 + this.nodes.indexOf(machine);
  }

  /** The node that takes writes, as etcd has it. */
  async primary() {
    const leader = (await this.#members()).find(({ role }) => role === 'leader');
    return this.nodes.find(({ name }) => name === leader?.name);
  }

  /** Resolves when one node is the primary, others follow it, one confirms its commits; after long, what they are. */
  async settle() {
    let members = [];
    for (const endMs = performance.now() + SETTLE_MS_MAX; performance.now() < endMs; await wait(200)) {
      members = await this.#members().catch(() => []);
      const count = (role) => members.filter((one) => one.role === role).length;
      const leader = members.find(({ role }) => role === 'leader');
      const isInStep = ({ state, timeline, lag = 0 }) =>
        ['running', 'streaming'].includes(state) && timeline === leader?.timeline && Number(lag) < 1 << 20;
      const isAll = members.length === this.nodes.length && members.every(isInStep);
      if (isAll && count('leader') === 1 && (members.length === 1 || count('sync_standby') > 0)) return undefined;
    }
    return JSON.stringify(members);
  }

  #settingsOf(node, times, options) {
    const trusted = [...this.nodes.map(({ host }) => host), this.#network.outside];
    return {
      scope: 'windrow',
      name: node.name,
      restapi: { listen: this.#restOf(node), connect_address: this.#restOf(node) },
      etcd3: { host: `${this.#etcd.host}:${this.#port}` },
      bootstrap: {
        dcs: { ...times, synchronous_mode: true, postgresql: { use_pg_rewind: true, parameters: options } },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
      },
      postgresql: {
        listen: `${node.host}:${this.portOf(node)}`,
        connect_address: `${node.host}:${this.portOf(node)}`,
        data_dir: join(node.folder, DATA),
        bin_dir: findPostgres(),
        authentication: {
          superuser: { username: 'postgres', password: 'secret' },
          replication: { username: 'replicator', password: 'secret' },
        },
        parameters: { unix_socket_directories: node.folder },
        pg_hba: [
          'local all all trust',
          ...trusted.map((host) => `host all all ${host}/32 scram-sha-256`),
          ...trusted.map((host) => `host replication replicator ${host}/32 scram-sha-256`),
        ],
      },
    };
  }

  #restOf(node) {
    return `${node.host}:${this.portOf(node) + 4}`;
  }

  /** What etcd has of the nodes, by the first that answers. */
  async #members() {
    const ask = async (node) => {
      const answer = await fetch(`http://${this.#restOf(node)}/cluster`, { signal: AbortSignal.timeout(ASK_MS_MAX) });
      return (await answer.json()).members;
    };
    return Promise.any(this.nodes.map(ask));
  }
}
