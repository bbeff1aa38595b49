import { inject } from 'vitest';
import { openPostgresStorage, type PostgresOptions } from '../../../src/storage/postgres/open.js';
import { TIME_LIMITS, type TimeLimits } from '../../../src/storage/postgres/servers.js';
import type { OpenedStorage } from '../conformance/opened-storage.js';
import { startServer } from './server.js';

/** Whether PostgreSQL is installed; without it, its tests are skipped. */
export const hasPostgres = inject('postgresFolder') !== undefined;

/**
 * All limits divided by the same number, so that the same one ends each wait, only sooner. For a store whose clock runs
 * as many times as fast, or that gives nothing up.
 */
export function limitsOver(divisor: number): TimeLimits {
  const { connectMsMax, confirmedMsMax, slowMs, lockMsMax, answerMsMax, silentMsMax } = TIME_LIMITS;
  return {
    connectMsMax: connectMsMax / divisor,
    confirmedMsMax: confirmedMsMax / divisor,
    slowMs: slowMs / divisor,
    lockMsMax: lockMsMax / divisor,
    answerMsMax: answerMsMax / divisor,
    // A live process polls now and then, however fast its clock runs.
    silentMsMax,
  };
}

let databaseCount = 0;

export interface TestDatabase {
  /** Its address, as for `windrow serve --store`. */
  readonly address: string;
  query(sql: string): Promise<string>;
  /** Leases go by the database's own clock, so "advancing" it means to end them earlier. */
  advanceLeases(ms: number): Promise<void>;
  remove(): Promise<void>;
}

/** A new, empty database on the PostgreSQL server of this run of tests. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = await startServer(inject('postgresFolder'));
  const name = `test_${process.pid}_${Date.now()}_${databaseCount++}`;
  const address = await server.createDatabase(name);
  const query = (sql: string) => server.query(sql, name);
  return {
    address,
    query,
    advanceLeases: async (ms) => {
      await query(`UPDATE windrow_shard SET "leaseUntil" = "leaseUntil" - interval '${ms} ms'`);
    },
    remove: async () => void (await server.query(`DROP DATABASE ${name} WITH (FORCE)`)),
  };
}

/** A store in a new database; `through` makes its address one of a pooler. */
export async function openTemporaryPostgres(
  options: Partial<PostgresOptions> = {},
  through: (address: string) => string = (address) => address,
): Promise<OpenedStorage & { readonly database: TestDatabase }> {
  const database = await createDatabase();
  const clock = { monotonicMs: () => performance.now() };
  const open = () => openPostgresStorage({ clock, address: through(database.address), ...options });
  let storage = await open();
  return {
    database,
    storage,
    advance: database.advanceLeases,
    reopen: async () => {
      await storage.close();
      storage = await open();
      return storage;
    },
    dispose: async () => {
      await storage.close();
      await database.remove();
    },
  };
}
