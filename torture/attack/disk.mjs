import { check } from './report.mjs';
import { askToken, isAlive, pause, post, start, stop } from './server.mjs';
import { newSmallStore } from './store.mjs';

const TIME = '2026-01-01T00:00:00Z';

/**
 * 4: a disk that fills up under the service. A folder has room set aside for tokens and deletions; of a database the
 * disk of the tables is full, and somebody has to enlarge it.
 */
export async function disk() {
  const store = await newSmallStore();
  if (store === undefined) return console.log('  left out: only root may make a small file system');
  const server = await start({ store, words: ['--token-failures-per-minute', '1000'] });
  await fill(server);
  await readOn(server);
  const told = [await newToken(server), ...(await deleteSome(server))];
  check(
    store.enlarge === undefined
      ? 'a full disk: new tokens and deletions'
      : 'a full disk: a token or deletion fits, or is refused',
    told.every((one) => one === '200' || (store.enlarge !== undefined && /^503 .*disk .* is full/.test(one))),
    told.map((one) => one.slice(0, 40)).join(', '),
  );
  store.enlarge?.();
  const startMs = performance.now();
  const row = `timestamp,timeseriesId,value\n${TIME},s1,1\n`;
  let again = { status: 0 };
  while (again.status !== 200 && performance.now() - startMs < 120_000) {
    await pause(1000);
    again = await post(server, '/core/samples', 'text/csv', row);
  }
  check(
    'a full disk: writing goes on once there is room',
    again.status === 200,
    `after ${((performance.now() - startMs) / 1000).toFixed(0)} s`,
  );
  check('a full disk: the process goes on', isAlive(server), isAlive(server) ? 'alive' : 'ended');
  const traces = server.logged().filter((line) => /"stack"/.test(line));
  check('a full disk: is told in the log without a stack', traces.length === 0, `${traces.length} ${traces[0] ?? ''}`);
  await stop(server);
}

async function fill(server) {
  const chunk = (i) => {
    const rows = Array.from({ length: 20_000 }, (_, k) => `${1.7e9 + i * 20_000 + k},s${i % 7},${Math.random()}\n`);
    return `timestamp,timeseriesId,value\n${rows.join('')}`;
  };
  let last = { status: 200, text: '' };
  for (let i = 0; i < 500 && last.status === 200; i++) {
    last = await post(server, '/core/samples', 'text/csv', chunk(i));
  }
  check(
    'a full disk: writing is refused, with one sentence',
    last.status === 503 && /disk .* is full/.test(last.text),
    `${last.status} ${last.text.slice(0, 150)}`,
  );
}

async function readOn({ url, authorization }) {
  const headers = { authorization };
  const page = await fetch(`${url}/core/timeseries/s1/samples?limit=10`, { headers });
  const continuationToken = (await page.json()).paging?.continuationToken;
  const next = await fetch(`${url}/core/timeseries/s1/samples?limit=10`, {
    headers: { ...headers, continuationToken },
  });
  check('a full disk: paged reads', page.status === 200 && next.status === 200, `${page.status} ${next.status}`);
  const listed = await fetch(`${url}/core/timeseries`, { headers });
  check('a full disk: lists', listed.status === 200, listed.status);
}

async function newToken(server) {
  const answer = await askToken(server);
  return answer.status === 200 ? '200' : `${answer.status} ${await answer.text()}`;
}

async function deleteSome({ url, authorization }) {
  const statuses = [];
  for (let i = 0; i < 6; i++) {
    let told = '';
    // A busy machine may answer that it is overloaded, which is not what is tested here.
    for (let tries = 0; tries < 20 && (told === '' || told.includes('overloaded')); tries++) {
      if (tries > 0) await pause(500);
      const path = `${url}/core/timeseries/s${i}/samples?all=true`;
      const answer = await fetch(path, { method: 'DELETE', headers: { authorization } });
      told = answer.status === 200 ? '200' : `${answer.status} ${await answer.text()}`;
    }
    statuses.push(told);
  }
  return statuses;
}
