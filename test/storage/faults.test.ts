import { execFileSync } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StorageFullError } from '../../src/storage/index.js';
import type { Reader, Transaction } from '../../src/storage/storage.js';
import { thing } from './conformance/some-things.js';
import { blobs, suiteTables, things } from './conformance/tables.js';
import type { OpenedStorage } from './conformance.js';
import { failAt, type Held, hold } from './faults.js';
import { availableAdapters, openTemporary, temporaryDirectory } from './open-temporary.js';

const SHARD = 2;
const MEGABYTE = new Uint8Array(1024 * 1024).fill(7);

const insert = (id: string) => async (tx: Transaction) => {
  await tx.insert(things, thing({ id }));
  return tx.commit;
};
const ids = async (tx: Reader) => (await tx.find(things)).map(({ id }) => id);
const putBlob = (series: number) => (tx: Transaction) =>
  tx.put(blobs, { series, startMs: 0, endMs: null, data: MEGABYTE });

const ways = availableAdapters.flatMap((adapter) => [true, false].map((isLogging) => ({ ...adapter, isLogging })));

describe.each(ways)('failures under the store, by $name, with a log: $isLogging', ({ open, isLogging }) => {
  let held: Held;
  let opened: OpenedStorage;
  beforeEach(async () => {
    held = hold(open);
    opened = await openTemporary({ openDatabase: held.open, tables: suiteTables, isLogging });
    await opened.storage.transaction(SHARD, insert('kept'));
  });
  afterEach(async () => {
    held.before = () => {};
    held.after = () => {};
    await opened.dispose();
  });

  it.skipIf(isLogging)(
    'a commit that fails is told to all of its group; nothing of it is there, and the store goes on',
    async () => {
      const { storage } = opened;
      const heard: number[] = [];
      storage.onCommit((_, commit) => heard.push(commit));
      held.before = failAt('COMMIT', 'full');
      const works = [
        storage.transaction(SHARD, insert('a')),
        storage.transaction(SHARD, insert('b')),
        storage.transaction(0, ids),
      ];
      for (const result of await Promise.allSettled(works)) {
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StorageFullError) });
      }
      expect(await storage.read(SHARD, async (tx) => [await ids(tx), tx.lastCommit])).toEqual([['kept'], 1]);
      expect(heard).toEqual([]);
      expect(await storage.transaction(SHARD, insert('c'))).toBe(2);
      expect(await (await opened.reopen()).read(SHARD, ids)).toEqual(['c', 'kept']);
    },
  );

  it('a failure of the disk in one work is one of its group, even when the work does not look at it', async () => {
    const { storage } = opened;
    held.before = (sql) => {
      // The second of the group.
      if (sql.startsWith('INSERT INTO "things"')) held.before = failAt('INSERT INTO "things"', 'io');
    };
    const first = storage.transaction(SHARD, insert('a'));
    const careless = storage.transaction(SHARD, (tx) => tx.insert(things, thing({ id: 'b' })).catch(() => undefined));
    const afterThem = storage.transaction(SHARD, insert('c'));
    await expect(first).rejects.toMatchObject({ code: 'storage.failed' });
    await expect(careless).rejects.toMatchObject({ code: 'storage.failed' });
    expect(await afterThem).toBe(2);
    expect(await storage.read(SHARD, ids)).toEqual(['c', 'kept']);
  });

  it('every statement of a commit may fail, each way, and the store goes on as if the group had not been', async () => {
    // In the log, as those below are; the first group of a process is a commit of SQLite.
    await opened.storage.transaction(SHARD, (tx) => tx.put(things, thing({ id: 'kept' })));
    const statements: string[] = [];
    held.before = (sql) => statements.push(sql);
    await opened.storage.transaction(SHARD, insert('counted'));
    for (let at = 0; at < statements.length; at++) {
      for (const kind of ['full', 'io', 'busy'] as const) {
        let index = 0;
        held.before = (sql) => {
          if (index++ === at) failAt(sql, kind)(sql);
        };
        await expect(opened.storage.transaction(SHARD, insert('lost')), statements[at]).rejects.toThrow();
        held.before = () => {};
        expect(await opened.storage.read(SHARD, ids)).toEqual(['counted', 'kept']);
        await opened.storage.transaction(SHARD, insert(`after ${at} ${kind}`));
        await opened.storage.transaction(SHARD, (tx) =>
          tx.delete(things, [
            ['id', '>=', 'after'],
            ['id', '<', 'b'],
          ]),
        );
      }
    }
    expect(statements.length).toBeGreaterThan(4);
    expect(await (await opened.reopen()).read(SHARD, ids)).toEqual(['counted', 'kept']);
  });

  it.skipIf(isLogging)(
    'a COMMIT that tells of a failure after it took effect does not put the numbers out of step',
    async () => {
      const { storage } = opened;
      held.after = failAt('COMMIT', 'io');
      await expect(storage.transaction(SHARD, insert('a'))).rejects.toMatchObject({ code: 'storage.failed' });
      expect(await storage.read(SHARD, async (tx) => [await ids(tx), tx.lastCommit])).toEqual([['a', 'kept'], 2]);
      expect(await storage.transaction(SHARD, insert('b'))).toBe(3);
    },
  );

  it('a failing read is told, and the next one is answered', async () => {
    held.before = failAt('SELECT "organisation"', 'io');
    await expect(opened.storage.read(SHARD, ids)).rejects.toMatchObject({ code: 'storage.failed' });
    expect(await opened.storage.read(SHARD, ids)).toEqual(['kept']);
    held.before = failAt('SELECT "commit"', 'damaged');
    await expect(opened.storage.check()).rejects.toMatchObject({ code: 'storage.damaged' });
    await opened.storage.check();
  });

  it('a store that reached its greatest size is full: reads go on, and writes once there is room', async () => {
    const { storage } = opened;
    const pages = Number(held.database!.all('PRAGMA page_count')[0]!.page_count);
    held.database!.all(`PRAGMA max_page_count = ${pages + 20}`);
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(storage.transaction(SHARD, putBlob(attempt))).rejects.toBeInstanceOf(StorageFullError);
      expect(await storage.read(SHARD, ids)).toEqual(['kept']);
    }
    held.database!.all('PRAGMA max_page_count = 1000000');
    await storage.transaction(SHARD, putBlob(9));
    expect(await storage.read(SHARD, (tx) => tx.count(blobs))).toBe(1);
  });

  it('a work that waits for something else than its transaction is ended: it holds up nobody for ever', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { storage } = opened;
      const stuck = storage.transaction(SHARD, async (tx) => {
        await tx.insert(things, thing({ id: 'stuck' }));
        await storage.transaction(SHARD, insert('inner'));
      });
      const reader = storage.read(SHARD, () => new Promise(() => {}));
      const ended = [stuck, reader].map((work) => expect(work).rejects.toMatchObject({ code: 'storage.ended' }));
      for (let turn = 0; turn < 10; turn++) {
        await new Promise<void>((resolve) => setImmediate(resolve));
        await vi.advanceTimersByTimeAsync(10_000);
      }
      await Promise.all(ended);
      expect(await storage.read(SHARD, ids)).toEqual(['inner', 'kept']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('space that was freed is used again, and what is far too much given back', async () => {
    const { storage } = opened;
    const fileBytes = () =>
      Number(held.database!.all('PRAGMA page_count')[0]!.page_count) *
      Number(held.database!.all('PRAGMA page_size')[0]!.page_size);
    const fill = async (count: number) => {
      for (let i = 0; i < count; i++) await storage.transaction(SHARD, putBlob(i));
    };
    await fill(8);
    const fullBytes = fileBytes();
    for (let round = 0; round < 5; round++) {
      await storage.transaction(SHARD, (tx) => tx.delete(blobs, []));
      await fill(8);
    }
    expect(fileBytes()).toBeLessThanOrEqual(fullBytes + 1024 * 1024);
    await fill(48);
    const greatestBytes = fileBytes();
    await storage.transaction(SHARD, (tx) => tx.delete(blobs, []));
    for (let i = 0; i < 40; i++) await storage.transaction(SHARD, insert(`small ${i}`));
    expect(fileBytes()).toBeLessThan(0.8 * greatestBytes);
    expect(held.database!.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});

/** A file system of a few megabytes; only root may make one. */
function smallFileSystem(): { readonly path: string; remove(): void } | undefined {
  const { path, remove } = temporaryDirectory();
  try {
    execFileSync('/bin/sh', ['-c', `mount -t tmpfs -o size=4m tmpfs '${path}'`], { stdio: 'ignore' });
  } catch {
    remove();
    return undefined;
  }
  return {
    path,
    remove: () => {
      execFileSync('/bin/sh', ['-c', `umount '${path}'`]);
      remove();
    },
  };
}

function fillUp(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, new Uint8Array(4096));
  } catch {
    // There is no room any more.
  } finally {
    closeSync(file);
  }
}

describe.each(ways)('a disk that is full, by $name, with a log: $isLogging', ({ name, open, isLogging }) => {
  it('after a crash the store waits for room: what was answered stays in the log', async ({ skip }) => {
    const disk = smallFileSystem();
    if (disk === undefined) return skip('a small file system can be made by root on Linux alone');
    const options = { openDatabase: open, tables: suiteTables, isLogging };
    const left = await openTemporary(options);
    for (const id of ['a', 'b', 'c']) await left.storage.transaction(SHARD, insert(id));
    for (const file of ['windrow.db', 'windrow.db-journal', 'windrow.log']) {
      const path = join(left.directory, file);
      if (existsSync(path)) copyFileSync(path, join(disk.path, file));
    }
    await left.dispose();
    const filler = join(disk.path, 'filler');
    try {
      fillUp(filler);
      const files = readdirSync(disk.path);
      await expect(openTemporary({ ...options, directory: disk.path })).rejects.toThrow();
      expect(readdirSync(disk.path)).toEqual(files);
      rmSync(filler);
      const opened = await openTemporary({ ...options, directory: disk.path });
      expect(await opened.storage.read(SHARD, ids)).toEqual(['a', 'b', 'c']);
      await opened.dispose();
    } finally {
      disk.remove();
    }
  });

  it('refuses writes with storage.full, goes on reading, and takes writes once there is room', async ({ skip }) => {
    const disk = smallFileSystem();
    if (disk === undefined) return skip('a small file system can be made by root on Linux alone');
    const opened = await openTemporary({ openDatabase: open, tables: suiteTables, directory: disk.path, isLogging });
    try {
      const { storage } = opened;
      await storage.transaction(SHARD, insert('kept'));
      let count = 0;
      const fillUp = async () => {
        for (; count < 100; count++) await storage.transaction(SHARD, putBlob(count));
      };
      await expect(fillUp(), name).rejects.toBeInstanceOf(StorageFullError);
      expect(count).toBeGreaterThan(0);
      for (let attempt = 0; attempt < 3; attempt++) {
        await expect(storage.transaction(SHARD, putBlob(50))).rejects.toBeInstanceOf(StorageFullError);
        expect(await storage.read(SHARD, async (tx) => [await ids(tx), await tx.count(blobs)])).toEqual([
          ['kept'],
          count,
        ]);
      }
      await storage.transaction(SHARD, (tx) => tx.delete(blobs, []));
      await storage.transaction(SHARD, putBlob(0));
      expect(await (await opened.reopen()).read(SHARD, (tx) => tx.count(blobs))).toBe(1);
    } finally {
      await opened.dispose();
      disk.remove();
    }
  });
});
