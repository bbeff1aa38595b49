import type { ServiceContext } from '../context.js';
import type { Authorize } from '../identity/principal.js';
import type { ContinuationTokens } from './continuation.js';

/** What the routes behind a bearer token are made with. */
export interface RouteParts {
  readonly context: ServiceContext;
  readonly authorize: Authorize;
  readonly tokens: ContinuationTokens;
  /** Tells the worker, within the transaction, that something has come for items of a shard, or that items have. */
  readonly wake: (shard: number, hasNewItems?: boolean) => void;
  /** Ends the streams that follow series. */
  readonly stopping: AbortSignal;
}

/** How their callers authenticate, as OpenAPI says it. */
export const security = [{ token: [] }];

/** Of routes whose schemas are for the documentation: they check by hand, with better errors. */
export const validatorCompiler = () => () => true;
