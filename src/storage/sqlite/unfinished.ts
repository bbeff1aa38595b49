import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StorageError } from '../errors.js';
import { systemCode } from '../system-code.js';
import { isWritten, LOG_SUFFIXES } from './in-use.js';

/** A file that this process is writing. */
interface Unfinished {
  isStopped: boolean;
  /** Resolves once nobody writes to it any more. */
  ended: Promise<unknown>;
}

const own = new Map<string, Unfinished>();

/**
 * Has a copy written beside the file whose name it gets once it is whole. Its own name is of this process and this
 * attempt, as others may be about the same file; what killed ones left is removed.
 *
 * @param write renames it when it is done; if it fails, nothing is left. Before each step it calls `check`, which
 * throws after `stopUnfinished`.
 */
export async function writeUnfinished<Result>(
  target: string,
  write: (unfinished: string, check: () => void) => Promise<Result>,
): Promise<Result> {
  await removeLeft(target);
  const path = `${target}.${process.pid}-${randomBytes(4).toString('hex')}.unfinished`;
  const one: Unfinished = { isStopped: false, ended: Promise.resolve() };
  const check = (): void => {
    if (one.isStopped) throw new StorageError('storage.failed', `${path}: it was stopped before it was whole`);
  };
  const work = async (): Promise<Result> => {
    try {
      closeSync(openSync(path, 'wx', 0o600));
      return await write(path, check);
    } catch (error) {
      remove(path);
      throw error;
    } finally {
      own.delete(path);
    }
  };
  own.set(path, one);
  const written = work();
  one.ended = written.catch(() => {});
  return written;
}

/** Stops and removes what this process is writing, as it ends now. */
export async function stopUnfinished(): Promise<void> {
  const writing = [...own.values()];
  for (const one of writing) one.isStopped = true;
  await Promise.all(writing.map(({ ended }) => ended));
}

async function removeLeft(target: string): Promise<void> {
  const lead = `${basename(target)}.`;
  for (const name of readdirSync(dirname(target))) {
    const [, pid] = (name.startsWith(lead) && /^(\d+)-[\da-f]+\.unfinished$/.exec(name.slice(lead.length))) || [];
    const path = join(dirname(target), name);
    if (pid !== undefined && !(await isAlive(path, Number(pid)))) remove(path);
  }
}

/** Whether the process that made the file may still write to it. */
async function isAlive(path: string, pid: number): Promise<boolean> {
  if (own.has(path) || (pid !== process.pid && isRunning(pid))) return true;
  // In another container it may have the number of this process, or one that nobody has here.
  return isWritten(path);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // That of another user may not be signalled.
    return systemCode(error) === 'EPERM';
  }
}

function remove(path: string): void {
  for (const suffix of ['', ...LOG_SUFFIXES]) rmSync(`${path}${suffix}`, { force: true });
}
