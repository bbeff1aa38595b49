import { mkdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { StorageFullError } from '../../src/storage/index.js';
import type { Reader, Transaction } from '../../src/storage/storage.js';
import type { OpenedStorage } from './conformance/opened-storage.js';
import { thing } from './conformance/some-things.js';
import { blobs, suiteTables, things } from './conformance/tables.js';
import { failAt, type Held, hold } from './faults.js';
import { openTemporary } from './open-temporary.js';
import { fillUp, smallDisk } from './small-disk.js';

const SHARD = 2;
const MEGABYTE = new Uint8Array(1024 * 1024).fill(7);

const insert = (id: string) => async (tx: Transaction) => {
  await tx.insert(things, thing({ id }));
  return tx.commit;
};
const ids = async (tx: Reader) => (await tx.find(things)).map(({ id }) => id);
const putBlob = (series: number) => (tx: Transaction) =>
  tx.put(blobs, { series, startMs: 0, endMs: null, data: MEGABYTE });

describe('failures under the store', () => {
  let held: Held;
  let opened: Awaited<ReturnType<typeof openTemporary>>;
  beforeEach(async () => {
    held = hold();
    opened = await openTemporary({ openDatabase: held.open, tables: suiteTables });
    await opened.storage.transaction(SHARD, insert('kept'));
  });
  afterEach(async () => {
    held.before = () => {};
    held.after = () => {};
    await opened.dispose();
  });

  it('a commit without disk space is reported to its whole group, and the store goes on without it', async () => {
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
  });

  it('a disk failure in one work fails its whole group, even if that work ignores it', async () => {
    const { storage } = opened;
    held.before = (sql) => {
      // The second work of the group.
      if (sql.startsWith('INSERT INTO "things"')) held.before = failAt('INSERT INTO "things"', 'full');
    };
    const first = storage.transaction(SHARD, insert('a'));
    const careless = storage.transaction(SHARD, (tx) => tx.insert(things, thing({ id: 'b' })).catch(() => undefined));
    const afterThem = storage.transaction(SHARD, insert('c'));
    await expect(first).rejects.toBeInstanceOf(StorageFullError);
    await expect(careless).rejects.toBeInstanceOf(StorageFullError);
    expect(await afterThem).toBe(2);
    expect(await storage.read(SHARD, ids)).toEqual(['c', 'kept']);
  });

  it('works go on behind one that is undone', async () => {
    const { storage } = opened;
    const beforeIt = storage.transaction(SHARD, ids);
    const undone = storage.transaction(SHARD, async (tx) => {
      await tx.insert(things, thing({ id: 'undone' }));
      throw new Error('undone');
    });
    const behind = storage.transaction(SHARD, insert('behind'));
    await expect(undone).rejects.toThrow('undone');
    expect([await beforeIt, await behind]).toEqual([['kept'], 2]);
    expect(await storage.read(SHARD, ids)).toEqual(['behind', 'kept']);
  });

  it('any statement may find the disk full or the database locked: the store goes on without its commit', async () => {
    const statements: string[] = [];
    held.before = (sql) => statements.push(sql);
    await opened.storage.transaction(SHARD, insert('counted'));
    held.before = () => {};
    // No caller hears of what follows the COMMIT.
    statements.splice(1 + statements.indexOf('COMMIT'));
    for (let at = 0; at < statements.length; at++) {
      for (const kind of ['full', 'busy'] as const) {
        // A lock that lasts is waited for; another test covers that.
        if (kind === 'busy' && statements[at]!.startsWith('BEGIN')) continue;
        await opened.storage.transaction(SHARD, ids);
        let index = 0;
        held.before = (sql) => {
          if (index++ === at) failAt(sql, kind)(sql);
        };
        await expect(
          opened.storage.transaction(SHARD, insert('lost')),
          `${kind} at ${statements[at]}`,
        ).rejects.toThrow();
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

  it.each(['INSERT INTO "things"', 'UPDATE "windrow_shard"', 'COMMIT'])(
    'after a failed write (%s) no writes are accepted, reads go on, and the next process can write',
    async (statement) => {
      const { storage } = opened;
      held.before = failAt(statement, 'io');
      const stopped = { code: 'storage.failed', message: expect.stringContaining('refuses further writes') };
      // After a failed COMMIT the next process may find the commit in the log.
      const first = statement === 'COMMIT' ? { code: 'storage.unknown' } : stopped;
      await expect(storage.transaction(SHARD, insert('a'))).rejects.toMatchObject(first);
      await expect(storage.transaction(SHARD, insert('b'))).rejects.toMatchObject(stopped);
      await expect(storage.transaction(SHARD, insert('c'), { usesReserve: true })).rejects.toMatchObject(stopped);
      await expect(storage.check()).rejects.toMatchObject(stopped);
      expect(await storage.read(SHARD, async (tx) => [await ids(tx), tx.lastCommit])).toEqual([['kept'], 1]);
      const next = await opened.reopen();
      expect(await next.transaction(SHARD, insert('d'))).toBe(2);
      await next.check();
    },
  );

  it('after a failed write, a page that cannot be read is the fault of the disk, not damage', async () => {
    const { storage } = opened;
    held.before = failAt('COMMIT', 'io');
    await expect(storage.transaction(SHARD, insert('a'))).rejects.toMatchObject({ code: 'storage.unknown' });
    held.before = failAt('SELECT', 'damaged', Infinity);
    const failed = { code: 'storage.failed', message: expect.stringContaining('cannot be read now') };
    await expect(storage.read(SHARD, ids)).rejects.toMatchObject(failed);
    held.before = () => {};
    expect(await storage.read(SHARD, ids)).toEqual(['kept']);
  });

  it('a COMMIT that reports failure after it took effect does not upset the commit numbers', async () => {
    const { storage } = opened;
    held.after = failAt('COMMIT', 'full');
    await expect(storage.transaction(SHARD, insert('a'))).rejects.toBeInstanceOf(StorageFullError);
    expect(await storage.read(SHARD, async (tx) => [await ids(tx), tx.lastCommit])).toEqual([['a', 'kept'], 2]);
    expect(await storage.transaction(SHARD, insert('b'))).toBe(3);
  });

  it('a failing read is reported, and the next one succeeds; writes go on', async () => {
    held.before = failAt('SELECT "organisation"', 'io');
    await expect(opened.storage.read(SHARD, ids)).rejects.toMatchObject({ code: 'storage.failed' });
    expect(await opened.storage.read(SHARD, ids)).toEqual(['kept']);
    held.before = failAt('SELECT "organisation"', 'damaged');
    const [damaged, other] = await Promise.allSettled([
      opened.storage.transaction(SHARD, ids),
      opened.storage.transaction(SHARD, insert('a')),
    ]);
    expect(damaged).toMatchObject({ status: 'rejected', reason: { code: 'storage.damaged' } });
    expect(other).toEqual({ status: 'fulfilled', value: 2 });
    held.before = failAt('SELECT "commit"', 'damaged');
    await expect(opened.storage.check()).rejects.toMatchObject({ code: 'storage.damaged' });
    await opened.storage.check();
  });

  it('a failure after the answer, while free space is looked for, concerns no later write', async () => {
    const { storage } = opened;
    held.before = failAt('PRAGMA freelist_count', 'io', Infinity);
    await storage.transaction(SHARD, (tx) => tx.delete(things, [['id', '=', 'kept']]));
    held.before = () => {};
    await storage.transaction(SHARD, insert('later'));
    expect(await storage.read(SHARD, ids)).toEqual(['later']);
  });

  it('a write that cannot be undone is refused, and so are all later ones; none waits for ever', async () => {
    const { storage } = opened;
    const stopped = { code: 'storage.failed', message: expect.stringContaining('refuses further writes') };
    for (const kind of ['full', 'busy'] as const) {
      held.before = (sql) => {
        if (!sql.startsWith('COMMIT')) return;
        held.before = failAt('ROLLBACK', 'io', Infinity);
        failAt('COMMIT', kind)(sql);
      };
      const works = [storage.transaction(SHARD, insert('a')), storage.transaction(SHARD, insert('b'))];
      for (const work of works) await expect(work).rejects.toMatchObject(stopped);
      await expect(storage.transaction(SHARD, insert('c'))).rejects.toMatchObject(stopped);
    }
    held.before = () => {};
    await storage.close();
    const next = await opened.reopen();
    expect(await next.transaction(SHARD, insert('d'))).toBe(2);
    expect(await next.read(SHARD, ids)).toEqual(['d', 'kept']);
  });

  it('a lock file that cannot be opened concerns those who claim alone, and only as long as that lasts', async () => {
    const { storage } = opened;
    const path = join(opened.directory, 'windrow.worker');
    mkdirSync(path);
    const [claimed, written] = await Promise.allSettled([
      storage.claim(SHARD, 'me', 1000),
      storage.transaction(SHARD, insert('beside it')),
    ]);
    expect(claimed).toMatchObject({ status: 'rejected', reason: { code: 'storage.failed' } });
    expect(written).toEqual({ status: 'fulfilled', value: 2 });
    rmSync(path, { recursive: true });
    expect(await storage.claim(SHARD, 'me', 1000)).toEqual({ shard: SHARD, owner: 'me', sequence: 1 });
  });

  it('claims of dead processes are ended once a group is committed, though the one before failed', async () => {
    const { storage } = opened;
    held.database!.exec(`UPDATE "windrow_shard" SET "owner" = 'dead', "leaseUntilMs" = 1e15`);
    held.before = failAt('COMMIT', 'busy');
    await expect(storage.claim(SHARD, 'me', 1000)).rejects.toMatchObject({ code: 'storage.locked' });
    expect(await storage.claim(SHARD, 'me', 1000)).toEqual({ shard: SHARD, owner: 'me', sequence: 1 });
  });

  it('readers that wait for their turn when the store is closed are still answered', async () => {
    const storage = await opened.reopen();
    // The second waits for the first, as it is not known yet whether another process has committed.
    const reading = [storage.read(SHARD, ids), storage.read(SHARD, ids)];
    const closing = storage.close();
    expect(await Promise.all(reading)).toEqual([['kept'], ['kept']]);
    await closing;
    await expect(storage.read(SHARD, ids)).rejects.toMatchObject({ code: 'storage.closed' });
  });

  it('a store at its maximum size is full: reads go on, and so do writes once there is room', async () => {
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

  it('work that waits for something else than its transaction is ended, so it blocks nobody for ever', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      // Reopened, so that its timer is one of these.
      const storage = await opened.reopen();
      const stuck = storage.transaction(SHARD, async (tx) => {
        await tx.insert(things, thing({ id: 'stuck' }));
        await storage.transaction(SHARD, insert('inner'));
      });
      const reader = storage.read(SHARD, () => new Promise(() => {}));
      const ended = [stuck, reader].map((work) => expect(work).rejects.toMatchObject({ code: 'storage.ended' }));
      let areEnded = false;
      void Promise.allSettled(ended).then(() => {
        areEnded = true;
      });
      while (!areEnded) {
        await new Promise<void>((resolve) => setImmediate(resolve));
        await vi.advanceTimersByTimeAsync(10_000);
      }
      await Promise.all(ended);
      expect(await storage.read(SHARD, ids)).toEqual(['inner', 'kept']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('work that takes long but makes progress is not ended', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const storage = await opened.reopen();
      const long = storage.transaction(SHARD, async (tx) => {
        for (let i = 0; i < 6; i++) {
          await tx.insert(things, thing({ id: `slow ${i}` }));
          await vi.advanceTimersByTimeAsync(6000);
        }
        return tx.count(things);
      });
      expect(await long).toBe(7);
    } finally {
      vi.useRealTimers();
    }
  });

  it('freed space is used again, and a large excess is given back while nobody writes', async () => {
    const { storage } = opened;
    const fileBytes = () =>
      Number(held.database!.all('PRAGMA page_count')[0]!.page_count) *
      Number(held.database!.all('PRAGMA page_size')[0]!.page_size);
    const fill = async (count: number) => {
      for (let i = 0; i < count; i++) await storage.transaction(SHARD, putBlob(i));
    };
    await fill(6);
    const fullBytes = fileBytes();
    for (let round = 0; round < 5; round++) {
      await storage.transaction(SHARD, (tx) => tx.delete(blobs, []));
      await fill(6);
    }
    expect(fileBytes()).toBeLessThanOrEqual(fullBytes + 1024 * 1024);
    await fill(40);
    const greatestBytes = fileBytes();
    await storage.transaction(SHARD, (tx) => tx.delete(blobs, [['series', '>=', 20]]));
    await expect.poll(fileBytes).toBeLessThan(0.7 * greatestBytes);
    expect(held.database!.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});

describe('reserved space', () => {
  it('that another process has given free is reserved again', async () => {
    const opened = await openTemporary({ tables: suiteTables, reserveBytes: 1024 * 1024 });
    onTestFinished(opened.dispose);
    const file = join(opened.directory, 'windrow.reserve');
    await opened.storage.transaction(SHARD, insert('a'));
    truncateSync(file);
    opened.advance(2000);
    await opened.storage.transaction(SHARD, insert('b'));
    expect(statSync(file).size).toBe(1024 * 1024);
  });
});

describe('a full disk', () => {
  const disk = smallDisk(48);
  let opened: OpenedStorage | undefined;
  afterEach(async () => {
    await opened?.dispose();
    disk?.remove();
  });

  it.skipIf(disk === undefined)(
    'refuses writes; reads, small writes and deletions go on; everything goes on once there is room',
    async () => {
      const directory = join(disk!.path, 'store');
      const options = { directory, tables: suiteTables, reserveBytes: 16 * 1024 * 1024 };
      opened = await openTemporary(options);
      const { storage } = opened;
      const { advance } = opened;
      const small = (id: string) => storage.transaction(SHARD, insert(id), { usesReserve: true });
      for (let i = 0; i < 8; i++) await storage.transaction(SHARD, putBlob(i));
      fillUp(join(disk!.path, 'ballast'));
      const filled = (async () => {
        for (let i = 8; i < 30; i++) await storage.transaction(SHARD, putBlob(i));
      })();
      await expect(filled).rejects.toBeInstanceOf(StorageFullError);
      const count = await storage.read(SHARD, (tx) => tx.count(blobs));
      for (let i = 0; i < 50; i++) {
        await small(`token ${i}`);
        await expect(storage.transaction(SHARD, insert('large'))).rejects.toBeInstanceOf(StorageFullError);
      }
      expect(await storage.read(SHARD, ids)).toHaveLength(50);
      // The next process goes on as this one did.
      const next = await opened.reopen();
      expect(await next.read(SHARD, (tx) => tx.count(blobs))).toBe(count);
      await next.transaction(SHARD, (tx) => tx.delete(blobs, [['series', '>', 1]]), { usesReserve: true });
      // Deleted space goes back to the disk, and then to those that wait.
      await expect
        .poll(() => {
          advance(2000);
          return next.transaction(SHARD, putBlob(100)).then(
            () => true,
            () => false,
          );
        })
        .toBe(true);
      expect(statSync(join(directory, 'windrow.reserve')).size).toBe(options.reserveBytes);
      expect(await next.read(SHARD, ids)).toHaveLength(50);
      rmSync(join(disk!.path, 'ballast'));
      await next.transaction(SHARD, putBlob(99));
      await next.close();
      expect(statSync(join(directory, 'windrow.db-wal')).size).toBe(0);
    },
  );
});
