// What the `windrow` command loads of the service, on demand.
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type Server, type ServerOptions, startServer as start } from './server.js';

export { prepareDemo } from './demo.js';

/** Starts the service in its own process. Only the process's user may read the files that it creates. */
export async function startServer(options: ServerOptions): Promise<Server> {
  process.umask(0o077);
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const { PGPASSFILE } = process.env;
  if (PGPASSFILE) process.env.PGPASSFILE = resolve(PGPASSFILE);
  const { dataDirectory } = options;
  const server = await start(dataDirectory ? { ...options, dataDirectory: resolve(dataDirectory) } : options);
  // No thread can begin in a working directory that was deleted, as that of a release may be. The root never is.
  process.chdir(resolve('/'));
  return server;
}

/**
 * By how much the heap grows from one full collection to the next. Bodies count as heap, and what lives is small beside
 * them: by itself V8 collects every 10 MB, which is a third of the processor time of large bodies.
 */
const HEAP_GROWING_PERCENT = 200;
