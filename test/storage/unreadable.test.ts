// The files of a store on a disk that cannot read them: SQLite calls them damaged.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { commandPath, temporaryFolder } from '../service/serving.js';
import { isTraceable } from './crash/traced-disk.js';

describe.runIf(isTraceable)('a file that the disk cannot read', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = temporaryFolder();
    path = join(folder, 'data', 'windrow.db');
    const { status } = spawnSync(process.execPath, [
      ...[commandPath, 'client', 'add', 'gateway', '--org', 'acme', '--scope', 'core_read'],
      ...['--data-dir', join(folder, 'data')],
    ]);
    expect(status).toBe(0);
    copyFileSync(path, join(folder, 'backup.db'));
  });

  /** Runs the command where reads of a file fail from the given one on. */
  const withFailingReads = (file: string, from: number, ...words: string[]) => {
    const failing = ['-e', 'trace=pread64', '-P', file, '-e', `inject=pread64:error=EIO:when=${from}+`];
    const command = [process.execPath, commandPath, ...words];
    const options = { encoding: 'utf8', cwd: folder } as const;
    return spawnSync('strace', ['-f', '-qq', '-o', '/dev/null', ...failing, ...command], options);
  };
  const told = (file: string, mend: string) => ({
    status: 1,
    stdout: '',
    stderr: `windrow: ${file}: the disk cannot read it (EIO); check the disk and the system log${mend}\n`,
  });
  const elsewhere = ', and move the store to another disk, or restore a backup there';

  it.each([
    ['check data', 5],
    ['check data', 30],
    ['check data --json', 30],
    ['client list --data-dir data', 5],
    ['serve --data-dir data --port 0 --log-level silent', 5],
  ])('is told as such, not as damaged, by `%s`: from read %i on', (words, from) => {
    // The service works elsewhere than where it was started.
    const file = words.startsWith('serve') ? path : 'data/windrow.db';
    expect(withFailingReads(path, from, ...words.split(' '))).toMatchObject(told(file, elsewhere));
  });

  it('is told as such by a backup of it, which leaves nothing behind', () => {
    expect(withFailingReads(path, 5, 'backup', 'data', '--to', 'copy.db')).toMatchObject(
      told('data/windrow.db', elsewhere),
    );
    expect(existsSync(join(folder, 'copy.db'))).toBe(false);
  });

  // strace counts the reads of each thread, and the copy is made in one of its own.
  it.each([1, 3, 5])('is told as such by a restore from it: from read %i on', (from) => {
    const restored = withFailingReads(join(folder, 'backup.db'), from, 'restore', 'backup.db', '--to', 'new');
    expect(restored).toMatchObject(told('backup.db', ', or restore another backup'));
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });
});
