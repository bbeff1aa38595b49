// npm run cluster -- [seconds] [seed] [options]
//
// Kills windrow processes and databases at random under load for a while (60 s), then prints what was acknowledged and
// what is stored. There is a primary and a synchronous standby, which this script promotes, or else:
//
//   --single           one PostgreSQL, which is not replaced but restarted, stopped, cut off, locked and crowded
//   --failover TOOL    several PostgreSQL under pg_auto_failover or patroni, which fails over by itself
//   --nodes N          so many of them (3)
//   --only TEXT        no other failures than those with this text in what the script says of them
//   --quick            with shorter timeouts than the tool's own

import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readOptions, refuse } from '../options.mjs';
import { Cluster, createRandom } from './cluster.mjs';
import { Managed, tools } from './managed.mjs';

const { options, positionals } = readOptions(
  import.meta.url,
  {
    single: { type: 'boolean' },
    failover: { type: 'string', among: Object.keys(tools) },
    nodes: { type: 'number', default: 3 },
    only: { type: 'string', default: '' },
    quick: { type: 'boolean' },
  },
  { allowPositionals: true },
);
const [seconds = 60, seed = randomInt(2 ** 31)] = positionals.map(Number);
if (Number.isNaN(seconds) || Number.isNaN(seed))
  refuse(`expected seconds and a seed, received ${positionals.join(' ')}`);
const missing = options.failover && tools[options.failover].missing();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}
const random = createRandom(seed);
const folder = mkdtempSync(join(tmpdir(), 'windrow-cluster-'));
chmodSync(folder, 0o711);
const startMs = performance.now();
const say = (text) => console.log(`${((performance.now() - startMs) / 1000).toFixed(1).padStart(6)} s  ${text}`);

const nodeCount = options.nodes;
const managed =
  options.failover && new Managed(options.failover, folder, { nodeCount, isQuick: options.quick, only: options.only });
const one = options.single ? 'one PostgreSQL' : 'PostgreSQL with a synchronous standby';
const servers = managed === undefined ? one : `${nodeCount} PostgreSQL under ${options.failover}`;
say(`seed ${seed}: ${servers}, three windrow processes, six organisations`);
const cluster = new Cluster(folder, random, say);
// Networks and machines do not end with this process.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  });
}
try {
  await cluster.start({ processCount: 3, feedCount: 6, hasStandby: !options.single, managed });
  say('all of it runs, and samples come in');
  let isInStep = true;
  for (const endMs = performance.now() + seconds * 1000; performance.now() < endMs && isInStep && !cluster.isEnding; ) {
    await wait(1000 + random() * 2000);
    const die = random();
    if (die < 0.15) await cluster.restartProcess();
    else if (die < (options.single || managed ? 0.4 : 0.75)) await cluster.killProcess();
    else if (managed) isInStep = await cluster.failOver();
    else if (options.single) await cluster.disturbDatabase();
    else await cluster.killPrimary();
  }
  const { requests, reads, samples, results, takeovers, failovers } = await cluster.ledger();
  console.table({ requests, reads, samples, results });
  for (const [name, times] of Object.entries(takeovers)) {
    const sorted = times.map(Math.round).sort((a, b) => a - b);
    console.log(`until it went on, ${name} (ms): ${sorted.join(', ') || 'none'}`);
  }
  for (const [name, times] of failovers) {
    const of = (which) => {
      const sorted = times.map((time) => time[which] / 1000).sort((a, b) => a - b);
      return `${sorted[Math.floor(sorted.length / 2)].toFixed(1)} s in the median, ${sorted.at(-1).toFixed(1)} at most`;
    };
    console.log(`${name}, ${times.length} times: the first write after ${of('firstMs')}; all after ${of('allMs')}`);
  }
  const { missing, different, unknown, doubled } = samples;
  const wrong = missing + different + unknown + doubled + results.wrong + reads.missing + reads.different;
  if (wrong > 0) process.exitCode = 1;
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
