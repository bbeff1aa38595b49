// Several windrow processes over one PostgreSQL with a standby, loaded through a balancer while processes and databases
// are killed. Prints at the end what was acknowledged and what is stored.

import { setTimeout as wait } from 'node:timers/promises';
import { createPlan, runBatch } from '../../dist/index.js';
import { Balancer } from './balancer.mjs';
import { disturbances } from './disturbances.mjs';
import { failures } from './failures.mjs';
import { Feed } from './feed.mjs';
import { PostgresServer } from './postgres-server.mjs';
import { runWindrow, WindrowProcess } from './windrow-process.mjs';

const DATABASE = 'windrow';
const STANDBY = 'standby';
/** After so long, a tool will not let another server take over. */
const TAKEOVER_MS_MAX = 120_000;
/** How often to ask the database whether a takeover is done. */
const LOOK_MS = 10;
// Shards whose owner's connection has ended, so nobody works on them.
const ORPHANS = `SELECT count(*) FROM windrow_shard WHERE owner IS NOT NULL AND NOT EXISTS (SELECT FROM pg_locks
  WHERE locktype = 'advisory' AND classid = 'windrow_shard'::regclass AND objid = session::oid)`;

/** Numbers in [0, 1), the same for the same seed: mulberry32. */
export function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Cluster {
  #folder;
  #random;
  #say;
  #primary;
  #standby;
  /** Servers under a tool that fails over by itself, in their place. */
  #managed;
  #processes = [];
  #balancer;
  #feeds = [];
  #running = Promise.resolve();
  #isEnding = false;
  #takeovers = { process: [], database: [], disturbance: [] };
  #failovers = new Map();
  /** Failures that are still to come before each comes again. */
  #due = [];

  /**
   * @param {string} folder of the databases; a user without rights must be able to reach it
   * @param {() => number} random
   * @param {(text: string) => void} say
   */
  constructor(folder, random, say = () => {}) {
    this.#folder = folder;
    this.#random = random;
    this.#say = say;
  }

  /** Whether a feed got an answer that must not be; `ledger` rejects with it. */
  get isEnding() {
    return this.#isEnding;
  }

  /**
   * @param {object} options
   * @param {number} options.processCount
   * @param {number} options.feedCount
   * @param {boolean} [options.hasStandby]
   * @param {import('./managed.mjs').Managed} [options.managed] servers under a tool, in place of its own
   */
  async start({ processCount, feedCount, hasStandby, managed }) {
    this.#managed = managed;
    const options = { shared_buffers: '64MB', max_connections: 60, wal_keep_size: '256MB' };
    if (managed === undefined) await this.#startServers(options, hasStandby);
    else await managed.start(DATABASE, options);
    const folders = [this.#primary, this.#standby].flatMap((server) => (server === undefined ? [] : [server.folder]));
    const own = `postgres://windrow@/${DATABASE}?host=${encodeURIComponent(folders.join(','))}`;
    const store = managed?.address(DATABASE) ?? own;
    this.#processes = Array.from({ length: processCount }, () => new WindrowProcess(store));
    const clients = [];
    for (let i = 0; i < feedCount; i++) {
      const words = ['client', 'add', 'feed', '--org', `org-${i}`, '--scope', 'core_read core_write', '--json'];
      // Every other organisation is spread over shards, so that several processes compute for it.
      if (i % 2 === 0) words.push('--groups', '8');
      clients.push(JSON.parse(await runWindrow(words, store)));
    }
    for (const process of this.#processes) await process.start();
    this.#balancer = new Balancer(this.#processes);
    await this.#balancer.start();
    this.#feeds = clients.map((_, i) => new Feed(this.#balancer.url, [`series-${i}-a`, `series-${i}-b`], this.#random));
    await Promise.all(this.#feeds.map((feed, i) => feed.open(clients[i])));
    const isEnding = () => this.#isEnding;
    this.#running = Promise.all(this.#feeds.flatMap((feed) => [feed.run(isEnding), feed.watch(isEnding)]));
    this.#running.catch(() => {
      this.#isEnding = true;
    });
  }

  async #startServers(options, hasStandby) {
    this.#primary = new PostgresServer(`${this.#folder}/a`, options);
    this.#standby = new PostgresServer(`${this.#folder}/b`, options);
    await this.#primary.create();
    await this.#primary.start();
    await this.#primary.createDatabase(DATABASE);
    if (hasStandby) await this.#follow();
    else this.#standby = undefined;
  }

  /** Kills a process, restarts it later, and measures how long it takes until others own its shards. */
  async killProcess() {
    const process = this.#processes[Math.floor(this.#random() * this.#processes.length)];
    if (process.url === undefined) return;
    const startMs = performance.now();
    await process.end('SIGKILL');
    while (Number(await (this.#managed ?? this.#primary).query(ORPHANS, DATABASE)) > 0) await wait(LOOK_MS);
    const takeoverMs = performance.now() - startMs;
    this.#takeovers.process.push(takeoverMs);
    this.#say(`a windrow process was killed; its shards were taken over after ${takeoverMs.toFixed()} ms`);
    await wait(200);
    await process.start();
  }

  /** Stops a process gracefully, as a rolling restart does, and starts it again. */
  async restartProcess() {
    const process = this.#processes[Math.floor(this.#random() * this.#processes.length)];
    if (process.url === undefined) return;
    await process.end('SIGTERM');
    await process.start();
    this.#say('a windrow process was restarted');
  }

  /** Kills the primary with all its connections, promotes the standby, and gives it a new standby. */
  async killPrimary() {
    const [old, next] = [this.#primary, this.#standby];
    const startMs = performance.now();
    await old.kill();
    // Like a monitor, which decides after two failed checks.
    await wait(1000);
    await next.promote();
    const promotedMs = performance.now();
    [this.#primary, this.#standby] = [next, old];
    while (!this.#isEnding && !this.#feeds.some(({ acknowledgedMs }) => acknowledgedMs > promotedMs))
      await wait(LOOK_MS);
    const takeoverMs = performance.now() - startMs;
    this.#takeovers.database.push(takeoverMs);
    this.#say(`the primary database was killed; writes went on after ${takeoverMs.toFixed()} ms`);
    old.clear();
    await this.#follow();
  }

  /**
   * One failure after the other, in any order, over which the tool has to help; waits until all nodes are there again.
   *
   * @returns whether they were, in time
   */
  async failOver() {
    if (this.#due.length === 0) {
      const all = failures(this.#managed, this.#random);
      this.#due = all.filter(([name, { isTwofold = false }]) => this.#managed.fails(name, isTwofold));
    }
    const [[name, { mayBeTakenOver, begin, end }]] = this.#due.splice(Math.floor(this.#random() * this.#due.length), 1);
    const old = await this.#managed.primary();
    const startMs = performance.now();
    await begin(old);
    // What was acknowledged before may be on its way.
    const fromMs = performance.now() + 100;
    const isTakenOver = mayBeTakenOver && (await this.#takesOver(old));
    const promotedMs = performance.now() - startMs;
    // Only it has all that was acknowledged, so the tool waits for it.
    if (mayBeTakenOver && !isTakenOver) await end(old);
    const firstMs = (await this.#writtenAfter(fromMs, 'some')) - startMs;
    const allMs = (await this.#writtenAfter(fromMs, 'every')) - startMs;
    if (!mayBeTakenOver || isTakenOver) await end(old);
    const unsettled = await this.#managed.settle();
    const settledMs = performance.now() - startMs;
    const title = mayBeTakenOver && !isTakenOver ? `${name}, and nobody took over` : name;
    this.#failovers.set(title, [...(this.#failovers.get(title) ?? []), { firstMs, allMs }]);
    const seconds = [promotedMs, firstMs, allMs, settledMs].map((ms) => (ms / 1000).toFixed(1));
    const [promoted, first, last, settled] = seconds;
    const rest = unsettled === undefined ? `in step after ${settled}` : `not in step for long: ${unsettled}`;
    const how = isTakenOver ? `another took over after ${promoted} s; ` : '';
    this.#say(`${old.name} ${title}; ${how}writes went on after ${first} s, all after ${last}; ${rest}`);
    return unsettled === undefined;
  }

  /** Whether another node than this one becomes the primary in time. */
  async #takesOver(old) {
    for (const endMs = performance.now() + TAKEOVER_MS_MAX; performance.now() < endMs; await wait(100)) {
      const primary = await this.#managed.primary().catch(() => old);
      if (primary !== undefined && primary !== old) return true;
    }
    return false;
  }

  /** When all or some of the feeds were acknowledged after an instant, by `performance.now()`. */
  async #writtenAfter(fromMs, which) {
    while (!this.#isEnding && !this.#feeds[which](({ acknowledgedMs }) => acknowledgedMs > fromMs)) await wait(LOOK_MS);
    return which === 'some'
      ? Math.min(...this.#feeds.map(({ acknowledgedMs }) => acknowledgedMs).filter((ms) => ms > fromMs))
      : performance.now();
  }

  /** One of the disturbances that a database outlives. */
  async disturbDatabase() {
    const all = Object.entries(disturbances(this.#primary, DATABASE, this.#random));
    const [name, disturb] = all[Math.floor(this.#random() * all.length)];
    const startMs = performance.now();
    await disturb();
    const endMs = performance.now();
    while (!this.#isEnding && !this.#feeds.some(({ acknowledgedMs }) => acknowledgedMs > endMs)) await wait(LOOK_MS);
    const [lastedMs, restMs] = [endMs - startMs, performance.now() - endMs];
    this.#takeovers.disturbance.push(restMs);
    this.#say(`the database ${name}, for ${lastedMs.toFixed()} ms; writes went on after ${restMs.toFixed()} ms more`);
  }

  /** Stops the feeds, and compares their ledgers with what is stored. */
  async ledger() {
    this.#isEnding = true;
    await this.#running;
    const batchOf = (request, inputs) => {
      const series = inputs.map(({ timeMs, value, ...reference }) => {
        return { ...reference, timeMs: Float64Array.from(timeMs), value: Float64Array.from(value) };
      });
      return runBatch(createPlan(request), series).series.at(-1);
    };
    const sum = { acknowledged: 0, found: 0, missing: 0, different: 0, unknown: 0, doubled: 0 };
    const results = { right: 0, wrong: 0 };
    for (const feed of this.#feeds) {
      const { results: own, ...counts } = await feed.compare(batchOf);
      for (const name of Object.keys(sum)) sum[name] += counts[name];
      results.right += own.right;
      results.wrong += own.wrong;
    }
    const requests = { acknowledged: 0, repeated: 0 };
    const reads = { answered: 0, missing: 0, different: 0 };
    for (const feed of this.#feeds) {
      for (const name of Object.keys(requests)) requests[name] += feed.counts[name];
      for (const name of Object.keys(reads)) reads[name] += feed.reads[name];
    }
    return { requests, reads, samples: sum, results, takeovers: this.#takeovers, failovers: this.#failovers };
  }

  async stop() {
    this.#isEnding = true;
    this.#balancer?.stop();
    await Promise.all(this.#processes.map((process) => process.end('SIGKILL')));
    for (const server of [this.#standby, this.#primary]) await server?.stop('SIGQUIT');
    await this.#managed?.stop();
  }

  /** Recreates the standby from the primary; from then on a commit waits until both disks have it. */
  async #follow() {
    await this.#standby.createStandbyOf(this.#primary, STANDBY);
    await this.#standby.start();
    await this.#primary.configure([`synchronous_standby_names = '${STANDBY}'`]);
    const isInStep = `SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'`;
    while ((await this.#primary.query(isInStep)) !== '1') await wait(50);
  }
}
