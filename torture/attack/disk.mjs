import { spawnSync } from 'node:child_process';
import { check } from './report.mjs';
import { askToken, folder, isAlive, pause, post, start, stop } from './server.mjs';

const TIME = '2026-01-01T00:00:00Z';

/** 4: a disk that fills up under the service. */
export async function disk() {
  const data = folder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=80m', 'tmpfs', data]);
  if (mounted.status !== 0) return console.log('  left out: only root may make a small file system');
  const server = await start({ data, words: ['--token-failures-per-minute', '1000'] });
  const chunk = (i) => {
    const rows = Array.from({ length: 20_000 }, (_, k) => `${1.7e9 + i * 20_000 + k},s${i % 7},${Math.random()}\n`);
    return `timestamp,timeseriesId,value\n${rows.join('')}`;
  };
  let last = { status: 200, text: '' };
  let written = 0;
  for (; written < 500 && last.status === 200; written++)
    last = await post(server, '/core/samples', 'text/csv', chunk(written));
  check(
    'a full disk: writing is refused, with one sentence',
    last.status === 503,
    `${last.status} ${last.text.slice(0, 150)}`,
  );
  const headers = { authorization: server.authorization };
  const tokens = await askToken(server);
  check('a full disk: new tokens', tokens.status === 200, tokens.status);
  const page = await fetch(`${server.url}/core/timeseries/s1/samples?limit=10`, { headers });
  const token = (await page.json()).paging?.continuationToken;
  const next = await fetch(`${server.url}/core/timeseries/s1/samples?limit=10`, {
    headers: { ...headers, continuationToken: token },
  });
  check('a full disk: paged reads', page.status === 200 && next.status === 200, `${page.status} ${next.status}`);
  const listed = await fetch(`${server.url}/core/timeseries`, { headers });
  check('a full disk: lists', listed.status === 200, listed.status);
  const statuses = [];
  for (let i = 0; i < 6; i++) {
    const path = `${server.url}/core/timeseries/s${i}/samples?all=true`;
    let told = '';
    // A busy machine may answer that it is overloaded, which is not what is tested here.
    for (let tries = 0; tries < 20 && (told === '' || told.includes('overloaded')); tries++) {
      if (tries > 0) await pause(500);
      const answer = await fetch(path, { method: 'DELETE', headers });
      told = `${answer.status} ${answer.status === 200 ? '' : await answer.text()}`;
    }
    statuses.push(told.trim());
  }
  check(
    'a full disk: deletions',
    statuses.every((told) => told === '200'),
    statuses.join(' '),
  );
  let again = { status: 0 };
  const startMs = performance.now();
  while (again.status !== 200 && performance.now() - startMs < 120_000) {
    await pause(1000);
    again = await post(server, '/core/samples', 'text/csv', `timestamp,timeseriesId,value\n${TIME},s1,1\n`);
  }
  check(
    'a full disk: writing goes on once there is room',
    again.status === 200,
    `after ${((performance.now() - startMs) / 1000).toFixed(0)} s`,
  );
  check('a full disk: the process goes on', isAlive(server), isAlive(server) ? 'alive' : 'ended');
  await stop(server);
}
