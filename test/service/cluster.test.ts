// Several service processes over one PostgreSQL with a standby, all in separate processes.

import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { Cluster, createRandom } from '../../scripts/cluster/cluster.mjs';
import { findPostgres } from '../../scripts/cluster/postgres-server.mjs';
import { serverFolder } from '../storage/postgres/server.js';

it.runIf(findPostgres() !== undefined)(
  'processes and the primary are killed under load: everything acknowledged is there, and results equal one batch',
  async () => {
    // Processes are killed, not the machine: what they wrote is there without a disk, too.
    const folder = serverFolder('windrow-cluster-');
    const cluster = new Cluster(folder, createRandom(5));
    onTestFinished(async () => {
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    await cluster.start({ processCount: 2, feedCount: 3, hasStandby: true });
    await cluster.killProcess();
    await cluster.restartProcess();
    await cluster.killPrimary();
    await cluster.killProcess();
    const { reads, samples, results, takeovers } = await cluster.ledger();
    expect(reads).toMatchObject({ missing: 0, different: 0 });
    expect(reads.answered).toBeGreaterThan(0);
    expect(samples).toMatchObject({ missing: 0, different: 0, unknown: 0, doubled: 0 });
    expect(samples.acknowledged).toBeGreaterThan(0);
    expect(results.wrong).toBe(0);
    expect(takeovers.database).toHaveLength(1);
  },
);

it.each([
  ['pg_auto_failover', /^pg_auto_failover is not installed: apt-get install pg-auto-failover-cli \S+\n$/],
  ['patroni', /^Patroni and etcd are not both installed: apt-get install patroni .*\n$/],
])('a run over %s says what has to be installed, where it is not', (tool, sentence) => {
  const words = ['scripts/cluster/run.mjs', '--failover', tool];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env: { PATH: '' } });
  expect(stderr).toMatch(sentence);
  expect(status).toBe(1);
});
