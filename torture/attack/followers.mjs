import { check } from './report.mjs';
import { post, start, stop, workedMs } from './server.mjs';

const FOLLOWERS = 200;
const ONE = JSON.stringify([{ timeseriesId: 'other', timestamp: 0, val: 1 }]);

/** 5: followers of one series while another is written. */
export async function followers({ isShort }) {
  const server = await start();
  await post(
    server,
    '/core/samples',
    'application/json',
    JSON.stringify([{ timeseriesId: 'a', timestamp: 0, val: 1 }]),
  );
  const measure = isShort ? work : speed;
  await measure(server);
  const alone = await measure(server);
  const aborting = new AbortController();
  for (let i = 0; i < FOLLOWERS; i++) {
    const headers = { authorization: server.authorization };
    const answer = await fetch(`${server.url}/core/timeseries/a/live`, { headers, signal: aborting.signal });
    if (answer.status !== 200) throw new Error(`a follower got ${answer.status}`);
    answer.body.pipeTo(new WritableStream()).catch(() => {});
  }
  const followed = await measure(server);
  aborting.abort();
  const what = `${FOLLOWERS} followers cost the writes of others nothing to speak of`;
  if (isShort) {
    const figure = `${WRITES} writes take ${alone.toFixed(0)} ms of processor time alone, ${followed.toFixed(0)} with them`;
    check(what, followed < 2 * alone, figure);
  } else {
    const figure = `${alone.toFixed(0)} requests a second alone, ${followed.toFixed(0)} with them`;
    check(what, followed > 0.85 * alone, figure);
  }
  await stop(server);
}

const writeEight = (server) =>
  Promise.all(Array.from({ length: 8 }, () => post(server, '/core/samples', 'application/json', ONE)));

/** Requests a second. */
async function speed(server) {
  let count = 0;
  const endMs = performance.now() + 5000;
  while (performance.now() < endMs) count += (await writeEight(server)).length;
  return count / 5;
}

const WRITES = 400;

/** The processor time that the service takes for some requests. */
async function work(server) {
  const before = workedMs(server);
  for (let count = 0; count < WRITES; count += 8) await writeEight(server);
  return workedMs(server) - before;
}
