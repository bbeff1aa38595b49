import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

/** What tells a process from every other, also from one that has its number later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in whatever form the system tells it; null where it does not. */
  readonly started: string | null;
  /** Which start of which machine, and in which container of it, the number counts in; null where that is not told. */
  readonly boot: string | null;
  readonly namespace: string | null;
}

export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    started: startOf(process.pid),
    boot: orNull(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: orNull(() => readlinkSync('/proc/self/ns/pid')),
  };
}

/** Whether a process lives; undefined when it can not be seen from here: on another machine, in another container. */
export function isAlive(other: ProcessIdentity, own: ProcessIdentity): boolean | undefined {
  if (other.boot !== own.boot || other.namespace !== own.namespace) return undefined;
  if (!hasProcess(other.pid)) return false;
  return other.started === null || other.started === startOf(other.pid);
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: there is one, of another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function startOf(pid: number): string | null {
  if (process.platform === 'linux') {
    // The 22nd field of proc(5); the second, the name, may hold blanks and brackets.
    return orNull(
      () =>
        readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) /s, '')
          .split(' ')[19] ?? null,
    );
  }
  if (process.platform === 'win32') return null;
  return orNull(() => execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim());
}

function orNull(read: () => string | null): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
