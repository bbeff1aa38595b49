import { monitorEventLoopDelay } from 'node:perf_hooks';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { IDENTITY_SHARD } from '../../storage/shard.js';
import { writeReserved } from '../../storage/storage.js';
import { throttles } from '../../storage/tables/identity.js';
import { forLog } from '../background.js';
import type { ServiceContext } from '../context.js';
import { ServiceError, unavailable } from './errors.js';

const MINUTE_MS = 60_000;
const FLUSH_INTERVAL_MS = 1000;
const DELAY_INTERVAL_MS = 1000;
const DELAY_RESOLUTION_MS = 10;

/**
 * Decides at each check whether the process is overloaded, by the mean delay of the event loop since the check before.
 * One late check is a stall that is over, as at a start on a busy machine; two in a row are overload.
 *
 * @returns takes the delay in milliseconds. NaN, where none was measured, changes nothing: after a long turn the check
 * can come before the measurement.
 */
export function createOverload(delayMsMax: number): (delayMs: number) => boolean {
  let wasLate = false;
  let isOverloaded = false;
  return (delayMs) => {
    if (Number.isNaN(delayMs)) return isOverloaded;
    const isLate = delayMs > delayMsMax;
    isOverloaded = isLate && wasLate;
    wasLate = isLate;
    return isOverloaded;
  };
}

/** Answers 503 with `Retry-After` while the process cannot keep up. */
export function addOverloadProtection(app: FastifyInstance, { settings, scheduler }: ServiceContext): void {
  const { eventLoopDelayMsMax } = settings;
  if (eventLoopDelayMsMax <= 0) return;
  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  const isLateAgain = createOverload(eventLoopDelayMsMax);
  let isOverloaded = false;
  const check = (): void => {
    isOverloaded = isLateAgain(delays.mean / 1e6 - DELAY_RESOLUTION_MS);
    delays.reset();
    cancel = scheduler.after(DELAY_INTERVAL_MS, check);
  };
  delays.enable();
  let cancel = scheduler.after(DELAY_INTERVAL_MS, check);
  app.addHook('onClose', async () => {
    cancel();
    delays.disable();
  });
  app.addHook('onRequest', (request, _reply, done) => {
    // Health checks are answered even then.
    if (isOverloaded && request.routeOptions.config.isAlwaysAnswered !== true) {
      throw unavailable('the service is overloaded; try again later');
    }
    done();
  });
}

/** On answers to a client whose requests are counted: the most in a minute, what is left, seconds to the next one. */
export const LIMIT_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const;

/** Answers 429 with `Retry-After` if a client makes more than `requestsPerMinuteMax` requests. */
export async function addRequestLimit(app: FastifyInstance, context: ServiceContext): Promise<void> {
  const { requestsPerMinuteMax } = context.settings;
  if (requestsPerMinuteMax <= 0) return;
  const { RequestCounts, flush } = createRequestCounts(context);
  app.addHook('preClose', flush);
  await app.register(rateLimit, {
    max: requestsPerMinuteMax,
    timeWindow: MINUTE_MS,
    // After the token was checked, before the body is read.
    hook: 'preParsing',
    keyGenerator: (request) => request.windrowPrincipal?.clientId ?? request.ip,
    allowList: (request) => request.windrowPrincipal === undefined,
    store: RequestCounts,
    errorResponseBuilder: (_request, { after, ttl }) =>
      new ServiceError(429, `too many requests: at most ${requestsPerMinuteMax} a minute; try again in ${after}`, {
        headers: { 'retry-after': String(Math.ceil(ttl / 1000)) },
      }),
  });
}

interface Count {
  readonly windowStartMs: number;
  /** The count of all processes at the last exchange. */
  stored: number;
  /** Counted by this process since. */
  own: number;
  /** Resolves once the stored count of the window was read. */
  readonly loaded: Promise<void>;
}

/**
 * Counts each client's requests in the current minute. The count is in the store, shared by all processes and kept
 * over restarts; each process adds its own once a second, so that a request need not wait for a commit.
 */
function createRequestCounts(context: ServiceContext) {
  const { storage, clock, scheduler, log } = context;
  const counts = new Map<string, Count>();
  let isFlushDue = false;
  const flush = async (): Promise<void> => {
    isFlushDue = false;
    await exchange(context, counts).catch((error) => {
      log.warn(forLog(error), 'request counts were not exchanged');
    });
  };
  const open = (key: string, windowStartMs: number): Count => {
    const loaded = storage
      .read(IDENTITY_SHARD, (tx) => tx.get(throttles, { subject: subjectOf(key) }))
      .then((row) => {
        count.stored = row?.windowStartMs === windowStartMs ? row.failureCount : 0;
      });
    const count: Count = { windowStartMs, stored: 0, own: 0, loaded };
    counts.set(key, count);
    // The next request asks again.
    loaded.catch(() => {
      if (counts.get(key) === count) counts.delete(key);
    });
    return count;
  };
  class RequestCounts {
    incr(key: string, callback: (error: Error | null, result?: { current: number; ttl: number }) => void): void {
      const nowMs = clock.nowMs();
      const windowStartMs = nowMs - (nowMs % MINUTE_MS);
      const known = counts.get(key);
      const count = known?.windowStartMs === windowStartMs ? known : open(key, windowStartMs);
      count.own++;
      if (!isFlushDue) {
        isFlushDue = true;
        scheduler.after(FLUSH_INTERVAL_MS, () => void flush());
      }
      count.loaded.then(
        () => callback(null, { current: count.stored + count.own, ttl: windowStartMs + MINUTE_MS - nowMs }),
        callback,
      );
    }

    child(): RequestCounts {
      return this;
    }
  }
  return { RequestCounts, flush };
}

function subjectOf(key: string): string {
  return `requests ${key}`;
}

async function exchange({ storage, clock }: ServiceContext, counts: Map<string, Count>): Promise<void> {
  const nowMs = clock.nowMs();
  const oldestMs = nowMs - MINUTE_MS;
  for (const [key, { windowStartMs }] of counts) if (windowStartMs < oldestMs) counts.delete(key);
  const added = [...counts].map(([key, count]) => ({ key, count, own: count.own })).filter(({ own }) => own > 0);
  if (added.length === 0) return;
  const totals = await writeReserved(storage, IDENTITY_SHARD, async (tx) => {
    const found: number[] = [];
    for (const { key, count, own } of added) {
      const subject = subjectOf(key);
      const { windowStartMs } = count;
      const row = await tx.get(throttles, { subject });
      const total = (row?.windowStartMs === windowStartMs ? row.failureCount : 0) + own;
      // A past minute must not replace a current one; one still to come was counted before a clock was set back.
      if (row === undefined || row.windowStartMs <= windowStartMs || row.windowStartMs > nowMs + MINUTE_MS) {
        await tx.put(throttles, { subject, windowStartMs, failureCount: total, blockedUntilMs: null });
      }
      found.push(total);
    }
    return found;
  });
  for (const [index, { count, own }] of added.entries()) {
    count.stored = totals[index]!;
    count.own -= own;
  }
}
