import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { temporaryDirectory } from './open-temporary.js';

export interface SmallDisk {
  readonly path: string;
  remove(): void;
}

/** A file system in memory of some megabytes; undefined unless root asks. */
export function smallDisk(megabytes: number): SmallDisk | undefined {
  return mounted(() => ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs']);
}

/** A btrfs in a file; undefined unless root asks, on a system that has it. */
export function btrfsDisk(megabytes: number): SmallDisk | undefined {
  return mounted((image) => {
    writeFileSync(image, '');
    truncateSync(image, megabytes * 1024 * 1024);
    execFileSync('mkfs.btrfs', ['-q', image], { stdio: 'ignore' });
    return ['-o', 'loop', image];
  });
}

function mounted(words: (image: string) => string[]): SmallDisk | undefined {
  const { path, remove } = temporaryDirectory();
  const image = `${path}.image`;
  const clear = (): void => {
    remove();
    rmSync(image, { force: true });
  };
  try {
    execFileSync('mount', [...words(image), path], { stdio: 'ignore' });
  } catch {
    clear();
    return undefined;
  }
  return {
    path,
    remove: () => {
      // Lazily: the file of a closed store stays open until its statements are garbage-collected.
      execFileSync('umount', ['-l', path]);
      clear();
    },
  };
}

/** Writes a file until the disk is full, to the last page. */
export function fillUp(path: string): void {
  for (const size of [1024 * 1024, 4096]) {
    const file = openSync(path, 'a');
    try {
      for (;;) writeSync(file, new Uint8Array(size));
    } catch {
      // The disk is full.
    } finally {
      closeSync(file);
    }
  }
}
