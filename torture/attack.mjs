// Attacks the real service from outside: its process, its port, its disk. Good clients keep working meanwhile, and what
// they notice is measured.
//
//   npm run torture:attack                  all parts, some minutes
//   npm run torture:attack -- sockets disk  some parts
//   npm run torture:attack -- --postgres    over a PostgreSQL server of its own
//   npm run torture:attack -- --short       what does not depend on how busy the machine is: answers, counts, memory, and
//                                           ratios of processor time; in CI

import { readOptions, refuse } from '../scripts/options.mjs';
import { bodies } from './attack/bodies.mjs';
import { database } from './attack/database.mjs';
import { disk } from './attack/disk.mjs';
import { followers } from './attack/followers.mjs';
import { items } from './attack/items.mjs';
import { proxies } from './attack/proxies.mjs';
import { reportAll } from './attack/report.mjs';
import { endAll } from './attack/server.mjs';
import { sockets } from './attack/sockets.mjs';
import { deleteStores, startPostgres } from './attack/store.mjs';

const { options, positionals: chosen } = readOptions(
  import.meta.url,
  { postgres: { type: 'boolean' }, short: { type: 'boolean' } },
  { allowPositionals: true },
);
const { short: isShort, postgres: isPostgres } = options;
// The crash loop, in CI too, kills the database.
const parts = { sockets, items, bodies, disk, followers, proxies, ...(isPostgres && !isShort ? { database } : {}) };
const unknown = chosen.filter((name) => parts[name] === undefined);
if (unknown.length > 0) refuse(`expected parts of ${Object.keys(parts).join(', ')}, received ${unknown.join(', ')}`);
async function run(names) {
  for (const name of names) {
    const startMs = performance.now();
    console.log(`\n${name}`);
    await parts[name]({ isShort, isPostgres });
    console.log(`  ${name}: ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
  }
}

try {
  if (isPostgres) await startPostgres();
  const names = Object.keys(parts).filter((name) => chosen.length === 0 || chosen.includes(name));
  // Sockets are closed after half a minute, in which the short form does the rest.
  const isAside = (name) => isShort && name === 'sockets';
  await Promise.all([run(names.filter(isAside)), run(names.filter((name) => !isAside(name)))]);
} finally {
  endAll();
  await deleteStores();
}
process.exit(reportAll());
