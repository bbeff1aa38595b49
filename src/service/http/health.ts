import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { WindrowError } from '../../core/errors.js';
import type { ServiceContext } from '../context.js';
import { envelope, envelopeSchema, oneOf } from './envelope.js';
import { unavailable } from './errors.js';

/** Whether new work is accepted; false once a stop has begun. */
export interface Readiness {
  isOpen: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether the route answers even while the service is overloaded or stopping, as it reports the service's state.
     */
    readonly isAlwaysAnswered?: boolean;
  }
}

/** Refuses requests once a stop has begun. */
export function addStopRefusal(app: FastifyInstance, readiness: Readiness): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!readiness.isOpen && request.routeOptions.config.isAlwaysAnswered !== true) {
      reply.header('connection', 'close');
      throw unavailable(STOPPING);
    }
    done();
  });
  // The answers to what came before: their connections are closed next, and whoever sent another request on one would
  // not know whether it was read.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (!readiness.isOpen) reply.header('connection', 'close');
    done(null, payload);
  });
}

const STOPPING = 'the service is stopping; try again later';

const healthAnswer = envelopeSchema(Type.Object({ state: oneOf(['live', 'ready']) }));

/** `/health/live`: the process answers. `/health/ready`: the store reads and writes, and new work is accepted. */
export function registerHealth(app: FastifyInstance, { storage }: ServiceContext, readiness: Readiness): void {
  const schema = (summary: string) => ({ summary, tags: ['Health'], security: [], response: { 200: healthAnswer } });
  const config = { isAlwaysAnswered: true };
  app.get('/health/live', { config, schema: schema('Whether the process answers') }, async () =>
    envelope({ state: 'live' }),
  );
  app.get('/health/ready', { config, schema: schema('Whether the service accepts work') }, async () => {
    if (!readiness.isOpen) throw unavailable(STOPPING);
    try {
      await storage.check();
    } catch (cause) {
      if (cause instanceof WindrowError && cause.code === 'storage.newer') throw cause;
      throw unavailable('the store refuses reads or writes', { cause });
    }
    return envelope({ state: 'ready' });
  });
}
