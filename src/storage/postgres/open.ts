import { randomInt, randomUUID } from 'node:crypto';
import { StorageError } from '../errors.js';
import type { Waiting } from '../opening.js';
import type { Storage } from '../storage.js';
import { parseAddress } from './address.js';
import { Announcer } from './announcer.js';
import { explained, PostgresFailure } from './failure.js';
import { Hints, type OnDatabaseTime } from './hints.js';
import { ConnectionPool } from './pool.js';
import { analyzeNew, migrate, newestVersion, type Schema } from './schema.js';
import { loadPackage, Servers, TIME_LIMITS, type TimeLimits } from './servers.js';
import { PostgresStorage } from './storage.js';
import { forgetWriters, pause, pauseOf, TRIES_MS_MAX, type WriterParts } from './writer.js';

export interface PostgresOptions extends Schema, Partial<Waiting> {
  /** In the form of libpq: `postgres://user@host1,host2/database`. */
  readonly address: string;
  readonly clock: { monotonicMs(): number };
  readonly onDatabaseTime?: OnDatabaseTime | undefined;
  /** Whether to create the store if there is none; by default yes. */
  readonly isMaking?: boolean;
  /** How long to wait for a database that cannot be reached or takes no writes; by default as long as for any work. */
  readonly waitMsMax?: number;
  readonly limits?: Partial<TimeLimits>;
}

/** The most connections, not counting the one for notifications. */
const CONNECTION_COUNT_MAX = 10;

/**
 * Opens the store in a PostgreSQL database; creates it if the database is empty. Waits for a database that cannot be
 * reached now, as during a failover, and for another process that upgrades it.
 *
 * @throws StorageError 'storage.newer' for a store of a newer version, 'file.missing' if there is none and `isMaking`
 * is false, 'storage.failed' if the database cannot be entered, or could not be reached for `waitMsMax`; the reason of
 * `signal` once that is aborted.
 */
export async function openPostgresStorage(options: PostgresOptions): Promise<Storage> {
  const { clock, isMaking = true, limits, onDatabaseTime } = options;
  const address = parseAddress(options.address);
  const servers = new Servers(await loadPackage(), address, limits);
  const name = randomUUID();
  const session = randomInt(1, 2 ** 31 - 1);
  const connectHere = () => servers.connect();
  const pool = new ConnectionPool(connectHere, CONNECTION_COUNT_MAX);
  const announcer = new Announcer();
  const hints = new Hints({ announcer, connect: connectHere, name, session, onDatabaseTime });
  const explain = (error: unknown) => explained(error, address.text);
  const enter = async () => {
    await pool.use(async (connection) => {
      await migrate(connection, address.text, options, isMaking);
      await analyzeNew(connection, options);
      await forgetWriters(connection);
      await hints.start(connection);
    });
  };
  try {
    await onceReached(enter, options, explain);
  } catch (error) {
    pool.close();
    await hints.close();
    throw error;
  }
  const writer: WriterParts = {
    pool,
    name,
    version: newestVersion(options),
    monotonicMs: () => clock.monotonicMs(),
    announcer,
    notify: (...of) => hints.notify(...of),
  };
  const { silentMsMax } = { ...TIME_LIMITS, ...limits };
  return new PostgresStorage({ pool, hints, writer, session, silentMsMax, explain });
}

/**
 * Retries while a later try may succeed: the database may be failing over, or both may have started together. Another
 * process may upgrade the store for as long as it takes.
 */
async function onceReached(
  enter: () => Promise<void>,
  { clock, waitMsMax = TRIES_MS_MAX, onWait = () => {}, signal }: PostgresOptions,
  explain: (error: unknown) => unknown,
): Promise<void> {
  let untilMs = clock.monotonicMs() + waitMsMax;
  let told = '';
  for (let failureCount = 1; ; failureCount++) {
    try {
      return await unlessAborted(enter(), signal);
    } catch (error) {
      const reason = explain(error);
      if (!(error instanceof PostgresFailure && error.isTransient && reason instanceof StorageError)) throw reason;
      const { code, message } = reason;
      if (error.kind === 'upgrading') untilMs = clock.monotonicMs() + waitMsMax;
      else if (clock.monotonicMs() >= untilMs) {
        throw new StorageError(code, `${message}; gave up after ${waitMsMax / 1000} s`, { cause: error });
      }
      if (message !== told) onWait(reason);
      told = message;
    }
    await unlessAborted(pause(pauseOf(failureCount)), signal);
  }
}

/** Settles like `work`, or rejects as soon as `signal` is aborted: a connection may take seconds to fail. */
async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work;
  let end = () => {};
  const aborted = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
