// Any number of threads, and any cuts between their ranges, give the same chunks, counts, rows and errors.
import * as nodeFs from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { InputFile } from '../../src/cli/files/inputs.js';
import { readFile } from '../../src/cli/run/read-file.js';
import type { Io } from '../../src/cli/terminal/io.js';
import type { RejectedRow } from '../../src/formats/csv/index.js';
import type { RangePool } from '../../src/formats/csv/threaded/pool.js';
import { createPlan } from '../../src/plan/create-plan.js';
import { file, textOf } from '../formats/csv/files.js';
import { createWorld, minutesCsv, openTestPool, requestText } from './world.js';

const pools = await Promise.all([openTestPool(1), openTestPool(2)]);
afterAll(() => Promise.all(pools.map((pool) => pool.close())));

interface Case {
  readonly text: string;
  /** Whether the text is written in Latin-1, instead of UTF-8. */
  readonly isLatin1?: boolean;
  readonly chunkRows: number;
  readonly onBadRow: 'fail' | 'skip';
  readonly timezone: string;
}

const sources = ['a', 'b', 'b c', 'room 1', 'räum 1', 'x', '"uote"'];
const plan = createPlan([
  {
    metric: 'Result',
    processingType: 'Batch',
    operations: sources.map((timeseriesId) => ({
      operation: 'Mul',
      input: [{ timeseriesId, metric: 'Raw' }],
      output: [{ timeseriesId, metric: 'Doubled' }],
      parameters: { scalar: 2 },
    })),
  },
]);

/** `as`: all that reading a file uses */
const ioOf = (rangeBytes: number) => ({ fs: nodeFs, threads: { rangeBytes } }) as unknown as Io;

function bytesOf({ text, isLatin1 = false }: Case): Uint8Array {
  return isLatin1 ? Buffer.from(text.replaceAll('room', 'räum'), 'latin1') : Buffer.from(text);
}

/** Everything that reading a file gives. */
async function read(path: string, one: Case, pool?: RangePool, rangeBytes = 0): Promise<unknown> {
  const { chunkRows, onBadRow, timezone } = one;
  const calls: unknown[] = [];
  const bytes = bytesOf(one);
  const input: InputFile = {
    path,
    name: 'x.csv',
    sizeBytes: bytes.length,
    isRegular: true,
    blocks: async function* () {
      yield bytes;
    },
  };
  const chunks: unknown[] = [];
  const reading = {
    onRead: () => undefined,
    onReject: (rejected: RejectedRow) => calls.push(rejected),
    onChunk: (
      series: readonly { timeseriesId: string; metric: string; timeMs: Float64Array; value: Float64Array }[],
    ) => {
      chunks.push(series.map((one) => ({ ...one, timeMs: [...one.timeMs], value: [...one.value] })));
    },
    isStopped: () => false,
  };
  try {
    const outcome = await readFile(
      { plan, timezone, chunkRows, onBadRow, input: {}, pool },
      input,
      reading,
      ioOf(rangeBytes),
    );
    return { calls, chunks, outcome: { ...outcome, path: '' } };
  } catch (error) {
    return { calls, chunks, error: error instanceof Error ? error.message : error };
  }
}

const oneCase = fc.record({
  text: fc.tuple(file, fc.boolean(), fc.constantFrom('', '\uFEFF', '\n')).map(([one, isTimeQuoted, before]) => {
    return before + textOf(one, isTimeQuoted);
  }),
  isLatin1: fc.boolean(),
  chunkRows: fc.integer({ min: 1, max: 40 }),
  onBadRow: fc.constantFrom('fail' as const, 'skip' as const),
  timezone: fc.constantFrom('UTC', 'America/New_York'),
});

describe('threads', () => {
  const world = createFolder();

  test('one thread, and pools of one and two, read every file alike, cut anywhere', async () => {
    const path = world('case.csv');
    const check = async (one: Case, rangeBytes: number): Promise<void> => {
      nodeFs.writeFileSync(path, bytesOf(one));
      const alone = await read(path, one);
      for (const pool of pools) expect(await read(path, one, pool, rangeBytes)).toEqual(alone);
    };
    await fc.assert(fc.asyncProperty(oneCase, fc.integer({ min: 1, max: 600 }), check), { numRuns: 1500 });
  });

  test('a quoted field may extend over any number of lines and ranges', async () => {
    const path = world('case.csv');
    const rows = Array.from({ length: 300 }, (_, i) => {
      const note = i % 40 === 7 ? `"a\n""2024-01-01T00:00:00Z,1\n${'x,1\n'.repeat(i)}"` : 'plain';
      return `2024-01-01T00:${String(i % 60).padStart(2, '0')}:00Z,a,${note},${i}\n`;
    });
    const one: Case = {
      text: `time,timeseriesId,note,value\n${rows.join('')}`,
      chunkRows: 50,
      onBadRow: 'skip',
      timezone: 'UTC',
    };
    nodeFs.writeFileSync(path, one.text);
    const alone = await read(path, one);
    for (const rangeBytes of [1, 10, 100, 1000, 5000]) {
      for (const pool of pools) expect(await read(path, one, pool, rangeBytes)).toEqual(alone);
    }
  });
});

test('a run prints and writes the same with any number of threads, sorted in memory or not', async () => {
  const values = Array.from({ length: 500 }, (_, i) => (i % 97 === 50 ? 'bad' : i / 8));
  const lines = minutesCsv(values).split('\n');
  const unordered = [lines[0], lines[400], ...lines.slice(1, 400), ...lines.slice(401)].join('\n');
  for (const text of [lines.join('\n'), unordered]) {
    const outcomes: unknown[] = [];
    for (const threads of ['1', '2', '3']) {
      const world = createWorld();
      world.write('request.json', requestText('Aggregate', { function: 'Average', interval: 'Hourly' }));
      world.write('office.csv', text);
      const files = ['--output', '~/out.csv', '--report', '~/report.json', '--rejects', '~/rejects.csv'];
      const words = ['--input', '~/office.csv', '--on-bad-row', 'skip', '--threads', threads, ...files];
      const ended = await world.run('run', '~/request.json', ...words);
      const written = ['out.csv', 'report.json', 'rejects.csv'].map((name) =>
        world.read(name).replaceAll(world.folder, ''),
      );
      outcomes.push({ ended, written });
    }
    expect(outcomes[1]).toEqual(outcomes[0]);
    expect(outcomes[2]).toEqual(outcomes[0]);
  }
});

function createFolder(): (name: string) => string {
  const folder = nodeFs.mkdtempSync('/tmp/windrow-threads-');
  afterAll(() => nodeFs.rmSync(folder, { recursive: true, force: true }));
  return (name) => `${folder}/${name}`;
}
