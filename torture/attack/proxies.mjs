import { check } from './report.mjs';
import { askToken, start, stop, windrow } from './server.mjs';

/** 6: forged addresses, and typing mistakes. */
export async function proxies() {
  const server = await start({ words: ['--trust-proxy', '1'], grant: 'client_credentials,password' });
  for (const name of ['zoe', 'ben']) {
    windrow(server, ['user', 'add', name, '--org', 'acme', '--password-stdin'], `${name}\n`);
  }
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
  windrow(server, ['user', 'unlock', 'zoe', '--org', 'acme']);
  const unlocked = await login('zoe', 'zoe', '192.0.2.1');
  check('windrow user unlock lets the user in again', unlocked === 200, unlocked);
  await stop(server);
}
