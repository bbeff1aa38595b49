import { connect } from 'node:net';
import { check } from './report.mjs';
import { isAlive, pause, probe, show, start, stop } from './server.mjs';

/** 1: silent and trickling sockets. */
export async function sockets({ isShort }) {
  if (isShort) return fewSockets();
  for (const descriptors of [undefined, 1024]) {
    const server = await start({ descriptors });
    const where = descriptors === undefined ? 'sockets' : `sockets, ${descriptors} descriptors`;
    const good = await probe(server);
    await pause(15_000);
    const before = await good.take();
    const { attackers, trickle } = await attack(server, 2000, 500);
    await good.take();
    await pause(15_000);
    const during = await good.take();
    await pause(20_000);
    clearInterval(trickle);
    const openCount = await countConnections(server);
    const after = await good.take();
    console.log(`  ${where}, before: ${show(before)}`);
    console.log(`  ${where}, during: ${show(during)}`);
    check(`${where}: the process goes on`, isAlive(server), isAlive(server) ? 'alive' : 'ended');
    check(`${where}: p99 of good clients within twice the usual`, during.p99 <= 2 * before.p99 + 1, show(during));
    check(
      `${where}: no request of a good client fails`,
      during.failed + after.failed === 0,
      during.failed + after.failed,
    );
    check(
      `${where}: after half a minute none of the 2,500 is open`,
      openCount <= 20,
      `${openCount} with those of good clients`,
    );
    for (const socket of attackers) socket.destroy();
    await good.end();
    await stop(server);
  }
}

const HEAD = 'POST /idm/ims/connect/token HTTP/1.1\r\nhost: x\r\nauthorization: Basic eDp5\r\n';
const FORM = 'content-type: application/x-www-form-urlencoded\r\ncontent-length: 60000\r\n\r\n';

/** Opens connections that say nothing, and some that go on with a head or a body now and then. */
async function attack({ port }, silentCount, slowCount) {
  const attackers = [];
  const open = async (text) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    attackers.push(socket);
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    socket.write(text);
    return socket;
  };
  for (let i = 0; i < silentCount; i++) await open('');
  const slow = [];
  for (let i = 0; i < slowCount; i++) slow.push(await open(i % 2 === 0 ? HEAD : HEAD + FORM));
  const trickle = setInterval(() => {
    for (const socket of slow) if (!socket.destroyed) socket.write('x');
  }, 1000);
  return { attackers, trickle };
}

/** Over a connection of its own. */
async function countConnections({ url }) {
  const answer = await fetch(`${url}/metrics`, { headers: { connection: 'close' } });
  return Number(/^windrow_connections (\d+)$/m.exec(await answer.text())[1]);
}

const DESCRIPTORS = 700;
/** Of 700 descriptors, 256 are kept for the store. The one that gives way to the last is closed a moment later. */
const CONNECTIONS_MAX = DESCRIPTORS - 256 + 1;
const CLOSED_MS_MAX = 90_000;

/** By counts alone: what is open, and what is answered. */
async function fewSockets() {
  const server = await start({ descriptors: DESCRIPTORS });
  const { attackers, trickle } = await attack(server, 900, 100);
  const openCount = await countConnections(server).catch((error) => error.cause?.code ?? error.message);
  check('of 1,000 silent sockets, as many stay as may', openCount <= CONNECTIONS_MAX, openCount);
  const statuses = [];
  for (let i = 0; i < 20; i++) {
    const headers = { authorization: server.authorization, connection: 'close' };
    const asking = fetch(`${server.url}/core/timeseries`, { headers });
    statuses.push(await asking.then(({ status }) => status).catch((error) => error.cause?.code ?? error.message));
  }
  check(
    'a new connection is answered beside them',
    statuses.every((one) => one === 200),
    statuses.join(' '),
  );
  const startMs = performance.now();
  let left = openCount;
  while (left > 1 && performance.now() - startMs < CLOSED_MS_MAX) {
    await pause(500);
    left = await countConnections(server);
  }
  clearInterval(trickle);
  const seconds = (performance.now() - startMs) / 1000;
  check('later none of them is open', left <= 1 && isAlive(server), `${left} after ${seconds.toFixed(0)} s`);
  for (const socket of attackers) socket.destroy();
  await stop(server);
}
