import { connect } from 'node:net';
import { check } from './report.mjs';
import { isAlive, pause, probe, show, start, stop } from './server.mjs';

/** 1: silent and trickling sockets. */
export async function sockets() {
  for (const descriptors of [undefined, 1024]) {
    const server = await start({ descriptors });
    const where = descriptors === undefined ? 'sockets' : `sockets, ${descriptors} descriptors`;
    const good = await probe(server);
    await pause(15_000);
    const before = await good.take();
    const attackers = [];
    const open = async (text) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.resume();
      attackers.push(socket);
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      socket.write(text);
      return socket;
    };
    for (let i = 0; i < 2000; i++) await open('');
    const head = 'POST /idm/ims/connect/token HTTP/1.1\r\nhost: x\r\nauthorization: Basic eDp5\r\n';
    const form = 'content-type: application/x-www-form-urlencoded\r\ncontent-length: 60000\r\n\r\n';
    const slow = [];
    for (let i = 0; i < 500; i++) slow.push(await open(i % 2 === 0 ? head : head + form));
    await good.take();
    const trickle = setInterval(() => {
      for (const socket of slow) if (!socket.destroyed) socket.write('x');
    }, 1000);
    await pause(15_000);
    const during = await good.take();
    await pause(20_000);
    clearInterval(trickle);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const openCount = Number(/^windrow_connections (\d+)$/m.exec(metrics)[1]);
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
