import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { findPostgres, PostgresServer } from '../../../scripts/cluster/postgres-server.mjs';
import { folderInMemory } from '../../folder-in-memory.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of this run's PostgreSQL server; the first test that needs the server starts it. */
    readonly postgresFolder: string;
  }
}

/**
 * A new folder for the files of servers: to create and drop the database of a test cost a quarter of a second of
 * processor time on a disk, four times as much as in memory. No test of them is about a loss of power.
 */
export function serverFolder(prefix: string): string {
  const made = folderInMemory(prefix);
  // The server runs as another user.
  chmodSync(made, 0o711);
  return made;
}

let folder: string | undefined;

/**
 * One server for all tests of a run, started by the first that needs it and stopped with the run. A server in the
 * folder WINDROW_TEST_POSTGRES is kept for the next run.
 */
export function setup(project: TestProject): void {
  // The projects of vitest.config.ts inherit what the root provides.
  if (!project.isRootProject() || findPostgres() === undefined) return;
  const kept = process.env.WINDROW_TEST_POSTGRES;
  if (kept !== undefined) {
    mkdirSync(kept, { recursive: true, mode: 0o711 });
    project.provide('postgresFolder', kept);
    return;
  }
  folder = serverFolder('windrow-pg-');
  project.provide('postgresFolder', folder);
}

export async function teardown(): Promise<void> {
  if (folder === undefined) return;
  if (existsSync(join(folder, 'ready'))) await new PostgresServer(join(folder, 'server'), OPTIONS).end();
  rmSync(folder, { recursive: true, force: true });
}

// These tests are not about durability, so the server need not wait for the disk.
const OPTIONS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: 200,
  shared_buffers: '64MB',
  autovacuum: 'off',
  // What it keeps of its log, in memory.
  max_wal_size: '256MB',
};

const START_MS_MAX = 60_000;

/** Starts the run's server unless it runs already. */
export async function startServer(folder: string): Promise<PostgresServer> {
  const server = new PostgresServer(join(folder, 'server'), OPTIONS);
  const ready = join(folder, 'ready');
  const isFirst = mkdirSync(join(folder, 'starting'), { recursive: true }) !== undefined;
  if (isFirst) {
    await server.create();
    await server.start();
    server.detach();
    writeFileSync(ready, '');
  }
  for (let waitedMs = 0; !existsSync(ready); waitedMs += 50) {
    if (waitedMs > START_MS_MAX) throw new Error('the PostgreSQL server of the tests did not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return server;
}
