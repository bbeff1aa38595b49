import type { FastifyInstance, RegisterOptions } from 'fastify';
import { addNotFound } from './http/app.js';
import { openService, type ServiceOptions } from './open.js';

/**
 * The service as a Fastify plugin, for those who have a server already: its routes, errors and limits stay within
 * the scope that it is registered in. It starts when the server is ready, and stops with it.
 *
 * @example
 * ```ts
 * const app = Fastify();
 * await app.register(windrowService, { dataDirectory: './data', prefix: '/windrow' });
 * await app.listen({ port: 3000 });
 * ```
 */
export async function windrowService(
  app: FastifyInstance,
  options: ServiceOptions & Pick<RegisterOptions, 'prefix'>,
): Promise<void> {
  const service = await openService(options, app.log);
  app.addHook('onReady', async () => service.start());
  app.addHook('preClose', () => service.stop());
  app.addHook('onClose', () => service.close());
  // Without a prefix of its own, paths that there are none of would be the service's, and are the host's to answer.
  if ((options.prefix ?? '/') !== '/') addNotFound(app);
  await service.register(app);
}
