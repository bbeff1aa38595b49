import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openSqliteStorage } from '../../src/storage/index.js';
import type { OpenDatabase } from '../../src/storage/sqlite/database.js';
import { loadWasmSqlite } from '../../src/storage/sqlite/wasm-database.js';
import type { Storage, Transaction } from '../../src/storage/storage.js';
import { thing } from './conformance/some-things.js';
import { blobs, suiteTables, things } from './conformance/tables.js';
import { hold } from './faults.js';
import { availableAdapters, openTemporary, temporaryDirectory } from './open-temporary.js';
import { recordDisk } from './recorded-disk.js';

const SHARD = 4;
const clock = { nowMs: () => 0, monotonicMs: () => 0 };
const pattern = (seed: number, length: number) => Uint8Array.from({ length }, (_, i) => (i * seed + (i >> 8)) % 256);

/** Rows on many pages, and a blob on many more. */
async function fill(storage: Storage): Promise<void> {
  await storage.transaction(SHARD, async (tx) => {
    for (let i = 0; i < 300; i++) await tx.insert(things, thing({ id: `thing ${i}`, name: 'before'.repeat(40) }));
    await tx.insert(blobs, { series: 1, startMs: 0, endMs: null, data: pattern(3, 150_000) });
  });
}

/** Touches all of them, makes new ones, and takes some away. */
async function change(storage: Storage): Promise<void> {
  await storage.transaction(SHARD, async (tx) => {
    await tx.update(things, [['id', '>=', 'thing 2']], { name: 'after', severity: 'high' });
    await tx.delete(things, [['id', '<', 'thing 15']]);
    await tx.put(blobs, { series: 1, startMs: 0, endMs: null, data: pattern(5, 100_000) });
    await tx.insert(blobs, { series: 2, startMs: 0, endMs: null, data: pattern(7, 200_000) });
  });
}

/** All of the store, in a few characters. */
const contents = (storage: Storage) =>
  storage.read(SHARD, async (tx) => {
    const hash = createHash('sha256').update(JSON.stringify([tx.lastCommit, await tx.find(things)]));
    for (const { series, data } of await tx.find(blobs)) hash.update(`${series} ${data.length} `).update(data);
    return hash.digest('hex');
  });

async function openFiles(
  files: Map<string, Buffer>,
  openDatabase: OpenDatabase,
  read: (storage: Storage) => Promise<void>,
) {
  const { path: directory, remove } = temporaryDirectory();
  for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes);
  // What a process that died by force leaves besides.
  mkdirSync(join(directory, 'windrow.db.lock'));
  const held = hold(openDatabase);
  const storage = await openSqliteStorage({ directory, clock, openDatabase: held.open, tables: suiteTables });
  try {
    expect(held.database!.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    await read(storage);
  } finally {
    await storage.close();
    remove();
  }
}

// Recording needs /proc; the adapter of Node writes past it, but has to mend the same files.
it.runIf(process.platform === 'linux').each(availableAdapters)(
  'whenever the power fails, each commit is there whole or not at all, and once answered it is there (mended by $name)',
  async ({ open }) => {
    const held = hold(await loadWasmSqlite());
    const opened = await openTemporary({ openDatabase: held.open, tables: suiteTables, isLogging: false });
    // So few pages in memory that the database is written to in the middle of the transaction.
    held.database!.exec('PRAGMA cache_size = 20');
    await fill(opened.storage);
    const before = await contents(opened.storage);
    const paths = ['windrow.db', 'windrow.db-journal'].map((name) => join(opened.directory, name));
    const disk = recordDisk(paths);
    try {
      await change(opened.storage);
      disk.mark('answered');
    } finally {
      disk.stop();
    }
    const after = await contents(opened.storage);
    expect(after).not.toBe(before);
    const answeredAt = disk.operations.findIndex(({ kind }) => kind === 'mark');
    expect(disk.operations.filter(({ kind }) => kind === 'sync').length).toBeGreaterThan(3);

    // Every point once with all that was written, as when the process dies alone, …
    for (let count = 0; count <= disk.operations.length; count += 1 + Math.floor(disk.operations.length / 40)) {
      const files = disk.filesAfter(count, () => 'all');
      await openFiles(files, open, async (storage) => expect([before, after]).toContain(await contents(storage)));
    }
    // … and any point with any part of what was not yet on the disk.
    const parts = fc.infiniteStream(fc.constantFrom('none', 'half', 'all' as const));
    await fc.assert(
      fc.asyncProperty(fc.nat(disk.operations.length), parts, async (count, stream) => {
        const files = disk.filesAfter(count, () => stream.next().value ?? 'none');
        await openFiles(files, open, async (storage) => {
          const found = await contents(storage);
          expect(count > answeredAt ? [after] : [before, after]).toContain(found);
        });
      }),
      { numRuns: 50 },
    );
    const atTheEnd = disk.filesAfter(disk.operations.length, () => 'none');
    await openFiles(atTheEnd, open, async (storage) => expect(await contents(storage)).toBe(after));
    await opened.dispose();
  },
);

// One commit after the other, most of them in the log, with those of SQLite between them.
it.runIf(process.platform === 'linux').each(availableAdapters)(
  'whenever the power fails, commits are there up to the last that was answered, or the next (log mended by $name)',
  async ({ open }) => {
    const held = hold(await loadWasmSqlite());
    const { path: directory, remove } = temporaryDirectory();
    const options = { directory, clock, openDatabase: held.open, tables: suiteTables };
    // Before it is recorded the store is there, and closed.
    const first = await openSqliteStorage(options);
    await fill(first);
    await first.close();
    writeFileSync(join(directory, 'windrow.db-journal'), '');
    const disk = recordDisk(['windrow.db', 'windrow.db-journal', 'windrow.log'].map((name) => join(directory, name)));
    const states: string[] = [];
    const step = (i: number) => async (tx: Transaction) => {
      await tx.update(things, [['id', '=', `thing ${i}`]], { name: 'after'.repeat(i), severity: 'high' });
      await tx.delete(things, [['id', '=', `thing ${i + 50}`]]);
      const length = i % 7 === 6 ? 530_000 : 900 * i;
      await tx.put(blobs, { series: 1 + (i % 3), startMs: 0, endMs: null, data: pattern(i, length) });
    };
    try {
      const storage = await openSqliteStorage({ ...options, openLog: disk.openLog });
      held.database!.exec('PRAGMA cache_size = 20');
      states.push(await contents(storage));
      for (let i = 0; i < 20; i++) {
        await storage.transaction(SHARD, step(i));
        disk.mark('answered');
        states.push(await contents(storage));
      }
      await storage.close();
    } finally {
      disk.stop();
    }
    const check = async (count: number, keeps: () => 'none' | 'half' | 'all'): Promise<void> => {
      const answered = disk.operations.slice(0, count).filter(({ kind }) => kind === 'mark').length;
      await openFiles(disk.filesAfter(count, keeps), open, async (storage) => {
        expect(states.slice(answered, answered + 2)).toContain(await contents(storage));
      });
    };
    for (let count = 0; count <= disk.operations.length; count += 1 + Math.floor(disk.operations.length / 40)) {
      await check(count, () => 'all');
    }
    const parts = fc.infiniteStream(fc.constantFrom('none', 'half', 'all' as const));
    await fc.assert(
      fc.asyncProperty(fc.nat(disk.operations.length), parts, (count, stream) =>
        check(count, () => stream.next().value ?? 'none'),
      ),
      { numRuns: 80 },
    );
    await check(disk.operations.length, () => 'none');
    remove();
  },
);
