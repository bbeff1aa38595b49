import { check } from './report.mjs';
import { post, start, stop } from './server.mjs';

/** 5: followers of one series while another is written. */
export async function followers() {
  const server = await start();
  const speed = async () => {
    const one = JSON.stringify([{ timeseriesId: 'other', timestamp: 0, val: 1 }]);
    let count = 0;
    const endMs = performance.now() + 5000;
    while (performance.now() < endMs) {
      await Promise.all(Array.from({ length: 8 }, () => post(server, '/core/samples', 'application/json', one)));
      count += 8;
    }
    return count / 5;
  };
  await post(
    server,
    '/core/samples',
    'application/json',
    JSON.stringify([{ timeseriesId: 'a', timestamp: 0, val: 1 }]),
  );
  await speed();
  const alone = await speed();
  const aborting = new AbortController();
  for (let i = 0; i < 200; i++) {
    const headers = { authorization: server.authorization };
    const answer = await fetch(`${server.url}/core/timeseries/a/live`, { headers, signal: aborting.signal });
    answer.body.pipeTo(new WritableStream()).catch(() => {});
  }
  const followed = await speed();
  aborting.abort();
  const figure = `${alone.toFixed(0)} requests a second alone, ${followed.toFixed(0)} with 200 followers of another`;
  check('200 followers cost the writes of others nothing to speak of', followed > 0.85 * alone, figure);
  await stop(server);
}
