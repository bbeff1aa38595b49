// Builds of windrow, and InfluxDB if it is installed, under the same small bodies by turns of a fifth of a second: the
// speed of a machine changes within seconds, and short turns give each server the same share of it.
//
//   node bench/service/turns.mjs [--batch 1] [--connections 1] [--turns 50] [--ms 200] [FOLDER…]
//
// FOLDERs are builds, dist by default; to name each twice shows how far two processes of one build differ. For bodies of
// which a turn holds hundreds: what larger ones leave to be compacted takes time from the next server. Turns of the first
// six seconds do not count.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../scripts/options.mjs';
import { requestSources } from './bodies.mjs';
import { influxVersion, startInflux } from './influx.mjs';
import { openLanes, quantile } from './load.mjs';
import { startWindrow } from './windrow.mjs';

const WARM_MS = 6000;

const { options, positionals } = readOptions(
  import.meta.url,
  {
    batch: { type: 'number', default: 1 },
    connections: { type: 'number', default: 1 },
    turns: { type: 'number', default: 50 },
    ms: { type: 'number', default: 200 },
  },
  { allowPositionals: true },
);
const { batch, connections, turns, ms } = options;
const folder = mkdtempSync(join(tmpdir(), 'windrow-turns-'));
const servers = [];
try {
  for (const dist of positionals.length === 0 ? ['dist'] : positionals) {
    const server = await startWindrow(['--data-dir', join(folder, String(servers.length))], { dist });
    await add(dist, 'windrow', server);
  }
  if (influxVersion() !== undefined) await add('influx', 'influx', await startInflux(join(folder, 'influx'), 18_086));
  for (let turn = -Math.ceil(WARM_MS / ms); turn < turns; turn++) {
    for (const one of servers) {
      const { seconds, latencies } = await one.lanes.run(ms / 1000);
      if (turn < 0) continue;
      one.seconds += seconds;
      one.latencies.push(...latencies);
    }
  }
  const base = servers[0].latencies.length / servers[0].seconds;
  console.log(`bodies of ${batch} over ${connections} connections, ${turns} turns of ${ms} ms; times in ms`);
  for (const { name, seconds, latencies } of servers) {
    const rising = Float64Array.from(latencies).sort();
    const rate = latencies.length / seconds;
    const times = [0.5, 0.9, 0.99].map((q) => `p${100 * q} ${quantile(rising, q).toFixed(2)}`);
    console.log([name, `${Math.round(rate)}/s`, `${(rate / base).toFixed(2)} x`, ...times].join('  '));
  }
} finally {
  for (const { lanes, server } of servers) {
    lanes.close();
    await server.stop();
  }
  rmSync(folder, { recursive: true, force: true });
}

async function add(name, rival, server) {
  const sources = requestSources(rival, { token: server.token, run: 0, batch, connections });
  servers.push({ name, server, lanes: await openLanes(server.url, sources), seconds: 0, latencies: [] });
}
