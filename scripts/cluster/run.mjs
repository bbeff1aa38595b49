// Kills windrow processes and databases at random under load for a while, and prints the ledger.
//
//   npm run cluster -- [seconds] [seed]

import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Cluster, createRandom } from './cluster.mjs';

const seconds = Number(process.argv[2] ?? 60);
const seed = Number(process.argv[3] ?? randomInt(2 ** 31));
const random = createRandom(seed);
const folder = mkdtempSync(join(tmpdir(), 'windrow-cluster-'));
chmodSync(folder, 0o711);
const startMs = performance.now();
const say = (text) => console.log(`${((performance.now() - startMs) / 1000).toFixed(1).padStart(6)} s  ${text}`);

say(`seed ${seed}: PostgreSQL with a synchronous standby, three windrow processes, six organisations`);
const cluster = new Cluster(folder, random, say);
try {
  await cluster.start({ processCount: 3, feedCount: 6, hasStandby: true });
  say('all of it runs, and samples come in');
  for (const endMs = performance.now() + seconds * 1000; performance.now() < endMs; ) {
    await wait(1000 + random() * 2000);
    const die = random();
    if (die < 0.6) await cluster.killProcess();
    else if (die < 0.75) await cluster.restartProcess();
    else await cluster.killPrimary();
  }
  const { requests, samples, results, takeovers } = await cluster.ledger();
  console.table({ requests, samples, results });
  for (const [name, times] of Object.entries(takeovers)) {
    const sorted = times.map(Math.round).sort((a, b) => a - b);
    console.log(`takeover after a killed ${name} (ms): ${sorted.join(', ') || 'none'}`);
  }
  const { missing, different, unknown, doubled } = samples;
  if (missing + different + unknown + doubled + results.wrong > 0) process.exitCode = 1;
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
