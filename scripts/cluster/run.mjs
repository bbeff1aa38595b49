// Kills windrow processes and databases at random under load for a while, and prints the ledger. With `--single` there
// is one PostgreSQL, which is not replaced but restarted, stopped, cut off, locked and crowded.
//
//   npm run cluster -- [seconds] [seed] [--single]

import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Cluster, createRandom } from './cluster.mjs';

const { values: options, positionals } = parseArgs({
  options: { single: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [seconds = 60, seed = randomInt(2 ** 31)] = positionals.map(Number);
const random = createRandom(seed);
const folder = mkdtempSync(join(tmpdir(), 'windrow-cluster-'));
chmodSync(folder, 0o711);
const startMs = performance.now();
const say = (text) => console.log(`${((performance.now() - startMs) / 1000).toFixed(1).padStart(6)} s  ${text}`);

const servers = options.single ? 'one PostgreSQL' : 'PostgreSQL with a synchronous standby';
say(`seed ${seed}: ${servers}, three windrow processes, six organisations`);
const cluster = new Cluster(folder, random, say);
try {
  await cluster.start({ processCount: 3, feedCount: 6, hasStandby: !options.single });
  say('all of it runs, and samples come in');
  for (const endMs = performance.now() + seconds * 1000; performance.now() < endMs && !cluster.isEnding; ) {
    await wait(1000 + random() * 2000);
    const die = random();
    if (die < 0.15) await cluster.restartProcess();
    else if (die < (options.single ? 0.4 : 0.75)) await cluster.killProcess();
    else if (options.single) await cluster.disturbDatabase();
    else await cluster.killPrimary();
  }
  const { requests, reads, samples, results, takeovers } = await cluster.ledger();
  console.table({ requests, reads, samples, results });
  for (const [name, times] of Object.entries(takeovers)) {
    const sorted = times.map(Math.round).sort((a, b) => a - b);
    console.log(`until it went on, ${name} (ms): ${sorted.join(', ') || 'none'}`);
  }
  const { missing, different, unknown, doubled } = samples;
  const wrong = missing + different + unknown + doubled + results.wrong + reads.missing + reads.different;
  if (wrong > 0) process.exitCode = 1;
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
