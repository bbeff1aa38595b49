import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StorageError } from '../errors.js';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.js';

/** The right to use a data directory, which one process at a time has. */
export interface DirectoryLock {
  readonly isLost: boolean;
  /** @throws StorageError when the lock has passed to another process: this one was silent for too long. */
  assertHeld(): void;
  release(): void;
}

export interface LockOptions {
  /** Every so often the owner gives a sign of life, in ms. */
  readonly beatMs?: number;
  /** An owner that can not be seen from here, and gives no sign for so long, is dead. */
  readonly silenceMsMax?: number;
}

const FILE_NAME = 'windrow.lock';

// Two openings by one process differ too.
let openingCount = 0;

/**
 * Takes the lock of a directory. A process that died has let go of it: its number, its start and the start of the
 * machine tell. One in another container or on another machine, which can not be seen from here, is known by its
 * signs of life: the time of the file.
 */
export async function acquireLock(directory: string, options: LockOptions = {}): Promise<DirectoryLock> {
  const { beatMs = 5_000, silenceMsMax = 20_000 } = options;
  const path = join(directory, FILE_NAME);
  const own = ownIdentity();
  const content = `${JSON.stringify({ ...own, opening: openingCount++ })}\n`;
  // Another may take the lock, or let go of it, between two of the steps below: then they are gone through again.
  for (let attempt = 0; attempt < 10; attempt++) {
    if (create(path, content)) return new FileLock(path, content, beatMs);
    const found = readIfThere(path);
    if (found === undefined) continue;
    const holder = parse(found);
    const isHeld = (holder && isAlive(holder, own)) ?? (await isBeating(path, found, beatMs, silenceMsMax));
    if (isHeld) throw inUse(directory, path, holder);
    takeAway(path, found);
  }
  throw inUse(directory, path, undefined);
}

class FileLock implements DirectoryLock {
  readonly #path: string;
  readonly #content: string;
  readonly #beatMs: number;
  readonly #timer: NodeJS.Timeout;
  #lastBeatMs = performance.now();
  #isLost = false;

  constructor(path: string, content: string, beatMs: number) {
    this.#path = path;
    this.#content = content;
    this.#beatMs = beatMs;
    this.#timer = setInterval(() => this.#beat(), beatMs);
    this.#timer.unref();
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  assertHeld(): void {
    // After a long silence (a machine that slept, a debugger) it may be another's.
    if (performance.now() - this.#lastBeatMs > 2 * this.#beatMs) this.#beat();
    if (!this.#isLost) return;
    throw new StorageError(
      'storage.locked',
      `${this.#path}: the lock of the data directory was taken by another process while this one gave no sign of ` +
        'life; nothing more is written. Stop one of them and start this one again',
    );
  }

  release(): void {
    clearInterval(this.#timer);
    if (readIfThere(this.#path) === this.#content) rmSync(this.#path, { force: true });
  }

  #beat(): void {
    this.#isLost ||= readIfThere(this.#path) !== this.#content;
    if (!this.#isLost) touch(this.#path, this.#content);
    this.#lastBeatMs = performance.now();
  }
}

/** Makes the file with its content at once: nobody sees it half written. */
function create(path: string, content: string): boolean {
  const ownPath = `${path}.${process.pid}.${openingCount}`;
  try {
    writeFileSync(ownPath, content, { mode: 0o600 });
    linkSync(ownPath, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    // A file system without links.
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(codeOf(error))) throw error;
    return createWithoutLink(path, content);
  } finally {
    rmSync(ownPath, { force: true });
  }
  return readIfThere(path) === content;
}

function createWithoutLink(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a dead process's lock, and none that another has put in its place meanwhile. */
function takeAway(path: string, content: string): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (readIfThere(aside) !== content) create(path, readFileSync(aside, 'utf8'));
  rmSync(aside, { force: true });
}

/** Waits for a sign of life. The clock is that of the file system, which both processes share. */
async function isBeating(path: string, content: string, beatMs: number, silenceMsMax: number): Promise<boolean> {
  const firstMs = modifiedMs(path);
  for (;;) {
    if (readIfThere(path) !== content) return false;
    const lastMs = modifiedMs(path);
    if (lastMs === undefined) return false;
    if (lastMs !== firstMs) return true;
    if (fileSystemNowMs(path) - lastMs > silenceMsMax) return false;
    await pause(Math.min(beatMs, 1000));
  }
}

function fileSystemNowMs(path: string): number {
  const probe = `${path}.${process.pid}.now`;
  writeFileSync(probe, '\n', { mode: 0o600 });
  const nowMs = modifiedMs(probe) ?? Infinity;
  rmSync(probe, { force: true });
  return nowMs;
}

/** Writes the last byte as it is: so the time is that of the file system, and not of this machine. */
function touch(path: string, content: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, content.slice(-1), Buffer.byteLength(content) - 1);
  closeSync(file);
}

function modifiedMs(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(content: string): ProcessIdentity | undefined {
  try {
    // `as`: the file is written by this module; what else it may hold is no process that lives.
    const holder = JSON.parse(content) as ProcessIdentity | null;
    return typeof holder?.pid === 'number' ? holder : undefined;
  } catch {
    return undefined;
  }
}

function inUse(directory: string, path: string, holder: ProcessIdentity | undefined): StorageError {
  const who = holder === undefined ? 'another process' : `process ${holder.pid}`;
  return new StorageError(
    'storage.locked',
    `the data directory ${directory} is in use by ${who}: stop it, or use another directory; ` +
      `if no process uses it, delete ${path}`,
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
