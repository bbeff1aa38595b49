import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openSqliteStorage } from '../../../src/storage/index.js';
import type { Storage, Transaction } from '../../../src/storage/storage.js';
import { blobs, suiteTables, things } from '../conformance/tables.js';
import { checkpointOften } from './checkpoint-often.js';

export const SHARD = 4;
export const STEP_COUNT = 24;

const pattern = (seed: number, length: number) => Uint8Array.from({ length }, (_, i) => (i * seed + (i >> 8)) % 256);

/** Updates some rows, inserts new ones and deletes some; every few steps on many pages. */
const step = (i: number) => async (tx: Transaction) => {
  await tx.update(things, [['id', '=', `thing ${i}`]], { name: 'after'.repeat(i), severity: 'high' });
  await tx.delete(things, [['id', '=', `thing ${i + 50}`]]);
  const length = i % 7 === 6 ? 230_000 : 900 * i;
  await tx.put(blobs, { series: 1 + (i % 3), startMs: 0, endMs: null, data: pattern(i, length) });
};

/** The whole content of the store, in a few characters. */
export const contents = (storage: Storage) =>
  storage.read(SHARD, async (tx) => {
    const hash = createHash('sha256').update(JSON.stringify([tx.lastCommit, await tx.find(things)]));
    for (const { series, data } of await tx.find(blobs)) hash.update(`${series} ${data.length} `).update(data);
    return hash.digest('hex');
  });

/** Does the steps one after another, and prints for each when it was acknowledged, or that it failed. */
async function run(directory: string): Promise<void> {
  const storage = await openSqliteStorage({
    directory,
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    tables: suiteTables,
    reserveBytes: 0,
    openDatabase: await checkpointOften(20),
  });
  writeSync(1, `${JSON.stringify({ kind: 'answered', contents: await contents(storage) })}\n`);
  for (let i = 0; i < STEP_COUNT; i++) {
    try {
      await storage.transaction(SHARD, step(i));
    } catch (error) {
      const found = await contents(storage).catch(() => undefined);
      writeSync(1, `${JSON.stringify({ kind: 'refused', message: String(error), contents: found })}\n`);
      continue;
    }
    writeSync(1, `${JSON.stringify({ kind: 'answered', contents: await contents(storage) })}\n`);
  }
  await storage.close();
}

const [directory, mode] = process.argv.slice(2);
if (directory !== undefined && mode === 'run') await run(directory);
