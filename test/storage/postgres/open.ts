import { inject } from 'vitest';
import { openPostgresStorage, type PostgresOptions } from '../../../src/storage/postgres/open.js';
import type { OpenedStorage } from '../conformance.js';
import { startServer } from './server.js';

/** Whether PostgreSQL is installed; its tests are left out where it is not. */
export const hasPostgres = inject('postgresFolder') !== undefined;

let databaseCount = 0;

export interface TestDatabase {
  /** Where it is, as `windrow serve --store` takes it. */
  readonly address: string;
  query(sql: string): Promise<string>;
  /** The clock of leases is the database's own: that time goes on is that they end earlier. */
  advanceLeases(ms: number): Promise<void>;
  remove(): Promise<void>;
}

/** A new, empty database on the server of this run of tests. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = await startServer(inject('postgresFolder'));
  const name = `test_${process.pid}_${Date.now()}_${databaseCount++}`;
  await server.query(`CREATE DATABASE ${name}`);
  const query = (sql: string) => server.query(sql, name);
  return {
    address: server.address(name),
    query,
    advanceLeases: async (ms) => {
      await query(`UPDATE windrow_shard SET "leaseUntil" = "leaseUntil" - interval '${ms} ms'`);
    },
    remove: async () => void (await server.query(`DROP DATABASE ${name} WITH (FORCE)`)),
  };
}

/** A store in a database of its own. */
export async function openTemporaryPostgres(
  options: Partial<PostgresOptions> = {},
): Promise<OpenedStorage & { readonly database: TestDatabase }> {
  const database = await createDatabase();
  const clock = { monotonicMs: () => performance.now() };
  const open = () => openPostgresStorage({ clock, address: database.address, ...options });
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
