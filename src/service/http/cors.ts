import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from '../context.js';

/** Lets pages of the origins that were named call the service from a browser (the Fetch standard, section 3.3). */
export async function addCors(app: FastifyInstance, { settings }: ServiceContext): Promise<void> {
  const { corsOrigins } = settings;
  if (corsOrigins.length === 0) return;
  await app.register(cors, {
    origin: corsOrigins.includes('*') ? '*' : [...corsOrigins],
    methods: ['GET', 'HEAD', 'POST', 'DELETE'],
    // What pages may read beside the usual headers.
    exposedHeaders: ['x-correlation-id', 'retry-after', 'www-authenticate'],
    maxAge: 600,
    // An OPTIONS that is no question of CORS is one of the routes, which have none.
    strictPreflight: false,
  });
}
