import { connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openPostgresStorage } from '../../../src/storage/postgres/open.js';
import { createDatabase, hasPostgres, type TestDatabase } from './open.js';

let database: TestDatabase | undefined;
let server: Server | undefined;
afterEach(async () => {
  server?.close();
  await database?.remove();
});

/** An ErrorResponse of PostgreSQL's protocol: the answer of a server that is recovering. */
function refusal(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0');
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** A proxy that refuses the first connections like a server that is starting. */
async function openWay(folder: string, refusedCount: number): Promise<number> {
  let count = 0;
  server = createServer((socket) => {
    socket.on('error', () => {});
    if (count++ < refusedCount) return void socket.once('data', () => socket.end(refusal()));
    const way = connect(`${folder}/.s.PGSQL.5432`);
    way.on('error', () => socket.destroy());
    way.pipe(socket).pipe(way);
  });
  await new Promise((resolve) => server!.listen(0, '127.0.0.1', () => resolve(undefined)));
  return (server.address() as { port: number }).port; // `as`: a TCP server has a port
}

async function openWith(refusedCount: number, monotonicMs: () => number) {
  database = await createDatabase();
  const { pathname, searchParams } = new URL(database.address.replace('@/', '@socket/'));
  const port = await openWay(searchParams.get('host')!, refusedCount);
  return openPostgresStorage({ address: `postgres://windrow@127.0.0.1:${port}${pathname}`, clock: { monotonicMs } });
}

describe.runIf(hasPostgres)('a database that is still starting', () => {
  it('is waited for', async () => {
    const storage = await openWith(3, () => performance.now());
    await storage.check();
    await storage.close();
  });

  it('is not waited for indefinitely', async () => {
    let nowMs = 0;
    const later = () => {
      nowMs += 10_000;
      return nowMs;
    };
    await expect(openWith(Number.POSITIVE_INFINITY, later)).rejects.toThrow(
      /the database system is starting up \(57P03\); check that the database runs/,
    );
  });
});
