import { spawnSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backupStore, checkStore, openSqliteStorage, restoreStore } from '../../src/storage/index.js';
import { faultsOfContent } from '../../src/storage/sqlite/check.js';
import { loadSqlite } from '../../src/storage/sqlite/database.js';
import type { Storage } from '../../src/storage/storage.js';
import { itemCheckpoints } from '../../src/storage/tables/operations.js';
import { commandPath } from '../service/serving.js';
import { temporaryDirectory } from './open-temporary.js';

function mount(folder: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]).status === 0;
}

function canMount(): boolean {
  const { path, remove } = temporaryDirectory();
  const can = mount(path);
  if (can) spawnSync('umount', [path]);
  remove();
  return can;
}

const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => performance.now() };

describe('the file of a backup', () => {
  let folder: string;
  let remove: () => void;
  let storages: Storage[];
  const open = async (name: string) => {
    const directory = join(folder, name);
    const storage = await openSqliteStorage({ directory, clock, reserveBytes: 0 });
    storages.push(storage);
    return storage;
  };
  beforeEach(() => {
    ({ path: folder, remove } = temporaryDirectory());
    storages = [];
  });
  afterEach(async () => {
    for (const storage of storages) await storage.close();
    remove();
  });

  const namesIn = (name: string) => readdirSync(join(folder, name)).sort();

  it.each(['store', 'other'])('is never one of a store in use: %s', async (name) => {
    await open('store');
    await open('other');
    symlinkSync(join(folder, name), join(folder, 'link'));
    symlinkSync(join(folder, name, 'windrow.db'), join(folder, 'link.db'));
    linkSync(join(folder, name, 'windrow.db'), join(folder, 'hard.db'));
    const files = ['windrow.db', 'windrow.db-wal', 'windrow.db-shm', 'windrow.db-journal', 'windrow.worker'];
    const before = namesIn(name);
    for (const file of [...files.flatMap((one) => [join(name, one), join('link', one)]), 'link.db', 'hard.db']) {
      const target = join(folder, file);
      await expect(backupStore(join(folder, 'store'), target), file).rejects.toThrow(
        /it is the store itself|belongs to the store|a process has the store open|may be a store in use/,
      );
    }
    expect(namesIn(name)).toEqual(before);
    await storages[1]!.check();
  });

  it('is never one of the store that is backed up, even if no process has it open', async () => {
    await (await open('store')).close();
    const directory = join(folder, 'store');
    const before = readFileSync(join(directory, 'windrow.db'));
    for (const file of ['windrow.db', 'windrow.db-wal', 'windrow.reserve', 'windrow.worker-journal']) {
      await expect(backupStore(directory, join(directory, file)), file).rejects.toMatchObject({ code: 'arguments' });
    }
    expect(readFileSync(join(directory, 'windrow.db'))).toEqual(before);
  });

  it('is read in turns of the event loop, in each of which it can be stopped', async () => {
    const storage = await open('store');
    const row = { organisation: 'acme', itemId: 'one', positions: '[]', emittedMs: null, sampleCount: 0, byteCount: 0 };
    const rest = { lacksUntilMs: null, state: new Uint8Array(0), checksum: 0 };
    const rows = Array.from({ length: 200 }, (_, ordinal) => ({ ...row, ...rest, ordinal }));
    await storage.transaction(0, (tx) => tx.insertAll(itemCheckpoints, rows));
    await storage.close();
    const database = (await loadSqlite({ readOnly: true }))(join(folder, 'store', 'windrow.db'));
    let askedCount = 0;
    const askedInTurns: number[] = [];
    const timer = setInterval(() => askedInTurns.push(askedCount));
    const reading = faultsOfContent(database, () => {
      // Long enough for the timer to be due.
      for (const untilMs = performance.now() + 2; performance.now() < untilMs; );
      if (++askedCount === 6) throw new Error('stopped');
    });
    await expect(reading).rejects.toThrow('stopped');
    clearInterval(timer);
    database.close();
    expect(askedCount).toBe(6);
    expect(new Set(askedInTurns).size).toBeGreaterThan(3);
  });

  it('is never a device, a pipe or a folder', async () => {
    await (await open('store')).close();
    const pipe = join(folder, 'pipe');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    for (const file of ['/dev/null', pipe, folder]) {
      await expect(backupStore(join(folder, 'store'), file), file).rejects.toMatchObject({ code: 'arguments' });
    }
    expect([lstatSync('/dev/null').isCharacterDevice(), lstatSync(pipe).isFIFO()]).toEqual([true, true]);
  });

  it('takes the place of what a link points at', async () => {
    await (await open('store')).close();
    const [file, link] = [join(folder, 'monday.db'), join(folder, 'latest.db')];
    writeFileSync(file, 'an old one');
    symlinkSync(file, link);
    await backupStore(join(folder, 'store'), link);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    await restoreStore(file, join(folder, 'new'), false);
  });

  it('is blamed, and not the target, where it is damaged', async () => {
    await (await open('store')).close();
    const file = join(folder, 'monday.db');
    await backupStore(join(folder, 'store'), file);
    const bytes = readFileSync(file);
    // Without its second half, and without all but its first page.
    for (const length of [bytes.length >> 1, 4096]) {
      writeFileSync(file, bytes.subarray(0, length));
      await expect(restoreStore(file, join(folder, 'new'), false)).rejects.toMatchObject({
        code: 'storage.damaged',
        message: expect.stringMatching(/^\S+monday\.db: (this file|it) is damaged/),
      });
    }
  });

  const unfinishedIn = (name: string) => namesIn(name).filter((file) => file.endsWith('.unfinished'));
  /** Resolves once a copy is being written; sooner than `expect.poll` would notice. */
  const begun = async (name: string) => {
    while (!existsSync(join(folder, name)) || unfinishedIn(name).length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it.each([false, true])(
    'takes the place of no store that was made or opened meanwhile: --force %s',
    async (isForced) => {
      await (await open('store')).close();
      const file = join(folder, 'monday.db');
      await backupStore(join(folder, 'store'), file);
      const restoring = restoreStore(file, join(folder, 'new'), isForced);
      const refused = expect(restoring).rejects.toMatchObject({ code: isForced ? 'storage.locked' : 'arguments' });
      await begun('new');
      const storage = await open('new');
      await storage.transaction(1, async () => {});
      const { ino } = lstatSync(join(folder, 'new', 'windrow.db'));
      await refused;
      expect(lstatSync(join(folder, 'new', 'windrow.db')).ino).toBe(ino);
      expect(unfinishedIn('new')).toEqual([]);
    },
  );

  it('may be written by several at once: each copy is whole, and takes the name', async () => {
    await (await open('store')).close();
    const file = join(folder, 'monday.db');
    await Promise.all([1, 2, 3].map(() => backupStore(join(folder, 'store'), file)));
    expect(readdirSync(folder).sort()).toEqual(['monday.db', 'store']);
    await Promise.all([1, 2, 3].map(() => restoreStore(file, join(folder, 'new'), true)));
    expect((await checkStore(join(folder, 'new'))).faults).toEqual([]);
    expect(namesIn('new')).toEqual(['windrow.db']);
  });

  it('does not delete a file that SQLite would take for a part of it, unless asked to', async () => {
    await (await open('store')).close();
    const file = join(folder, 'monday.db');
    writeFileSync(`${file}-wal`, 'of another program');
    await expect(backupStore(join(folder, 'store'), file, false)).rejects.toMatchObject({
      code: 'arguments',
      message: expect.stringContaining(`${file}-wal: SQLite would take it for a part of the backup; move it away`),
    });
    expect(readFileSync(`${file}-wal`, 'utf8')).toBe('of another program');
    await backupStore(join(folder, 'store'), file, true);
    expect(readdirSync(folder).sort()).toEqual(['monday.db', 'store']);
  });

  it('is not replaced unless asked for, even if it was made meanwhile', async () => {
    await (await open('store')).close();
    const file = join(folder, 'monday.db');
    const making = backupStore(join(folder, 'store'), file, false);
    const refused = expect(making).rejects.toMatchObject({
      code: 'arguments',
      message: `${file}: it exists already; give another name, or --force to replace it`,
    });
    while (!readdirSync(folder).some((name) => name.endsWith('.unfinished'))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    writeFileSync(file, 'of another program');
    await refused;
    expect(readFileSync(file, 'utf8')).toBe('of another program');
    expect(readdirSync(folder).sort()).toEqual(['monday.db', 'store']);
  });

  it('removes what killed processes left of it, and nothing of those that run', async () => {
    await (await open('store')).close();
    const file = join(folder, 'monday.db');
    const dead = spawnSync('true').pid;
    const left = (name: string) => join(folder, `monday.db.${name}.unfinished`);
    // The second process of a container has the number of the first.
    for (const name of [`${dead}-00ff`, `${process.pid}-00ff`, `${process.ppid}-00ff`]) writeFileSync(left(name), '');
    writeFileSync(`${left(`${dead}-00ff`)}-journal`, '');
    const writing = (await loadSqlite())(left(`${dead}-00aa`));
    writing.exec('CREATE TABLE "half" ("a"); BEGIN IMMEDIATE');
    await backupStore(join(folder, 'store'), file);
    const kept = [`${dead}-00aa`, `${process.ppid}-00ff`].map(left);
    expect(namesIn('.')).toEqual(['monday.db', 'store', ...kept.map((name) => basename(name))].sort());
    writing.exec('ROLLBACK');
    writing.close();
    await backupStore(join(folder, 'store'), file);
    expect(namesIn('.')).toEqual(['monday.db', basename(left(`${process.ppid}-00ff`)), 'store']);
  });

  describe('of what is no store of this version', () => {
    const changed = async (...statements: string[]) => {
      await (await open('store')).close();
      const database = (await loadSqlite())(join(folder, 'store', 'windrow.db'));
      for (const statement of statements) database.exec(statement);
      database.close();
    };
    const isRefused = async (code: string, text: string) => {
      await expect(backupStore(join(folder, 'store'), join(folder, 'monday.db'))).rejects.toMatchObject({
        code,
        message: `${join(folder, 'store', 'windrow.db')}: ${text}`,
      });
      expect(readdirSync(folder)).toEqual(['store']);
    };

    it('is not made of a newer one', async () => {
      await changed('PRAGMA user_version = 99');
      const known = /^\S+: the store has version 99, but this windrow knows only versions up to \d+; use the windrow/;
      const copying = backupStore(join(folder, 'store'), join(folder, 'monday.db'));
      await expect(copying).rejects.toMatchObject({ code: 'storage.newer', message: expect.stringMatching(known) });
      await expect(copying).rejects.toThrow(join(folder, 'store', 'windrow.db:'));
    });

    it('is not made of the file of another program', async () => {
      await changed('PRAGMA application_id = 1', 'DROP TABLE "windrow_meta"');
      await isRefused('storage.damaged', 'this SQLite file is not a windrow store; use another directory');
    });

    it('is not made of an empty one', async () => {
      mkdirSync(join(folder, 'store'));
      writeFileSync(join(folder, 'store', 'windrow.db'), '');
      await isRefused('storage.damaged', 'this file is empty, not a store or a backup of one; restore a backup');
    });

    it('is not made of a damaged one, which is blamed', async () => {
      await changed();
      const path = join(folder, 'store', 'windrow.db');
      const bytes = readFileSync(path);
      // The number of free pages.
      bytes.writeUInt32BE(1, 36);
      writeFileSync(path, bytes);
      expect((await checkStore(join(folder, 'store'))).faults).toEqual([
        expect.stringMatching(/^windrow\.db: Freelist: size is/),
      ]);
      await expect(backupStore(join(folder, 'store'), join(folder, 'monday.db'))).rejects.toMatchObject({
        code: 'storage.damaged',
        message: expect.stringMatching(
          /^\S+store.windrow\.db: it is damaged \(Freelist: .+\); run `windrow check`, and restore/,
        ),
      });
      expect(readdirSync(folder)).toEqual(['store']);
    });
  });

  it.skipIf(process.platform !== 'linux')('is refused, and not waited for, by a folder that takes none', async () => {
    await (await open('store')).close();
    const file = join(folder, 'monday.db');
    await backupStore(join(folder, 'store'), file);
    // Node's own `mkdir` of several folders never returns there.
    await expect(restoreStore(file, '/proc/windrow/data', false)).rejects.toThrow('it does not accept files');
  });

  // A disk of 64 KiB, where this user may mount one.
  it.skipIf(!canMount())('says that the disk is full, and leaves nothing behind', async () => {
    await (await open('store')).close();
    const file = join(folder, 'monday.db');
    await backupStore(join(folder, 'store'), file);
    const small = join(folder, 'small');
    mkdirSync(small);
    expect(mount(small)).toBe(true);
    try {
      for (const work of [
        () => backupStore(join(folder, 'store'), join(small, 'monday.db')),
        () => restoreStore(file, small, false),
        // Nor the folders that it made.
        () => restoreStore(file, join(small, 'new', 'data'), false),
      ]) {
        await expect(work()).rejects.toMatchObject({
          code: 'file.full',
          message: expect.stringMatching(/^\S+small\S*: the disk is full: free some space/),
        });
        expect(readdirSync(small)).toEqual([]);
      }
    } finally {
      spawnSync('umount', [small]);
    }
  });

  it.skipIf(!canMount())('says that a file system is read-only', async () => {
    await (await open('store')).close();
    const file = join(folder, 'monday.db');
    await backupStore(join(folder, 'store'), file);
    const fixed = join(folder, 'fixed');
    mkdirSync(fixed);
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', fixed]).status).toBe(0);
    try {
      const told = (words: readonly string[]) => {
        const { status, stderr } = spawnSync(process.execPath, [commandPath, ...words], { encoding: 'utf8' });
        return { status, stderr };
      };
      const mend = 'mount it for writing, or';
      expect(told(['backup', join(folder, 'store'), '--to', join(fixed, 'b.db')])).toEqual({
        status: 1,
        stderr: `windrow: ${join(fixed, 'b.db')}: its file system is read-only (EROFS); ${mend} write elsewhere\n`,
      });
      const problem = `cannot create files in ${fixed} (EROFS): its file system is read-only`;
      expect(told(['restore', file, '--to', fixed])).toEqual({
        status: 1,
        stderr: `windrow: the data directory ${fixed}: ${problem}; ${mend} use another folder\n`,
      });
    } finally {
      spawnSync('umount', [fixed]);
    }
  });

  it('may be anything else, and is not mixed with the log of what it replaces', async () => {
    await open('store');
    const target = join(folder, 'windrow.db');
    for (const name of ['windrow.db', 'windrow.db-wal', 'windrow.db-shm']) writeFileSync(join(folder, name), 'a text');
    await backupStore(join(folder, 'store'), target);
    expect(readdirSync(folder).sort()).toEqual(['store', 'windrow.db']);
    expect((await checkStore(folder)).faults).toEqual([]);
    mkdirSync(join(folder, 'store', 'backups'));
    await backupStore(join(folder, 'store'), join(folder, 'store', 'backups', 'windrow.db'));
    await backupStore(join(folder, 'store'), join(folder, 'store', 'monday.db'));
  });
});
