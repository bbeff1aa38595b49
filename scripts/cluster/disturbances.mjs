// What befalls a database whose server stays: it is restarted, stands still, cuts connections, has locks and
// connections taken. Each ends with the database as it was.

import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'windrow'`;
/** As PostgreSQL says it. */
const TOO_MANY_CONNECTIONS = '53300';

/**
 * @param {import('./postgres-server.mjs').PostgresServer} server
 * @param {string} database
 * @param {() => number} random
 */
export function disturbances(server, database, random) {
  const upTo = (seconds) => random() * seconds * 1000;
  const connect = async () => {
    const client = new pg.Client({ connectionString: server.address(database) });
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  const restart = async (signal) => {
    await server.stop(signal);
    await wait(upTo(5));
    await server.start();
  };
  const lock = async (sql) => {
    const client = await connect();
    await client.query(`BEGIN; ${sql}`);
    await wait(upTo(20));
    await client.end();
  };
  return {
    'was restarted': () => restart('SIGINT'),
    'was restarted after a crash': () => restart('SIGQUIT'),
    'was away for longer than requests wait': async () => {
      await server.stop();
      await wait(18_000);
      await server.start();
    },
    'stood still': async () => {
      server.freeze();
      await wait(upTo(25));
      server.thaw();
    },
    'cut all connections again and again': async () => {
      const client = await connect();
      for (const endMs = performance.now() + upTo(10); performance.now() < endMs; ) {
        await client.query(CUT);
        await wait(upTo(0.2));
      }
      await client.end();
    },
    'had the table of shards locked': () => lock('LOCK TABLE "windrow_shard"'),
    'had the table of samples locked': () => lock('LOCK TABLE "sample_log"'),
    'had the rows of the shards locked': () => lock('SELECT FROM "windrow_shard" FOR UPDATE'),
    'had all its connections taken': async () => {
      const taken = [await connect()];
      await taken[0].query(CUT);
      for (const endMs = performance.now() + upTo(20); performance.now() < endMs; ) {
        try {
          taken.push(await connect());
        } catch (error) {
          if (error.code !== TOO_MANY_CONNECTIONS) throw error;
          await wait(50);
        }
      }
      for (const client of taken) await client.end();
    },
  };
}
