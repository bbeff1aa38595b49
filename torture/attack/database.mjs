import { check } from './report.mjs';
import { isAlive, pause, post, start, stop } from './server.mjs';
import { postgres } from './store.mjs';

const ROW = 'timestamp,timeseriesId,value\n2026-01-01T00:00:00Z,a,1\n';

/** 4, of a database: it is killed, and is away for longer than requests wait for it. */
export async function database() {
  const server = await start();
  const write = () => post(server, '/core/samples', 'text/csv', ROW);
  const state = async (name) => (await fetch(`${server.url}/health/${name}`)).status;
  await write();
  await postgres().kill();
  const startMs = performance.now();
  const refused = await Promise.all(Array.from({ length: 50 }, write));
  const seconds = (performance.now() - startMs) / 1000;
  check(
    'no database: writes are refused',
    refused.every(({ status }) => status === 503 || status === 504) && seconds < 60,
    `${refused.length}, the first with ${refused[0].status} ${refused[0].text.slice(0, 120)}; ${seconds.toFixed(0)} s`,
  );
  const [live, ready] = [await state('live'), await state('ready')];
  check('no database: the process goes on, and is not ready', live === 200 && ready === 503, `${live} ${ready}`);
  const traces = server.logged().filter((line) => /"stack"/.test(line));
  check('no database: is told in the log without a stack', traces.length === 0, `${traces.length} ${traces[0] ?? ''}`);
  await postgres().start();
  let again = await write();
  for (let tries = 0; tries < 60 && again.status !== 200; tries++) {
    await pause(500);
    again = await write();
  }
  check('no database: writing goes on once it is back', again.status === 200, again.status);
  check('no database: the process is the same', isAlive(server), isAlive(server) ? 'alive' : 'ended');
  await stop(server);
}
