// npm run demo: works alone on a fresh clone, since it installs and builds what is missing before it runs the demo.

import { ensure } from './ensure.mjs';

ensure();

// Only now: what it imports may have just been installed.
await import('./demo-run.mjs');
