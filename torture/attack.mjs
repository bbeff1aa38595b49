// Attacks the real service from outside: its process, its port, its disk. Good clients keep working meanwhile, and what
// they notice is measured.
//
//   npm run torture:attack                  all parts, some minutes
//   npm run torture:attack -- sockets disk  some parts
//   npm run torture:attack -- --postgres    over a PostgreSQL server of its own
import { parseArgs } from 'node:util';
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

const { values: options, positionals: chosen } = parseArgs({
  allowPositionals: true,
  options: { postgres: { type: 'boolean', default: false } },
});
const parts = { sockets, items, bodies, disk, followers, proxies, ...(options.postgres ? { database } : {}) };
const unknown = chosen.filter((name) => parts[name] === undefined);
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; expected of ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}
try {
  if (options.postgres) await startPostgres();
  for (const [name, part] of Object.entries(parts)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    console.log(`\n${name}`);
    await part();
  }
} finally {
  endAll();
  await deleteStores();
}
process.exit(reportAll());
