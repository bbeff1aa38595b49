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

interface Report {
  readonly kind: 'answered' | 'refused';
  readonly message?: string;
  /** What the store held at that time. */
  readonly contents: string;
}
// `as`: a line printed by steps.ts.
const parseReport = (line: string) => JSON.parse(line) as Report;

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

  /** Runs the steps under strace; returns what they printed, and the trace. */
  function run(...options: readonly string[]): { readonly reports: readonly Report[]; readonly trace: string } {
    const trace = join(directory, 'trace');
    const words = ['-f', '-y', ...options, '-o', trace, process.execPath, programs.pathOf('steps'), directory, 'run'];
    const { stdout, stderr } = spawnSync('strace', words, { encoding: 'utf8', maxBuffer: 1e9 });
    expect(stdout, stderr).not.toBe('');
    return { reports: stdout.trim().split('\n').map(parseReport), trace };
  }

  it('after a power failure at any moment, all acknowledged commits are there, and at most one more', async () => {
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
    const states = operations.flatMap((operation) => (operation.kind === 'mark' ? [parseReport(operation.text)] : []));
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
  ])(
    'once %s fails with %s, nothing more is acknowledged, and everything acknowledged is there',
    async (call, error, when) => {
      await makeStore();
      // All calls fail from then on: the process must not take a later success for one of what failed.
      const { reports } = run('-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${when}+`);
      const firstRefused = reports.findIndex(({ kind }) => kind === 'refused');
      expect(firstRefused).toBeGreaterThan(0);
      expect(reports.slice(firstRefused).map(({ kind }) => kind)).not.toContain('answered');
      expect(reports[firstRefused]!.message).toContain('the disk failed during a commit');
      // Reads still work, on what was committed.
      expect(reports.at(-1)!.contents).toBe(reports[firstRefused - 1]!.contents);
      const storage = await open(directory);
      // The first refused commit may be there: nobody was told that it is not.
      expect(await storage.read(SHARD, async (tx) => tx.lastCommit)).toBeGreaterThanOrEqual(firstRefused);
      await storage.close();
      remove();
    },
  );

  it('one failing fsync of a commit ends all writing, even if the next fsync succeeds', async () => {
    const endings: boolean[] = [];
    for (const when of [5, 6, 7, 8, 9]) {
      await makeStore();
      const { reports } = run('-e', 'trace=fsync', '-e', `inject=fsync:error=EIO:when=${when}`);
      const firstRefused = reports.findIndex(({ kind }) => kind === 'refused');
      // If copying the log into the database fails, it is repeated, and nobody waits for it.
      endings.push(firstRefused > 0);
      if (firstRefused > 0) expect(reports.slice(firstRefused).map(({ kind }) => kind)).not.toContain('answered');
      const storage = await open(directory);
      if (firstRefused < 0) expect(await contents(storage)).toBe(reports.at(-1)!.contents);
      await storage.close();
      remove();
    }
    expect(new Set(endings)).toEqual(new Set([true, false]));
  });

  // EDQUOT: the quota of the user is.
  it.each(['ENOSPC', 'EDQUOT'])('a disk that is full for a while refuses writes for that time: %s', async (error) => {
    await makeStore();
    const { reports } = run('-e', 'trace=pwrite64', '-e', `inject=pwrite64:error=${error}:when=60..75`);
    const kinds = reports.map(({ kind }) => kind);
    expect(kinds).toContain('refused');
    expect(kinds.at(-1)).toBe('answered');
    expect(reports.find(({ kind }) => kind === 'refused')!.message).toContain('the disk is full');
    const storage = await open(directory);
    expect(await contents(storage)).toBe(reports.at(-1)!.contents);
    await storage.close();
    remove();
  });
});
