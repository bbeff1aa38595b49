import type { FastifyInstance, RegisterOptions } from 'fastify';
import { addNotFound } from './http/app.js';
import { createOpeningService, type ServiceOptions } from './open.js';
import { defaultSettings } from './settings.js';

/**
 * The service as a Fastify plugin, for an existing server. Its routes, errors and limits apply only in the scope where
 * it is registered. It starts when the server is ready, and stops with it.
 *
 * @example
 * ```ts
 * const app = Fastify({ routerOptions: { maxParamLength: 512 } });
 * await app.register(windrowService, { dataDirectory: './data', prefix: '/windrow' });
 * await app.listen({ port: 3000 });
 * ```
 */
export async function windrowService(
  app: FastifyInstance,
  options: ServiceOptions & Pick<RegisterOptions, 'prefix'>,
): Promise<void> {
  // Settings in this place get an answer of their own.
  const unknown = Object.keys(options).find(
    (name) => !Object.hasOwn(optionNames, name) && !Object.hasOwn(defaultSettings, name),
  );
  if (unknown !== undefined) throw new TypeError(`${unknown}: expected one of ${Object.keys(optionNames).join(', ')}`);
  warnOfShortIds(app);
  const service = createOpeningService(options, app.log);
  // Before the store is waited for: a start that takes longer than the server waits must leave nothing open.
  app.addHook('onClose', () => service.close());
  await service.opened.catch(async (error: unknown) => {
    await service.close();
    throw error;
  });
  app.addHook('onReady', async () => service.start());
  app.addHook('preClose', () => service.stop());
  // Only under a prefix: without one, unknown paths are the host's to answer.
  if ((options.prefix ?? '/') !== '/') addNotFound(app);
  await service.register(app);
}

/** The longest part of a path: an id of 256 characters of one or two units of UTF-16. The router counts it decoded. */
const PARAMETER_LENGTH = 512;

/** A server has one router, so only its owner can set how long a part of a path may be: 100 characters by default. */
function warnOfShortIds({ initialConfig, log }: FastifyInstance): void {
  const { routerOptions, maxParamLength: olderOption = 100 } = initialConfig;
  // Where only the older one is given, Fastify fills in the default of the other.
  const length = Math.max(routerOptions?.maxParamLength ?? 0, olderOption);
  if (length >= PARAMETER_LENGTH) return;
  const mend = `create it with routerOptions: { maxParamLength: ${PARAMETER_LENGTH} }`;
  log.warn(`the server answers 414 where an id in a path is longer than ${length} characters; ${mend}`);
}

/** All there are, with those of Fastify's `register`. */
const optionNames: Readonly<Record<keyof ServiceOptions | keyof RegisterOptions, true>> = {
  dataDirectory: true,
  store: true,
  storage: true,
  settings: true,
  clock: true,
  random: true,
  scheduler: true,
  passwordCost: true,
  prefix: true,
  logLevel: true,
  logSerializers: true,
};
