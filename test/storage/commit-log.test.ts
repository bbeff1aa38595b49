import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSqliteStorage, StorageFullError } from '../../src/storage/index.js';
import { SqliteFailure } from '../../src/storage/sqlite/database.js';
import { decodeFrame, encodeFrame } from '../../src/storage/sqlite/log-frame.js';
import type { Reader, Storage, Transaction } from '../../src/storage/storage.js';
import { thing } from './conformance/some-things.js';
import { blobs, suiteTables, things } from './conformance/tables.js';
import { failAt, hold, holdLog } from './faults.js';
import { availableAdapters, MEMORY, openTemporary, temporaryDirectory } from './open-temporary.js';

const SHARD = 3;
const clock = { nowMs: () => 0, monotonicMs: () => 0 };

const insert = (id: string) => (tx: Transaction) => tx.insert(things, thing({ id, order: tx.commit }));
const ids = async (tx: Reader) => (await tx.find(things)).map(({ id }) => id);
const state = (storage: Storage) =>
  storage.read(SHARD, async (tx) => {
    const found = await tx.find(blobs);
    // Compared byte by byte, large ones would take most of the time.
    const hashes = found.map(({ series, data }) => [series, createHash('sha256').update(data).digest('hex')]);
    return { lastCommit: tx.lastCommit, rows: await tx.find(things), hashes };
  });

const value = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.string({ unit: 'grapheme' }),
  fc.constant('\ufeffmarked'),
  fc.uint8Array({ maxLength: 300 }),
  fc.bigInt(),
  fc.constant(null),
);
const statement = fc.record({ sql: fc.constantFrom('INSERT 1', 'UPDATE "é"', ''), values: fc.array(value) });

describe('a frame of the commit log', () => {
  it('gives back its statements, and nothing where a byte of it is wrong, missing, or of another frame', () => {
    fc.assert(
      fc.property(fc.array(statement, { maxLength: 6 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (all, at, by) => {
        const number = { epoch: 7, sequence: 2 };
        const frame = encodeFrame(all, number);
        const bytes = new Uint8Array([1, 2, 3, ...frame, 4, 5]);
        expect(decodeFrame(bytes, 3, number)).toEqual({ statements: all, end: 3 + frame.length });
        expect(decodeFrame(bytes, 3, { epoch: 8, sequence: 2 })).toBeUndefined();
        expect(decodeFrame(bytes, 3, { epoch: 7, sequence: 3 })).toBeUndefined();
        expect(decodeFrame(frame.subarray(0, at % frame.length), 0, number)).toBeUndefined();
        frame[at % frame.length]! ^= by;
        expect(decodeFrame(frame, 0, number)).toBeUndefined();
      }),
    );
  });
});

/** What a work does: rows put, rows deleted, then perhaps a change of mind. */
interface Act {
  readonly ids: readonly number[];
  readonly isDeleting: boolean;
  readonly blobBytes: number;
  readonly isUndone: boolean;
}

type Step =
  | { readonly kind: 'group'; readonly acts: readonly Act[]; readonly faults: readonly Fault[] }
  | { readonly kind: 'crash' | 'reopen' };
/**
 * A call of the log, or how a statement begins, that fails once; one named twice fails twice. At COMMITTED a COMMIT
 * tells of a failure after it took effect.
 */
type Fault = (typeof FAULTS)[number];
const FAULTS = [
  'write',
  'sync',
  'synced',
  'truncate',
  'BEGIN',
  'COMMIT',
  'COMMITTED',
  'ROLLBACK',
  'SELECT "value"',
  'SELECT "commit"',
  'INSERT INTO "things"',
  'UPDATE "windrow_shard"',
] as const;

const act = fc.record<Act>({
  ids: fc.array(fc.nat(6), { maxLength: 4 }),
  isDeleting: fc.boolean(),
  // Some are too large for the log.
  blobBytes: fc.oneof(fc.constant(0), fc.nat(3000), fc.constant(530_000)),
  isUndone: fc.nat(4).map((n) => n === 0),
});
const faults = fc.oneof(
  fc.constant([]),
  fc.array(fc.constantFrom(...FAULTS), { minLength: 1, maxLength: 1 }),
  fc.array(fc.constantFrom(...FAULTS), { minLength: 2, maxLength: 5 }),
);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('group' as const),
      acts: fc.array(act, { minLength: 1, maxLength: 3 }),
      faults,
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom({ kind: 'crash' as const }, { kind: 'reopen' as const }) },
);

const work =
  ({ ids: keys, isDeleting, blobBytes, isUndone }: Act) =>
  async (tx: Transaction) => {
    for (const key of keys) {
      if (isDeleting) await tx.delete(things, [['id', '=', `${key}`]]);
      else await tx.put(things, thing({ id: `${key}`, order: tx.commit }));
    }
    if (blobBytes > 0) {
      await tx.put(blobs, {
        series: blobBytes % 3,
        startMs: 0,
        endMs: null,
        data: new Uint8Array(blobBytes).fill(tx.commit),
      });
    }
    if (isUndone) throw new Error('undone');
  };

describe.each(availableAdapters)('the commit log, by $name', ({ open }) => {
  it('a store is what one without it is, whatever is written, fails, is reopened, or dies', async () => {
    await fc.assert(fc.asyncProperty(fc.array<Step>(step, { minLength: 1, maxLength: 12 }), check), { numRuns: 100 });
  });

  async function check(steps: readonly Step[]): Promise<void> {
    const model = await openTemporary({ openDatabase: open, tables: suiteTables, isLogging: false }, MEMORY);
    const held = hold(open);
    const heldLog = holdLog();
    let { path: directory, remove } = temporaryDirectory(MEMORY);
    const openIn = () =>
      openSqliteStorage({ directory, clock, openDatabase: held.open, openLog: heldLog.open, tables: suiteTables });
    let storage = await openIn();
    try {
      for (const one of steps) {
        if (one.kind === 'group') await takeGroup(one);
        else if (one.kind === 'reopen') await storage.close().then(async () => (storage = await openIn()));
        else await crash();
        expect(await state(storage)).toEqual(await state(model.storage));
      }
    } finally {
      await storage.close();
      await model.dispose();
      remove();
    }

    async function takeGroup({ acts: all, faults: at }: Extract<Step, { kind: 'group' }>): Promise<void> {
      // Of one alone the number of the last commit tells whether it is there.
      const acts = at.includes('COMMITTED') ? all.slice(0, 1) : all;
      const fails = at.map((start) => failAt(start, 'io'));
      const fail = (call: string) => {
        for (const one of fails) one(call);
      };
      held.before = fail;
      heldLog.before = fail;
      held.after = (sql) => sql === 'COMMIT' && fail('COMMITTED');
      const ends = await Promise.allSettled(acts.map((one) => storage.transaction(SHARD, work(one))));
      held.before = () => {};
      held.after = () => {};
      heldLog.before = () => {};
      // What was told to have failed is not there, if SQLite has not committed it nevertheless; all else is.
      const isThere = at.includes('COMMITTED') && (await isAhead());
      const stored = acts.filter(({ isUndone }, i) => ends[i]!.status === 'fulfilled' || (isThere && !isUndone));
      if (at.length === 0) expect(stored).toEqual(acts.filter(({ isUndone }) => !isUndone));
      await Promise.all(stored.map((one) => model.storage.transaction(SHARD, work(one))));
    }

    async function isAhead(): Promise<boolean> {
      const lastCommit = (of: Storage) => of.read(SHARD, async (tx) => tx.lastCommit);
      return (await lastCommit(storage)) > (await lastCommit(model.storage));
    }

    /** The files as a process leaves them that dies now. */
    async function crash(): Promise<void> {
      const files = ['windrow.db', 'windrow.db-journal', 'windrow.log']
        .filter((name) => existsSync(join(directory, name)))
        .map((name) => [name, readFileSync(join(directory, name))] as const);
      await storage.close();
      remove();
      ({ path: directory, remove } = temporaryDirectory(MEMORY));
      for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes);
      storage = await openIn();
      expect(held.database!.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    }
  }

  it('a group waits for the disk once, and SQLite commits when there is enough, or at the end', async () => {
    const held = hold(open);
    const heldLog = holdLog();
    const opened = await openTemporary({ openDatabase: held.open, openLog: heldLog.open, tables: suiteTables }, MEMORY);
    let [syncs, commits] = [0, 0];
    heldLog.before = (call) => {
      if (call === 'sync') syncs++;
    };
    held.before = (sql) => {
      if (sql === 'COMMIT') commits++;
    };
    for (let i = 0; i < 40; i++) {
      const data = new Uint8Array(400_000).fill(i);
      await opened.storage.transaction(SHARD, (tx) => tx.put(blobs, { series: 1, startMs: 0, endMs: i, data }));
    }
    expect(syncs).toBeGreaterThan(35);
    expect(commits).toBe(40 - syncs);
    expect(commits).toBeGreaterThan(0);
    const before = commits;
    await opened.reopen();
    expect(commits).toBeGreaterThan(before);
    await opened.dispose();
  });

  it('what stands in the log of another store is none of a new one', async () => {
    const heldLog = holdLog();
    const first = await openTemporary({ openDatabase: open, openLog: heldLog.open, tables: suiteTables }, MEMORY);
    await first.storage.transaction(SHARD, insert('a'));
    const left = readFileSync(join(first.directory, 'windrow.log'));
    await first.dispose();
    const { path: directory, remove } = temporaryDirectory(MEMORY);
    writeFileSync(join(directory, 'windrow.log'), left);
    const storage = await openSqliteStorage({ directory, clock, openDatabase: open, tables: suiteTables });
    expect(await storage.read(SHARD, ids)).toEqual([]);
    await storage.close();
    expect(readFileSync(join(directory, 'windrow.log'))).toHaveLength(0);
    remove();
  });

  it.each([
    ['truncate', Infinity],
    ['COMMITTED', 1],
    ['COMMITTED', 2],
  ] as const)(
    'what SQLite has committed is not executed again, whatever fails after that (%s)',
    async (late, times) => {
      const held = hold(open);
      const heldLog = holdLog();
      const options = { openDatabase: held.open, openLog: heldLog.open, tables: suiteTables };
      const opened = await openTemporary(options, MEMORY);
      const { storage } = opened;
      const rename = (from: string, to: string) => (tx: Transaction) =>
        tx.update(things, [['name', '=', from]], { name: to });
      const names = async (tx: Reader) => (await tx.find(things)).map(({ name }) => name);
      await storage.transaction(SHARD, (tx) => tx.insert(things, thing({ id: 'a', name: '1' })));
      await storage.transaction(SHARD, (tx) => tx.insert(things, thing({ id: 'b', name: '2' })));
      await storage.transaction(SHARD, rename('2', '3'));
      await storage.transaction(SHARD, rename('1', '2'));
      const fail = failAt(late, 'io', times);
      const failWrite = failAt('write', 'io');
      heldLog.before = (call) => {
        fail(call);
        failWrite(call);
      };
      held.after = (sql) => sql === 'COMMIT' && fail('COMMITTED');
      await expect(storage.transaction(SHARD, insert('c'))).rejects.toMatchObject({ code: 'storage.failed' });
      expect(await storage.read(SHARD, names)).toEqual(['2', '3']);
      await storage.transaction(SHARD, rename('3', '4')).catch(() => {});
      expect((await storage.read(SHARD, names))[0]).toBe('2');
      [held.after, heldLog.before] = [() => {}, () => {}];
      await storage.transaction(SHARD, rename('3', '4'));
      expect(await (await opened.reopen()).read(SHARD, names)).toEqual(['2', '4']);
      await opened.dispose();
    },
  );

  it('a store of which nothing can be undone for now is not read, nor written, until it is', async () => {
    const held = hold(open);
    const heldLog = holdLog();
    const opened = await openTemporary({ openDatabase: held.open, openLog: heldLog.open, tables: suiteTables }, MEMORY);
    const { storage, directory } = opened;
    for (const id of ['a', 'b']) await storage.transaction(SHARD, insert(id));
    const [journal, aside] = [join(directory, 'windrow.db-journal'), join(directory, 'aside')];
    heldLog.before = (call) => {
      if (call !== 'sync') return;
      // Whether there is something to undo can not be told now.
      renameSync(journal, aside);
      mkdirSync(journal);
      throw new SqliteFailure('io', 'simulated');
    };
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(storage.transaction(SHARD, insert('c'))).rejects.toThrow();
      await expect(storage.read(SHARD, ids)).rejects.toMatchObject({ code: 'storage.failed' });
    }
    heldLog.before = () => {};
    rmdirSync(journal);
    renameSync(aside, journal);
    expect(await storage.read(SHARD, ids)).toEqual(['a', 'b']);
    await storage.transaction(SHARD, insert('d'));
    expect(await (await opened.reopen()).read(SHARD, ids)).toEqual(['a', 'b', 'd']);
    await opened.dispose();
  });

  it('a store that can not be committed at its close, or at its start, keeps all in the log', async () => {
    const held = hold(open);
    const opened = await openTemporary({ openDatabase: held.open, tables: suiteTables }, MEMORY);
    for (const id of ['a', 'b']) await opened.storage.transaction(SHARD, insert(id));
    held.before = failAt('COMMIT', 'full');
    const storage = await opened.reopen();
    expect(await storage.read(SHARD, ids)).toEqual(['a', 'b']);
    await storage.transaction(SHARD, insert('c'));
    await storage.transaction(SHARD, insert('d'));
    held.before = failAt('COMMIT', 'full', 2);
    await expect(opened.reopen()).rejects.toBeInstanceOf(StorageFullError);
    held.before = failAt('UPDATE "windrow_shard"', 'io');
    await expect(opened.reopen()).rejects.toMatchObject({ code: 'storage.failed' });
    expect(await (await opened.reopen()).read(SHARD, ids)).toEqual(['a', 'b', 'c', 'd']);
    await opened.dispose();
  });

  it('a copy of the database alone, put back beside a later log, is what it was', async () => {
    const opened = await openTemporary({ openDatabase: open, tables: suiteTables }, MEMORY);
    await opened.storage.transaction(SHARD, insert('a'));
    await opened.storage.close();
    const copy = readFileSync(join(opened.directory, 'windrow.db'));
    const storage = await opened.reopen();
    const data = new Uint8Array(600_000);
    await storage.transaction(SHARD, (tx) => tx.put(blobs, { series: 1, startMs: 0, endMs: null, data }));
    await storage.transaction(SHARD, insert('b'));
    await storage.close();
    const { path: directory, remove } = temporaryDirectory(MEMORY);
    writeFileSync(join(directory, 'windrow.db'), copy);
    writeFileSync(join(directory, 'windrow.log'), readFileSync(join(opened.directory, 'windrow.log')));
    const restored = await openSqliteStorage({ directory, clock, openDatabase: open, tables: suiteTables });
    expect(await restored.read(SHARD, async (tx) => [tx.lastCommit, await ids(tx)])).toEqual([1, ['a']]);
    await restored.close();
    await opened.dispose();
    remove();
  });

  it('a disk without room for log or commit refuses writes, and loses nothing that was answered', async () => {
    const held = hold(open);
    const heldLog = holdLog();
    const opened = await openTemporary({ openDatabase: held.open, openLog: heldLog.open, tables: suiteTables }, MEMORY);
    const { storage } = opened;
    for (const id of ['a', 'b', 'c']) await storage.transaction(SHARD, insert(id));
    const full = (sql: string): void => {
      if (sql === 'write' || sql === 'COMMIT') throw new SqliteFailure('full', 'simulated: full');
    };
    held.before = full;
    heldLog.before = full;
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(storage.transaction(SHARD, insert('d'))).rejects.toBeInstanceOf(StorageFullError);
      expect(await storage.read(SHARD, async (tx) => [tx.lastCommit, await ids(tx)])).toEqual([3, ['a', 'b', 'c']]);
    }
    held.before = () => {};
    heldLog.before = () => {};
    await storage.transaction(SHARD, insert('e'));
    expect(await (await opened.reopen()).read(SHARD, ids)).toEqual(['a', 'b', 'c', 'e']);
    await opened.dispose();
  });
});
