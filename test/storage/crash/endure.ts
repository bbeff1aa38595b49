import { writeSync } from 'node:fs';
import { openSqliteStorage } from '../../../src/storage/index.js';
import { thing } from '../conformance/some-things.js';
import { suiteTables, things } from '../conformance/tables.js';

// Writes and reads every few milliseconds, whatever happens to the disk, and prints what came of each, until killed.

const [directory = ''] = process.argv.slice(2);
const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
const storage = await openSqliteStorage({ directory, clock, tables: suiteTables, reserveBytes: 1024 * 1024 });

for (let i = 0; ; i++) {
  const written = await storage
    .transaction(1, async (tx) => {
      await tx.insert(things, thing({ id: `${i}` }));
      return 'written';
    })
    .catch((error: unknown) => (error instanceof Error ? error.name : 'no error'));
  const read = await storage.read(1, (tx) => tx.count(things));
  writeSync(1, `${JSON.stringify({ written, read })}\n`);
  await new Promise((resolve) => setTimeout(resolve, 5));
}
