import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStorage } from '../../../src/storage/index.js';
import { suiteTables, things } from '../conformance/tables.js';
import { hold } from '../faults.js';
import { temporaryDirectory } from '../open-temporary.js';
import { buildPrograms } from './programs.js';

interface Answer {
  readonly shard: number;
  readonly id: string;
  readonly commit: number;
}

const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
let programs: Awaited<ReturnType<typeof buildPrograms>>;
beforeAll(async () => {
  programs = await buildPrograms('child');
});
afterAll(() => programs.remove());

/** Runs the program until it has given `count` answers and for `ms` longer, kills it, and returns its answers. */
async function runAndKill(directory: string, round: number, count: number, ms: number): Promise<Answer[]> {
  const words = [programs.pathOf('child'), directory, String(round)];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const ended = new Promise<string | null>((done) => child.on('close', (_, signal) => done(signal)));
  const answers: Answer[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const message: unknown = JSON.parse(line);
    // `as`: the program prints "ready", then answers.
    if (message !== 'ready') answers.push(message as Answer);
    if (answers.length === count) setTimeout(() => child.kill('SIGKILL'), ms);
  }
  expect(await ended, errors.join('')).toBe('SIGKILL');
  return answers;
}

describe('a process killed while it writes', () => {
  it('leaves what it acknowledged and no half transaction; the next process opens the store at once', async () => {
    const { path: directory, remove } = temporaryDirectory();
    const answered: Answer[] = [];
    const moments = fc.sample(fc.record({ count: fc.integer({ min: 1, max: 120 }), ms: fc.nat(12) }), {
      numRuns: 8,
      seed: 4,
    });
    for (const [round, { count, ms }] of moments.entries()) {
      answered.push(...(await runAndKill(directory, round, count, ms)));
      const held = hold();
      const options = { directory, clock, tables: suiteTables, openDatabase: held.open, reserveBytes: 0 };
      const storage = await openSqliteStorage(options);
      expect(held.database!.all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      for (const shard of [0, 1, 2]) {
        const [lastCommit, rows] = await storage.read(
          shard,
          async (tx) => [tx.lastCommit, await tx.find(things)] as const,
        );
        const found = (version: number) =>
          rows.filter((row) => row.version === version).map(({ id, order }): Answer => ({ shard, id, commit: order }));
        expect(found(1)).toEqual(found(2));
        expect(new Set(found(1).map(({ commit }) => commit))).toEqual(
          new Set(Array.from({ length: lastCommit }, (_, i) => i + 1)),
        );
        const texts = new Set(found(1).map((row) => JSON.stringify(row)));
        const isLost = (answer: Answer) => answer.shard === shard && !texts.has(JSON.stringify(answer));
        expect(answered.filter(isLost)).toEqual([]);
      }
      await storage.close();
    }
    remove();
  });
});
