// Attacks the real service from outside: its process, its port, its disk. Good clients keep working meanwhile, and what
// they notice is measured. A short version without timings runs with the tests (test/service/*.test.ts).
//
//   npm run torture:attack                  all parts, some minutes
//   npm run torture:attack -- sockets disk  some parts
import { bodies } from './attack/bodies.mjs';
import { disk } from './attack/disk.mjs';
import { followers } from './attack/followers.mjs';
import { items } from './attack/items.mjs';
import { proxies } from './attack/proxies.mjs';
import { reportAll } from './attack/report.mjs';
import { cleanUp } from './attack/server.mjs';
import { sockets } from './attack/sockets.mjs';

const parts = { sockets, items, bodies, disk, followers, proxies };
const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => parts[name] === undefined);
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; expected of ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}
try {
  for (const [name, part] of Object.entries(parts)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    console.log(`\n${name}`);
    await part();
  }
} finally {
  cleanUp();
}
process.exit(reportAll());
