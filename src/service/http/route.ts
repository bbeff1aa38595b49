import type { ServiceContext } from '../context.js';
import type { Authorize } from '../identity/principal.js';
import type { StepPool } from '../operations/compute/pool.js';
import type { ContinuationTokens } from './continuation.js';

/** What routes behind a bearer token need. */
export interface RouteParts {
  readonly context: ServiceContext;
  readonly authorize: Authorize;
  readonly tokens: ContinuationTokens;
  /** Notifies the worker, within the transaction, of new changes for items of a shard, or of new items. */
  readonly wake: (shard: number, hasNewItems?: boolean) => void;
  /** The threads for what takes long. */
  readonly pool: StepPool;
  /** Aborted when the service stops, to end streams that follow series. */
  readonly stopping: AbortSignal;
}

/** How callers authenticate, in OpenAPI's terms. */
export const security = [{ token: [] }];

/** For routes whose schemas are documentation only: they check their input themselves, with better errors. */
export const validatorCompiler = () => () => true;
