import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStorage } from '../../src/storage/index.js';
import { acquireLock } from '../../src/storage/sqlite/lock.js';
import { ownIdentity, type ProcessIdentity } from '../../src/storage/sqlite/process-identity.js';
import { thing } from './conformance/some-things.js';
import { suiteTables, things } from './conformance/tables.js';
import { availableAdapters, temporaryDirectory } from './open-temporary.js';

const clock = { nowMs: () => 0, monotonicMs: () => 0 };
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

let directory: string;
let path: string;
let remove: () => void;
beforeEach(() => {
  ({ path: directory, remove } = temporaryDirectory());
  path = join(directory, 'windrow.lock');
});
afterEach(() => remove());

/** The number of a process that lived and does no more. */
function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '0']).pid;
}

/** Leaves the lock of another process. */
function leaveLock(holder: Partial<ProcessIdentity>, ageMs = 0): void {
  writeFileSync(path, JSON.stringify({ ...ownIdentity(), ...holder }));
  const changedS = (Date.now() - ageMs) / 1000;
  utimesSync(path, changedS, changedS);
}

/** Gives signs of life in place of another process. */
function beat(): () => void {
  const timer = setInterval(() => writeFileSync(path, readFileSync(path)), 20);
  return () => clearInterval(timer);
}

const OTHER_CONTAINER = { namespace: 'pid:[1]', pid: 1 };

describe('the lock of a data directory', () => {
  it('is one process’s: the next is refused, told which, where, and how to mend it', async () => {
    const lock = await acquireLock(directory);
    const refused = {
      code: 'storage.locked',
      message:
        `the data directory ${directory} is in use by process ${process.pid}: stop it, or use another directory; ` +
        `if no process uses it, delete ${path}`,
    };
    await expect(acquireLock(directory)).rejects.toMatchObject(refused);
    await expect(openSqliteStorage({ directory, clock })).rejects.toMatchObject(refused);
    lock.release();
    (await acquireLock(directory)).release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('of many that come at once one takes it', async () => {
    leaveLock({ pid: deadPid() });
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => acquireLock(directory)));
    const taken = results.filter((result) => result.status === 'fulfilled');
    expect(taken).toHaveLength(1);
    for (const { value } of taken) value.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('of a dead process is cleared', async () => {
    leaveLock({ pid: deadPid() });
    (await acquireLock(directory)).release();
  });

  it.runIf(ownIdentity().started !== null)(
    'of a dead process is cleared, though another has its number now',
    async () => {
      leaveLock({ pid: process.ppid, started: 'long ago' });
      (await acquireLock(directory)).release();
      leaveLock({ started: 'long ago' });
      (await acquireLock(directory)).release();
    },
  );

  it('from before the machine started is cleared', async () => {
    leaveLock({ boot: 'an earlier one' }, 60_000);
    (await acquireLock(directory)).release();
  });

  it('of another container that is silent is waited for, then cleared', async () => {
    leaveLock(OTHER_CONTAINER);
    const startMs = performance.now();
    (await acquireLock(directory, { beatMs: 20, silenceMsMax: 300 })).release();
    expect(performance.now() - startMs).toBeGreaterThan(100);
  });

  it('of another container that gives signs of life is refused', async () => {
    leaveLock(OTHER_CONTAINER);
    const stop = beat();
    try {
      const acquired = acquireLock(directory, { beatMs: 30, silenceMsMax: 10_000 });
      await expect(acquired).rejects.toMatchObject({
        code: 'storage.locked',
        message: expect.stringContaining('process 1'),
      });
    } finally {
      stop();
    }
  });

  it('gives signs of life itself', async () => {
    const lock = await acquireLock(directory, { beatMs: 20 });
    utimesSync(path, 1, 1);
    const content = readFileSync(path, 'utf8');
    await expect.poll(() => Date.now() - statSync(path).mtimeMs).toBeLessThan(60_000);
    expect(readFileSync(path, 'utf8')).toBe(content);
    lock.release();
  });

  it('that says nothing readable is cleared once it is old', async () => {
    writeFileSync(path, '');
    utimesSync(path, 1, 1);
    (await acquireLock(directory)).release();
  });

  it('is let go when opening fails', async () => {
    writeFileSync(join(directory, 'windrow.db'), 'no database, but text that is long enough to be one'.repeat(100));
    await expect(openSqliteStorage({ directory, clock })).rejects.toMatchObject({ code: 'storage.damaged' });
    expect(existsSync(path)).toBe(false);
  });
});

describe.each(availableAdapters)('a store by $name', ({ open }) => {
  const options = () => ({ directory, clock, openDatabase: open, tables: suiteTables, lock: { beatMs: 20 } });

  it('does nothing more once another process has taken its lock, and leaves the file alone', async () => {
    const storage = await openSqliteStorage(options());
    leaveLock(OTHER_CONTAINER);
    await pause(60);
    const refused = { code: 'storage.locked', message: expect.stringContaining('taken by another process') };
    await expect(storage.transaction(0, async () => 0)).rejects.toMatchObject(refused);
    await expect(storage.read(0, async () => 0)).rejects.toMatchObject(refused);
    const files = readdirSync(directory);
    await storage.close();
    expect(readdirSync(directory)).toEqual(files);
  });

  it('does not write at its close either, though it was silent so long that it does not know yet', async () => {
    const storage = await openSqliteStorage(options());
    for (const id of ['a', 'b']) await storage.transaction(0, (tx) => tx.insert(things, thing({ id })));
    const [database, log] = ['windrow.db', 'windrow.log'].map((name) => join(directory, name));
    const before = [readFileSync(database!), readFileSync(log!)];
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
    leaveLock(OTHER_CONTAINER);
    await storage.close();
    expect([readFileSync(database!), readFileSync(log!)]).toEqual(before);
  });

  it('opens where the folder lock of a dead process was left', async () => {
    mkdirSync(join(directory, 'windrow.db.lock'));
    leaveLock({ pid: deadPid() });
    const storage = await openSqliteStorage(options());
    await storage.check();
    await storage.close();
    expect(readdirSync(directory)).not.toContain('windrow.lock');
  });
});
