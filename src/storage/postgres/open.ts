import { randomInt, randomUUID } from 'node:crypto';
import type { Storage } from '../storage.js';
import { parseAddress } from './address.js';
import { connect, loadPackage, StatementTexts } from './connection.js';
import { explained, failureOf } from './failure.js';
import { Hints } from './hints.js';
import { ConnectionPool } from './pool.js';
import { migrate, newestVersion, type Schema } from './schema.js';
import { PostgresStorage } from './storage.js';
import { pause, pauseOf, TRIES_MS_MAX } from './writer.js';

export interface PostgresOptions extends Schema {
  /** In the form of libpq: `postgres://user@host1,host2/database`. */
  readonly address: string;
  readonly clock: { monotonicMs(): number };
  /** The most connections, not counting the one for notifications. */
  readonly connectionCountMax?: number;
}

const CONNECTION_COUNT_MAX = 10;

/**
 * Opens the store in a PostgreSQL database; creates it if the database is empty.
 *
 * @throws StorageError 'storage.newer' for a store of a newer version, 'storage.failed' if the database cannot be
 * reached or entered.
 */
export async function openPostgresStorage(options: PostgresOptions): Promise<Storage> {
  const { clock, connectionCountMax = CONNECTION_COUNT_MAX } = options;
  const address = parseAddress(options.address);
  const loaded = await loadPackage();
  const texts = new StatementTexts();
  const name = randomUUID();
  const session = randomInt(1, 2 ** 31 - 1);
  const connectHere = () => connect(loaded, address, texts);
  const pool = new ConnectionPool(connectHere, connectionCountMax);
  const hints = new Hints({ connect: connectHere, name, session });
  const explain = (error: unknown) => explained(error, address.text);
  try {
    await onceStarted(() => pool.use((connection) => migrate(connection, address.text, options)), clock);
    await hints.start();
  } catch (error) {
    pool.close();
    throw explain(error);
  }
  const writer = {
    pool,
    name,
    version: newestVersion(options),
    monotonicMs: () => clock.monotonicMs(),
    onCommits: (shard: number, lastCommit: number) => hints.committed(shard, lastCommit),
  };
  return new PostgresStorage({ pool, hints, writer, session, explain });
}

/** Retries while the server is starting: both may start together, as after a power failure. */
async function onceStarted(work: () => Promise<void>, clock: PostgresOptions['clock']): Promise<void> {
  const untilMs = clock.monotonicMs() + TRIES_MS_MAX;
  for (let failureCount = 1; ; failureCount++) {
    try {
      return await work();
    } catch (error) {
      if (failureOf(error).kind !== 'starting' || clock.monotonicMs() >= untilMs) throw error;
      await pause(pauseOf(failureCount));
    }
  }
}
