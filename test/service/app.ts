import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { expect } from 'vitest';
import type { Clock, Scheduler } from '../../src/service/context.js';
import { createApp } from '../../src/service/http/app.js';
import { hashSecret } from '../../src/service/identity/secrets.js';
import type { Service } from '../../src/service/service.js';
import type { ServiceSettings } from '../../src/service/settings.js';
import { systemRandom } from '../../src/service/system.js';
import { IDENTITY_SHARD } from '../../src/storage/shard.js';
import type { Storage } from '../../src/storage/storage.js';
import { clients, tokens } from '../../src/storage/tables/identity.js';
import { folderInMemory } from '../folder-in-memory.js';
import { type StoreUnderTest, storeUnderTest } from '../storage/under-test.js';
import { spread } from './groups-under-test.js';
import { openService } from './open-service.js';

/** A clock that moves only when told to; timers run when it passes them. */
export interface TestClock extends Clock {
  /** Moves both clocks and runs the timers that are due, in order of time. */
  advance(byMs: number): void;
  /** Sets only the wall clock, forward or back, as an operator can. */
  setWall(nowMs: number): void;
  readonly scheduler: Scheduler;
}

export interface TestService {
  readonly app: FastifyInstance;
  readonly service: Service;
  readonly clock: TestClock;
  readonly directory: string;
  /** Every route, as registered. */
  readonly routes: readonly TestRoute[];
  /** Every log line, at any level. */
  readonly logLines: readonly string[];
  /** Adds a client and returns it with its secret. */
  addClient(client: {
    organisation: string;
    scopes?: string;
    grants?: string;
    name?: string;
    groups?: number;
  }): Promise<{ clientId: string; clientSecret: string }>;
  /** A header with an access token, as the token endpoint would issue it. */
  bearer(client: { clientId: string }, scope?: string): Promise<{ authorization: string }>;
  /** Stops, and starts again over the same data. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export interface TestRoute {
  readonly method: string;
  readonly url: string;
}

export interface TestServiceOptions {
  readonly nowMs?: number;
  readonly settings?: Partial<ServiceSettings>;
  /** Opens the embedded store by itself, as a user's service does, with threads that read it. */
  readonly ownsStore?: boolean;
  /** Wraps the store, so that a test can make it fail. */
  readonly storage?: (directory: string, clock: Clock) => Promise<Storage>;
  /** Without the worker, compaction and other work in the background. */
  readonly isQuiet?: boolean;
}

const START_MS = Date.UTC(2026, 0, 1);

/** The service over a real store, without a socket, on a test clock. */
export async function openTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const directory = folderInMemory('windrow-service-');
  const clock = createTestClock(options.nowMs ?? START_MS);
  const logLines: string[] = [];
  const store = await storeUnderTest(directory);
  let running = await start(directory, store, clock, logLines, options);
  const context = () => running.service.context;
  return {
    get app() {
      return running.app;
    },
    get service() {
      return running.service;
    },
    clock,
    get routes() {
      return running.routes;
    },
    directory,
    logLines,
    addClient: async ({ organisation, scopes = 'core_read core_write core_admin', grants, name = 'test', groups }) => {
      const clientId = `client-${randomBytes(6).toString('hex')}`;
      const clientSecret = randomBytes(32).toString('base64url');
      const row = { clientId, organisation, name, scopes, grants: grants ?? 'client_credentials' };
      await spread(context().storage, organisation, groups);
      await context().storage.transaction(IDENTITY_SHARD, (tx) =>
        tx.insert(clients, { ...row, secretHash: hashSecret(clientSecret), createdMs: clock.nowMs() }),
      );
      return { clientId, clientSecret };
    },
    bearer: async ({ clientId }, scope = 'core_read core_write core_admin') => {
      const token = createHash('sha256').update(randomBytes(32)).digest('base64url');
      await context().storage.transaction(IDENTITY_SHARD, async (tx) => {
        const client = await tx.get(clients, { clientId });
        if (client === undefined) throw new Error(`there is no client ${clientId}`);
        const issuedMs = clock.nowMs();
        const { organisation } = client;
        const expiresMs = issuedMs + context().settings.tokenLifetimeS * 1000;
        await tx.insert(tokens, {
          tokenHash: hashSecret(token),
          clientId,
          organisation,
          username: null,
          scope,
          issuedMs,
          expiresMs,
        });
      });
      return { authorization: `Bearer ${token}` };
    },
    reopen: async () => {
      await running.close();
      running = await start(directory, store, clock, logLines, options);
    },
    close: async () => {
      await running.close();
      await store.remove();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function start(
  directory: string,
  store: StoreUnderTest,
  clock: TestClock,
  logLines: string[],
  { settings, ownsStore = false, storage, isQuiet = false }: TestServiceOptions,
) {
  const log = pino({ level: 'trace' }, { write: (line) => logLines.push(line) });
  const app = createApp({ log, random: systemRandom });
  const routes: TestRoute[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.push({ method: one, url });
  });
  const expectNamed = watchErrors(app);
  const own = ownsStore ? undefined : await (storage === undefined ? store.open(clock) : storage(directory, clock));
  const service = await openService(
    {
      clock,
      scheduler: clock.scheduler,
      // The load of the test machine must not matter.
      settings: { eventLoopDelayMsMax: 0, ...settings },
      ...(own === undefined ? { dataDirectory: directory } : { storage: own }),
      // password.test.ts tests the real cost, a fifth of a second.
      passwordCost: { costLog2: 4, blockSize: 8, parallelism: 1 },
    },
    app.log,
  );
  await service.register(app);
  await app.ready();
  if (!isQuiet) service.start();
  return {
    app,
    service,
    routes,
    close: async () => {
      await service.stop();
      await app.close();
      await service.close();
      await own?.close();
      expectNamed();
    },
  };
}

// Whatever a test provokes, every error that a route returns must be listed in /openapi.json.
function watchErrors(app: FastifyInstance): () => void {
  const given = new Set<string>();
  app.addHook('onResponse', async ({ method, routeOptions: { url, schema } }, { statusCode }) => {
    const isShown = url !== undefined && schema !== undefined && !('hide' in schema) && method !== 'HEAD';
    if (isShown && statusCode >= 400) given.add(`${method} ${url.replaceAll(/:(\w+)/g, '{$1}')} ${statusCode}`);
  });
  return () => {
    if (given.size === 0) return;
    const { paths = {} } = app.swagger();
    const named = Object.entries(paths).flatMap(([path, methods]) =>
      // By method: the paths have no other fields.
      Object.entries(methods as Record<string, { responses: object }>).flatMap(([method, { responses }]) =>
        Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
      ),
    );
    expect([...given].filter((answer) => !named.includes(answer))).toEqual([]);
  };
}

export function createTestClock(startMs: number): TestClock {
  let wallMs = startMs;
  let monotonicMs = 0;
  const timers = new Map<number, { dueMs: number; work: () => void }>();
  let timerCount = 0;
  const moveTo = (dueMs: number): void => {
    wallMs += dueMs - monotonicMs;
    monotonicMs = dueMs;
  };
  return {
    nowMs: () => wallMs,
    monotonicMs: () => monotonicMs,
    setWall: (nowMs) => {
      wallMs = nowMs;
    },
    advance: (byMs) => {
      const endMs = monotonicMs + byMs;
      for (;;) {
        const next = [...timers].filter(([, { dueMs }]) => dueMs <= endMs).sort(([, a], [, b]) => a.dueMs - b.dueMs)[0];
        if (next === undefined) break;
        const [id, { dueMs, work }] = next;
        timers.delete(id);
        moveTo(dueMs);
        work();
      }
      moveTo(endMs);
    },
    scheduler: {
      after: (delayMs, work) => {
        const id = timerCount++;
        timers.set(id, { dueMs: monotonicMs + Math.max(0, delayMs), work });
        return () => timers.delete(id);
      },
    },
  };
}
