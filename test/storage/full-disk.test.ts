import { execFileSync, spawn } from 'node:child_process';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { prepareDataDirectory } from '../../src/storage/data-directory.js';
import { StorageFullError } from '../../src/storage/index.js';
import { thing } from './conformance/some-things.js';
import { suiteTables, things } from './conformance/tables.js';
import { buildPrograms } from './crash/programs.js';
import { openTemporary } from './open-temporary.js';
import { btrfsDisk, fillUp, type SmallDisk, smallDisk } from './small-disk.js';

const MEGABYTE = 1024 * 1024;

describe('a store on a full disk', () => {
  const disk = smallDisk(24);
  afterEach(() => disk?.remove());

  it.skipIf(disk === undefined)('is opened in the space that is reserved', async () => {
    const directory = join(disk!.path, 'store');
    const options = { directory, tables: suiteTables, reserveBytes: 4 * MEGABYTE };
    prepareDataDirectory(directory);
    const before = await openTemporary(options);
    await before.storage.transaction(1, (tx) => tx.insert(things, thing({ id: 'kept' })));
    await before.dispose();
    // As after a stop that deleted the log.
    for (const suffix of ['-wal', '-shm']) rmSync(join(directory, `windrow.db${suffix}`), { force: true });
    fillUp(join(disk!.path, 'ballast'));
    expect(statSync(join(directory, 'windrow.reserve')).size).toBe(options.reserveBytes);

    prepareDataDirectory(directory);
    const { storage, dispose } = await openTemporary(options);
    const insert = (id: string, usesReserve: boolean) =>
      storage.transaction(1, (tx) => tx.insert(things, thing({ id })), { usesReserve });
    await expect(insert('large', false)).rejects.toBeInstanceOf(StorageFullError);
    await insert('small', true);
    expect(await storage.read(1, async (tx) => (await tx.find(things)).map(({ id }) => id))).toEqual(['kept', 'small']);
    await dispose();

    // Without the reserve, nothing is left to open it in.
    rmSync(join(directory, 'windrow.reserve'));
    fillUp(join(disk!.path, 'ballast'));
    const refusal = `cannot create files in ${directory} (ENOSPC): free some space on the disk, or use another folder`;
    expect(() => prepareDataDirectory(directory)).toThrow(refusal);
    // A new folder is not left behind.
    expect(() => prepareDataDirectory(join(disk!.path, 'new', 'store'))).toThrow('(ENOSPC)');
    expect(existsSync(join(disk!.path, 'new'))).toBe(false);
    // The index is there if the store was not closed, and needs no more room.
    writeFileSync(join(directory, 'windrow.db-shm'), '');
    prepareDataDirectory(directory);
  });
});

describe('a full btrfs', () => {
  let disk: SmallDisk | undefined;
  afterEach(() => disk?.remove());
  // Older kernels were not tried.
  const [major = 0, minor = 0] = release().split('.').map(Number);
  const canMount = (() => {
    const tried = btrfsDisk(128);
    tried?.remove();
    return tried !== undefined && (major > 6 || (major === 6 && minor >= 18));
  })();

  it.skipIf(!canMount)('does not end a process that has a store open', async () => {
    const programs = await buildPrograms('endure');
    disk = btrfsDisk(128);
    const directory = join(disk!.path, 'store');
    const child = spawn(process.execPath, [programs.pathOf('endure'), directory], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const errors: string[] = [];
    child.stderr.on('data', (chunk) => errors.push(String(chunk)));
    const ended = new Promise<string | null>((done) => child.on('close', (_, signal) => done(signal)));
    const ballast = join(disk!.path, 'ballast');
    let refused = 0;
    let writtenAfter = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      // `as`: what the program prints.
      const { written, read } = JSON.parse(line) as { written: string; read: number };
      if (written === 'written') {
        if (refused < 100 && read >= 20) fillUp(ballast);
        // What it has printed until then is still read.
        if (refused >= 100 && ++writtenAfter === 20) child.kill('SIGKILL');
        continue;
      }
      expect(written).toBe('StorageFullError');
      refused++;
      // Pages that are on the disk are written to anew.
      if (refused % 10 === 0) execFileSync('sync', ['-f', disk!.path]);
      if (refused < 100) fillUp(ballast);
      else rmSync(ballast, { force: true });
    }
    expect(await ended, errors.join('')).toBe('SIGKILL');
    expect([refused >= 100, writtenAfter >= 20]).toEqual([true, true]);
    programs.remove();
  });

  it.skipIf(!canMount)('with a quota that is used up is named so', () => {
    disk = btrfsDisk(128);
    execFileSync('btrfs', ['quota', 'enable', disk!.path], { stdio: 'ignore' });
    execFileSync('btrfs', ['qgroup', 'limit', '1m', disk!.path], { stdio: 'ignore' });
    fillUp(join(disk!.path, 'ballast'));
    const refusal = `cannot create files in ${disk!.path} (EDQUOT): the quota of this user is used up; free some space`;
    expect(() => prepareDataDirectory(join(disk!.path, 'store'))).toThrow(refusal);
  });
});
