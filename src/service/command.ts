// What the `windrow` command loads of the service, on demand.
import { type Server, type ServerOptions, startServer as start } from './server.js';

export { prepareDemo } from './demo.js';

/** Starts the service in its own process. Only the process's user may read the files that it creates. */
export async function startServer(options: ServerOptions): Promise<Server> {
  process.umask(0o077);
  return start(options);
}
