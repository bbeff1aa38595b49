import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from '../context.js';
import { LIMIT_HEADERS } from './limits.js';

/** Lets pages of the configured origins call the service from a browser (Fetch standard, section 3.3). */
export async function addCors(app: FastifyInstance, { settings }: ServiceContext): Promise<void> {
  const { corsOrigins } = settings;
  if (corsOrigins.length === 0) return;
  // That plugin counts for all scopes below it, and cannot be registered in one again.
  if (app.hasRequestDecorator('corsPreflightEnabled')) {
    throw new TypeError(
      'settings.corsOrigins: expected none, as the server has @fastify/cors, which applies to the plugin, too; ' +
        'leave one of the two out, or register the other in a scope of its own',
    );
  }
  const options = {
    origin: corsOrigins.includes('*') ? '*' : [...corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'DELETE'],
    // Headers that pages may read beside the usual ones.
    exposedHeaders: ['x-correlation-id', 'retry-after', 'www-authenticate', ...LIMIT_HEADERS],
    maxAge: 600,
  };
  await app.register(cors, {
    // Any other OPTIONS request goes to the routes, which answer 404 or 405.
    delegator: ({ headers }, answer) => {
      const isPreflight = headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
      answer(null, { ...options, preflight: isPreflight });
    },
  });
}
