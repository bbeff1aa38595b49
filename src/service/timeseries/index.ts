import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from '../context.js';
import type { ContinuationTokens } from '../continuation.js';
import type { Authorize } from '../principal.js';
import { registerFollowing } from './follow-routes.js';
import { registerReading } from './read-routes.js';
import { type OnStored, registerDelete, registerIngest } from './routes.js';

/** What the routes of samples need beside the context. */
export interface TimeseriesParts {
  readonly authorize: Authorize;
  readonly tokens: ContinuationTokens;
  /** Told of samples within the work of the transaction that stores them. */
  readonly onStored: OnStored;
  /** Ends the streams that follow series. */
  readonly stopping: AbortSignal;
}

/** Samples: written, read, followed, deleted. */
export async function registerTimeseries(
  app: FastifyInstance,
  context: ServiceContext,
  { authorize, tokens, onStored, stopping }: TimeseriesParts,
): Promise<void> {
  // A scope of its own: here bodies are streams.
  await app.register(async (scope) => registerIngest(scope, context, authorize, onStored));
  registerDelete(app, context, authorize, onStored);
  registerReading(app, context, authorize, tokens);
  registerFollowing(app, context, authorize, stopping);
}
