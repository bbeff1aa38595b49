import { setMaxListeners } from 'node:events';
import type { FastifyInstance } from 'fastify';
import { createCompactor, type StopWork } from './background.js';
import type { ServiceContext } from './context.js';
import { startForgetting } from './events/forget.js';
import { registerEvents } from './events/routes.js';
import { addJsonBodies } from './http/bodies.js';
import { answerInTurn, endStalls, refuseCodings } from './http/connections.js';
import { type ContinuationTokens, createContinuationTokens } from './http/continuation.js';
import { addCorrelation, addRequestLog } from './http/correlation.js';
import { addCors } from './http/cors.js';
import { addErrorHandler } from './http/errors.js';
import { addStopRefusal, type Readiness, registerHealth } from './http/health.js';
import { addOverloadProtection, addRequestLimit } from './http/limits.js';
import { registerMetrics } from './http/metrics.js';
import { addOpenApi } from './http/openapi.js';
import type { RouteParts } from './http/route.js';
import { addSerializer } from './http/serializer.js';
import { addHeaderCheck, addParameterCheck, addValidator } from './http/validator.js';
import { createAuthorize } from './identity/authorize.js';
import { createIdentity, type Identity } from './identity/identity.js';
import type { PasswordCost } from './identity/passwords.js';
import { openStepPool } from './operations/compute/pool.js';
import { registerOperations } from './operations/routes.js';
import { Worker } from './operations/worker/worker.js';
import { startRetention } from './retention.js';
import { registerStatus } from './status/routes.js';
import { registerTimeseries } from './timeseries/routes.js';
import { registerToken } from './token/routes.js';

/** The parts of a running service, for whoever starts and stops it. */
export interface Service {
  readonly context: ServiceContext;
  readonly identity: Identity;
  readonly tokens: ContinuationTokens;
  readonly worker: Worker;
  /** Registers every route on a Fastify instance: our own server, or a scope of another. */
  register(app: FastifyInstance): Promise<void>;
  start(): void;
  /** Takes no new work, ends what runs, and saves its progress. */
  stop(): Promise<void>;
}

export function createService(context: ServiceContext, passwordCost?: PasswordCost): Service {
  const readiness: Readiness = { isOpen: true };
  const stopping = new AbortController();
  // Every follower adds a listener; Node would warn beyond ten.
  setMaxListeners(0, stopping.signal);
  const identity = createIdentity(context, passwordCost === undefined ? {} : { cost: passwordCost });
  const tokens = createContinuationTokens(context);
  const pool = openStepPool(context.settings.workerCount, context.scheduler);
  const worker = new Worker(context, pool);
  const compactor = createCompactor(context);
  let background: readonly StopWork[] = [];
  let prepared: Promise<void> | undefined;
  return {
    context,
    identity,
    tokens,
    worker,
    register: async (app) => {
      const parts: RouteParts = {
        context,
        authorize: createAuthorize(identity.authenticate),
        tokens,
        wake: (shard, hasNewItems) => worker.wake(shard, hasNewItems),
        pool,
        stopping: stopping.signal,
      };
      answerInTurn(app, context);
      addErrorHandler(app);
      addCorrelation(app, context);
      addRequestLog(app);
      addHeaderCheck(app);
      refuseCodings(app);
      endStalls(app, context);
      addStopRefusal(app, readiness);
      addJsonBodies(app);
      addValidator(app);
      addSerializer(app);
      addParameterCheck(app);
      app.decorateRequest('windrowPrincipal', undefined);
      await addCors(app, context);
      addOverloadProtection(app, context);
      await addOpenApi(app, context.settings.publicUrl);
      await addRequestLimit(app, context);
      registerHealth(app, context, readiness);
      registerMetrics(app, context.metrics);
      registerToken(app, context, identity.tokens);
      registerEvents(app, parts);
      await registerTimeseries(app, parts);
      registerStatus(app, parts);
      registerOperations(app, parts);
    },
    start: () => {
      compactor.start();
      background = [startForgetting(context), () => compactor.stop(), startRetention(context, worker, compactor)];
      worker.start();
      prepared = tokens.prepare();
    },
    stop: async () => {
      readiness.isOpen = false;
      stopping.abort();
      await worker.stop();
      await prepared;
      for (const end of background) await end();
    },
  };
}
