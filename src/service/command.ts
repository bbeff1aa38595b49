// What the command loads of the service, when it is asked for.
import { type Server, type ServerOptions, startServer as start } from './server.js';

export { prepareDemo } from './demo.js';

/** Starts the service in a process that is its own: what it makes is nobody else's to read. */
export async function startServer(options: ServerOptions): Promise<Server> {
  process.umask(0o077);
  return start(options);
}
