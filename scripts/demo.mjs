// npm run demo: works alone on a fresh clone, since it installs and builds what is missing before it runs the demo.

import { existsSync } from 'node:fs';
import { ensure } from './ensure.mjs';

ensure();

const demoUrl = new URL('demo-run.mjs', import.meta.url);
if (existsSync(demoUrl)) {
  await import(demoUrl.href);
} else {
  console.error('windrow: installed and built; the demo itself (scripts/demo-run.mjs) is not written yet');
}
