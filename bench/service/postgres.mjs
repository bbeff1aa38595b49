// A PostgreSQL server for a benchmark, with PostgreSQL's default durability, alone or with a synchronous standby on the
// same machine.

import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresServer } from '../../scripts/cluster/postgres-server.mjs';

/**
 * @param {string} folder in which the servers make folders of their own
 * @param {boolean} hasStandby whether commits wait until a standby has them on its disk
 */
export async function startPostgres(folder, hasStandby) {
  // The servers run as a user of their own.
  chmodSync(folder, 0o755);
  const primary = new PostgresServer(join(folder, 'primary'));
  await primary.create();
  await primary.start();
  const servers = [primary];
  const store = await primary.createDatabase('bench');
  if (hasStandby) {
    const standby = new PostgresServer(join(folder, 'standby'));
    await standby.createStandbyOf(primary, 'standby');
    await standby.start();
    await primary.configure(["synchronous_standby_names = 'standby'"]);
    servers.unshift(standby);
  }
  return {
    store,
    version: `PostgreSQL ${await primary.query('SHOW server_version')}`,
    pids: () => servers.flatMap((server) => server.pids),
    stop: async () => {
      for (const server of servers) await server.stop('SIGQUIT');
    },
  };
}
