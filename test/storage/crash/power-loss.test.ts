import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStorage } from '../../../src/storage/index.js';
import type { Storage } from '../../../src/storage/storage.js';
import { thing } from '../conformance/some-things.js';
import { suiteTables, things } from '../conformance/tables.js';
import { hold } from '../faults.js';
import { temporaryDirectory } from '../open-temporary.js';
import { buildPrograms } from './programs.js';
import { contents, SHARD, STEP_COUNT } from './steps.js';
import { isTraceable, type Kept, readTrace, stateOf } from './traced-disk.js';

const clock = { nowMs: () => 0, monotonicMs: () => 0 };
const open = (directory: string, held = hold()) =>
  openSqliteStorage({ directory, clock, openDatabase: held.open, tables: suiteTables, reserveBytes: 0 });

interface Said {
  readonly kind: 'answered' | 'refused';
  readonly message?: string;
  /** What the store held then. */
  readonly contents: string;
}
// `as`: a line of steps.ts.
const readSaid = (line: string) => JSON.parse(line) as Said;

async function openFiles(files: ReadonlyMap<string, Buffer>, read: (storage: Storage) => Promise<void>) {
  const { path: directory, remove } = temporaryDirectory();
  for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes);
  const held = hold();
  const storage = await open(directory, held);
  try {
    expect(held.database!.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    await read(storage);
  } finally {
    await storage.close();
    remove();
  }
}

describe.runIf(isTraceable)('the disk under the store', () => {
  let programs: Awaited<ReturnType<typeof buildPrograms>>;
  let directory: string;
  let remove: () => void;
  beforeAll(async () => {
    programs = await buildPrograms('steps');
  });
  afterAll(() => programs.remove());

  async function makeStore(): Promise<void> {
    ({ path: directory, remove } = temporaryDirectory());
    const storage = await open(directory);
    await storage.transaction(SHARD, async (tx) => {
      for (let i = 0; i < 200; i++) await tx.insert(things, thing({ id: `thing ${i}`, name: 'before'.repeat(40) }));
    });
    await storage.close();
  }

  /** Runs the steps under strace; what they said, and the trace. */
  function run(...options: readonly string[]): { readonly said: readonly Said[]; readonly trace: string } {
    const trace = join(directory, 'trace');
    const words = ['-f', '-y', ...options, '-o', trace, process.execPath, programs.pathOf('steps'), directory, 'run'];
    const { stdout, stderr } = spawnSync('strace', words, { encoding: 'utf8', maxBuffer: 1e9 });
    expect(stdout, stderr).not.toBe('');
    return { said: stdout.trim().split('\n').map(readSaid), trace };
  }

  it('whenever the power fails, commits are there up to the last that was answered, or the next', async () => {
    await makeStore();
    const names = ['windrow.db', 'windrow.db-wal'];
    const before = new Map(
      names.map((name) => {
        const path = join(directory, name);
        return [name, existsSync(path) ? readFileSync(path) : Buffer.alloc(0)];
      }),
    );
    const traced = 'trace=pwrite64,ftruncate,fdatasync,fsync,write';
    const { trace } = run('-xx', '-s', '100000', '-e', traced);
    const operations = readTrace(trace).filter(({ kind, file }) => kind === 'mark' || names.includes(file));
    const states = operations.flatMap((operation) => (operation.kind === 'mark' ? [readSaid(operation.text)] : []));
    expect(states.map(({ kind }) => kind)).toEqual(Array(1 + STEP_COUNT).fill('answered'));
    const syncsOf = (name: string) => operations.filter(({ kind, file }) => kind === 'sync' && file === name).length;
    expect(syncsOf('windrow.db-wal')).toBeGreaterThanOrEqual(STEP_COUNT);
    expect(syncsOf('windrow.db')).toBeGreaterThan(3);

    const check = async (count: number, keeps: () => Kept): Promise<void> => {
      const done = operations.slice(0, count);
      const answered = Math.max(0, done.filter(({ kind }) => kind === 'mark').length - 1);
      const files = new Map([...before].map(([name, bytes]) => [name, stateOf(name, bytes, done, keeps)]));
      await openFiles(files, async (storage) => {
        const found = await contents(storage);
        expect(states.slice(answered, answered + 2).map((state) => state.contents)).toContain(found);
      });
    };
    for (let count = 0; count <= operations.length; count += 1 + Math.floor(operations.length / 40)) {
      await check(count, () => 'all');
    }
    const parts = fc.infiniteStream(fc.constantFrom<Kept>('none', 'half', 'all'));
    await fc.assert(
      fc.asyncProperty(fc.nat(operations.length), parts, (count, stream) =>
        check(count, () => stream.next().value ?? 'none'),
      ),
      { numRuns: 120 },
    );
    await check(operations.length, () => 'none');
    remove();
  });

  it.each([
    ['fsync', 'EIO', 6],
    ['fsync', 'ENOSPC', 9],
    ['pwrite64', 'EIO', 40],
  ])('once %s fails with %s nothing is acknowledged any more, and what was is there', async (call, error, when) => {
    await makeStore();
    // From then on, each: the process may not take the next success for one of what failed.
    const { said } = run('-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${when}+`);
    const firstRefused = said.findIndex(({ kind }) => kind === 'refused');
    expect(firstRefused).toBeGreaterThan(0);
    expect(said.slice(firstRefused).map(({ kind }) => kind)).not.toContain('answered');
    expect(said[firstRefused]!.message).toContain('refuses further writes');
    // Reading goes on, over what was committed.
    expect(said.at(-1)!.contents).toBe(said[firstRefused - 1]!.contents);
    const storage = await open(directory);
    // What was refused last may be there nevertheless: nobody was told that it is not.
    expect(await storage.read(SHARD, async (tx) => tx.lastCommit)).toBeGreaterThanOrEqual(firstRefused);
    await storage.close();
    remove();
  });

  it('one fsync of a commit that fails, and succeeds the next time, ends the writing all the same', async () => {
    const endings: boolean[] = [];
    for (const when of [5, 6, 7, 8, 9]) {
      await makeStore();
      const { said } = run('-e', 'trace=fsync', '-e', `inject=fsync:error=EIO:when=${when}`);
      const firstRefused = said.findIndex(({ kind }) => kind === 'refused');
      // A copy of the log into the database that failed is made again, and nobody waits for it.
      endings.push(firstRefused > 0);
      if (firstRefused > 0) expect(said.slice(firstRefused).map(({ kind }) => kind)).not.toContain('answered');
      const storage = await open(directory);
      if (firstRefused < 0) expect(await contents(storage)).toBe(said.at(-1)!.contents);
      await storage.close();
      remove();
    }
    expect(new Set(endings)).toEqual(new Set([true, false]));
  });

  it('a disk that is full for a while refuses writes for a while', async () => {
    await makeStore();
    const { said } = run('-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=ENOSPC:when=60..75');
    const kinds = said.map(({ kind }) => kind);
    expect(kinds).toContain('refused');
    expect(kinds.at(-1)).toBe('answered');
    expect(said.find(({ kind }) => kind === 'refused')!.message).toContain('the disk is full');
    const storage = await open(directory);
    expect(await contents(storage)).toBe(said.at(-1)!.contents);
    await storage.close();
    remove();
  });
});
