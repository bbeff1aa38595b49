import { writeSync } from 'node:fs';
import { openSqliteStorage } from '../../../src/storage/index.js';
import { thing } from '../conformance/some-things.js';
import { blobs, suiteTables, things } from '../conformance/tables.js';

// Writes endlessly, as several writers, and prints what was acknowledged, until it is killed.

const [directory = '', round = ''] = process.argv.slice(2);
const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
const storage = await openSqliteStorage({ directory, clock, tables: suiteTables, reserveBytes: 0 });

async function write(writer: number): Promise<never> {
  for (let i = 0; ; i++) {
    const id = `${round} ${writer} ${i}`;
    const shard = writer % 3;
    const data = new Uint8Array(1000 * (i % 90)).fill(i);
    const commit = await storage.transaction(shard, async (tx) => {
      await tx.insert(things, thing({ id, version: 1, order: tx.commit }));
      await tx.put(blobs, { series: writer, startMs: 0, endMs: i, data });
      await tx.insert(things, thing({ id, version: 2, order: tx.commit }));
      return tx.commit;
    });
    writeSync(1, `${JSON.stringify({ shard, id, commit })}\n`);
  }
}

writeSync(1, '"ready"\n');
await Promise.all([0, 1, 2, 3, 4, 5].map(write));
