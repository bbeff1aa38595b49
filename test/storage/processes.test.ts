import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStorage, StaleClaimError } from '../../src/storage/index.js';
import type { Reader, Storage, Transaction } from '../../src/storage/storage.js';
import { thing } from './conformance/some-things.js';
import { suiteTables, things } from './conformance/tables.js';
import { openDatabase } from './faults.js';
import { temporaryDirectory } from './open-temporary.js';

const SHARD = 3;
const insert = (id: string) => async (tx: Transaction) => {
  await tx.insert(things, thing({ id }));
  return tx.commit;
};
const ids = async (tx: Reader) => (await tx.find(things)).map(({ id }) => id);

// Two stores over one file behave like two processes.
describe('several processes over one file', () => {
  let directory: string;
  let remove: () => void;
  let storages: Storage[];
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => 0 };
  const open = async () => {
    const storage = await openSqliteStorage({ directory, clock, tables: suiteTables, reserveBytes: 0 });
    storages.push(storage);
    return storage;
  };
  beforeEach(() => {
    ({ path: directory, remove } = temporaryDirectory());
    storages = [];
  });
  afterEach(async () => {
    for (const storage of storages) await storage.close();
    remove();
  });

  it('the others read at once what one has acknowledged, and number their commits after it', async () => {
    const [a, b] = [await open(), await open()];
    const heard: number[] = [];
    a.onCommit((_, commit) => heard.push(commit));
    for (let i = 0; i < 20; i++) {
      expect(await (i % 2 === 0 ? a : b).transaction(SHARD, insert(`${i}`))).toBe(i + 1);
      for (const storage of storages) {
        expect(await storage.lastCommit(SHARD)).toBe(i + 1);
        expect(await storage.read(SHARD, async (tx) => [tx.lastCommit, tx.durableCommit])).toEqual([i + 1, i + 1]);
        expect(await storage.read(SHARD, ids)).toHaveLength(i + 1);
      }
    }
    // Listeners also hear the commits of others, once each.
    expect(heard).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it('where a recent number will do, commits of the same process count at once and those of others soon', async () => {
    const [a, b] = [await open(), await open()];
    await a.transaction(SHARD, insert('first'));
    expect(await a.recentCommit(SHARD)).toBe(1);
    await a.transaction(SHARD, insert('second'));
    expect(await a.recentCommit(SHARD)).toBe(2);
    await b.transaction(SHARD, insert('third'));
    expect(await a.lastCommit(SHARD)).toBe(3);
    await expect.poll(() => a.recentCommit(SHARD), { timeout: 60_000 }).toBe(3);
    expect(await b.recentCommit(SHARD)).toBe(3);
  });

  it('commits of many writers in two processes are numbered without gaps, and none is lost', async () => {
    const [a, b] = [await open(), await open()];
    const works = Array.from({ length: 200 }, async (_, i) => {
      for (let turn = 0; turn < i % 7; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
      return (i % 2 === 0 ? a : b).transaction(SHARD, insert(`${i}`));
    });
    const commits = await Promise.all(works);
    expect(commits.sort((x, y) => x - y)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    expect(await b.read(SHARD, ids)).toHaveLength(200);
  });

  it('a lock held for a while is waited for, and readers go on; one held for ever is reported', async () => {
    const storage = await open();
    await storage.transaction(SHARD, insert('first'));
    const other = openDatabase(`${directory}/windrow.db`);
    other.exec('BEGIN IMMEDIATE');
    const waiting = storage.transaction(SHARD, insert('second'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await storage.read(SHARD, ids)).toEqual(['first']);
    other.exec('COMMIT');
    expect(await waiting).toBe(2);
    other.exec('BEGIN IMMEDIATE');
    await expect(storage.transaction(SHARD, insert('third'))).rejects.toMatchObject({ code: 'storage.locked' });
    other.exec('COMMIT');
    other.close();
    expect(await storage.transaction(SHARD, insert('third'))).toBe(3);
  });

  it('a live process keeps its claims until they expire; those of a dead one end at once', async () => {
    const [a, b] = [await open(), await open()];
    const claim = (await a.claim(SHARD, 'a', 1000))!;
    expect(await b.claim(SHARD, 'b', 1000)).toBeUndefined();
    nowMs += 1000;
    expect(await b.claim(SHARD, 'b', 1000)).toEqual({ shard: SHARD, owner: 'b', sequence: 2 });
    await expect(a.transaction(SHARD, insert('late'), { claim })).rejects.toBeInstanceOf(StaleClaimError);
    expect(await a.claim(SHARD, 'a', 1000)).toBeUndefined();
    // Its lock is released when it dies, but its claims are not given back.
    await a.close();
    storages.shift();
    const c = await open();
    expect(await c.claim(SHARD, 'c', 1000)).toEqual({ shard: SHARD, owner: 'c', sequence: 3 });
    await expect(
      b.transaction(SHARD, insert('late'), { claim: { shard: SHARD, owner: 'b', sequence: 2 } }),
    ).rejects.toBeInstanceOf(StaleClaimError);
  });

  it('a claim of before the clock was set back does not outlast its lease', async () => {
    const [a, b] = [await open(), await open()];
    nowMs += 3_600_000;
    await a.claim(SHARD, 'a', 1000);
    nowMs -= 3_600_000;
    expect(await b.claim(SHARD, 'b', 1000)).toEqual({ shard: SHARD, owner: 'b', sequence: 2 });
  });

  // The locks of a file are the process's: whoever opens and closes it anywhere in the process ends them.
  it.runIf(existsSync('/proc/locks'))('one that a thread of a process opens too is still locked by it', async () => {
    const locked = (name: string): boolean => {
      const of = statSync(join(directory, name)).ino;
      const lines = readFileSync('/proc/locks', 'latin1').split('\n');
      return lines.some((line) => line.includes(` ${process.pid} `) && line.includes(`:${of} `));
    };
    const a = await open();
    await a.claim(SHARD, 'a', 1000);
    expect([locked('windrow.db'), locked('windrow.worker')]).toEqual([true, true]);
    const b = await open();
    expect(await b.claim(SHARD, 'b', 1000)).toBeUndefined();
    expect([locked('windrow.db'), locked('windrow.worker')]).toEqual([true, true]);
  });

  it('overlapping readers see what others commit meanwhile', async () => {
    const [a, b] = [await open(), await open()];
    await a.transaction(SHARD, insert('first'));
    let end = () => {};
    const long = b.read(SHARD, async (tx) => {
      const before = await ids(tx);
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return [before, await ids(tx)];
    });
    await expect.poll(() => end.length).toBe(1);
    await a.transaction(SHARD, insert('second'));
    const later = b.read(SHARD, ids);
    end();
    expect(await later).toEqual(['first', 'second']);
    // The snapshot of a reader does not change.
    expect(await long).toEqual([['first'], ['first']]);
  });

  it('one without listeners has the numbers of each shard, whichever it reads, alone or beside others', async () => {
    const [writer, reader] = [await open(), await open()];
    const numbers = [0, 0, 0];
    const commit = async (shard: number) => {
      numbers[shard] = await writer.transaction(shard, insert(`${numbers[shard]}`));
    };
    const read = (shard: number) => reader.read(shard, async (tx) => [tx.lastCommit, tx.durableCommit]);
    for (const written of [0, 1, 1, 2, 0, 2, 2, 1]) {
      await commit(written);
      // They overlap: each waits for a statement.
      const both = [0, 1].map((shard) =>
        reader.read(shard, async (tx) => {
          const found = await tx.find(things);
          return [tx.lastCommit, found.length];
        }),
      );
      expect(await Promise.all(both)).toEqual([numbers[0], numbers[1]].map((number) => [number, number]));
      for (const shard of [2, 0, 1]) {
        expect(await read(shard)).toEqual([numbers[shard], numbers[shard]]);
        expect(await reader.lastCommit(shard)).toBe(numbers[shard]);
      }
      // Its own commits go on from those of the other.
      expect(await reader.transaction(written, insert(`own ${numbers[written]}`))).toBe(++numbers[written]!);
    }
    const heard: number[][] = [];
    reader.onCommit((shard, number) => heard.push([shard, number]));
    await commit(1);
    await read(2);
    expect(heard).toContainEqual([1, numbers[1]]);
  });

  it('two processes that open a new store at once create one', async () => {
    const opened = await Promise.all([open(), open(), open()]);
    for (const [i, storage] of opened.entries()) expect(await storage.transaction(SHARD, insert(`${i}`))).toBe(i + 1);
    await expect.poll(() => opened[0]!.read(SHARD, ids)).toHaveLength(3);
  });
});
