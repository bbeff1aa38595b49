// InfluxDB 1.x as packaged by Debian (`apt-get install influxdb`), started for the benchmark only. Like windrow, it has
// every write in its log on disk before it answers (`wal-fsync-delay = 0s`, its default).

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export function influxVersion() {
  const { status, stdout } = spawnSync('influxd', ['version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim().replace(/ \(.*$/, '') : undefined;
}

export async function startInflux(folder, port) {
  mkdirSync(folder, { recursive: true });
  const config = join(folder, 'influxdb.conf');
  writeFileSync(
    config,
    `reporting-disabled = true
bind-address = "127.0.0.1:${port + 1}"
[meta]
  dir = "${folder}/meta"
[data]
  dir = "${folder}/data"
  wal-dir = "${folder}/wal"
  wal-fsync-delay = "0s"
  query-log-enabled = false
[http]
  bind-address = "127.0.0.1:${port}"
  log-enabled = false
[monitor]
  store-enabled = false
`,
  );
  const child = spawn('influxd', ['-config', config], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    const isUp = await fetch(`${url}/ping`).then(
      () => true,
      () => false,
    );
    if (isUp) break;
    if (tries > 100) throw new Error('influxd does not answer');
    await pause(100);
  }
  await fetch(`${url}/query?q=${encodeURIComponent('CREATE DATABASE bench')}`, { method: 'POST' });
  return {
    url,
    pids: () => [child.pid],
    stop: async () => {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}
