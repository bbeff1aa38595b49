import { spawnSync } from 'node:child_process';
import { check } from './report.mjs';
import { askToken, command, start, stop } from './server.mjs';

/** 6: forged addresses, and typing mistakes. */
export async function proxies() {
  const server = await start({ words: ['--trust-proxy', '1'], grant: 'client_credentials,password' });
  const user = (name) => ['user', 'add', name, '--org', 'acme', '--password-stdin', '--data-dir', server.data];
  for (const name of ['zoe', 'ben']) spawnSync(process.execPath, [command, ...user(name)], { input: `${name}\n` });
  const login = async (username, password, forwarded) => {
    const form = { grant_type: 'password', scope: 'core_read', username, password };
    return (await askToken(server, form, { 'x-forwarded-for': forwarded })).status;
  };
  const typos = [];
  for (let i = 0; i < 11; i++) typos.push(await login('zoe', 'typo', `203.0.113.${i}, 192.0.2.1`));
  check('made-up addresses evade no throttle', typos.at(-1) === 429, typos.join(' '));
  const ben = await login('ben', 'ben', '203.0.113.1, 192.0.2.1');
  check('typos of one user lock out no other at the address', ben === 200, ben);
  const elsewhere = await login('zoe', 'zoe', '192.0.2.2');
  check('nor the user elsewhere', elsewhere === 200, elsewhere);
  spawnSync(process.execPath, [command, 'user', 'unlock', 'zoe', '--org', 'acme', '--data-dir', server.data]);
  const unlocked = await login('zoe', 'zoe', '192.0.2.1');
  check('windrow user unlock lets the user in again', unlocked === 200, unlocked);
  await stop(server);
}
