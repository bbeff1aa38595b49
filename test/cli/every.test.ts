import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planEvery, runEvery } from '../../src/engine/every/index.js';
import { readCsv, writeCsv } from '../../src/formats/csv/index.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = join(root, 'dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'windrow-every-'));
const at = (name: string): string => join(folder, name);
const aggregate = (from: string, to: string) => ({
  metric: 'Mean',
  processingType: 'batch',
  operations: [
    {
      operation: 'Aggregate',
      input: [{ timeseriesId: from, metric: 'Raw' }],
      output: [{ timeseriesId: to, metric: 'Mean' }],
      parameters: { function: 'Average', interval: 'Hourly' },
    },
  ],
});

/** A file of the long layout, in time order: `rowCount` rows for each of `zoneCount` zones. */
function zonesText(zoneCount: number, rowCount: number): string {
  const lines = ['timestamp,timeseriesId,metric,value'];
  for (let row = 0; row < rowCount; row++) {
    const time = new Date(Date.UTC(2024, 0, 1) + row * 600_000).toISOString();
    for (let zone = 0; zone < zoneCount; zone++) lines.push(`${time},zone-${zone},Raw,${(row * 31 + zone * 7) % 1000}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Runs the built command. */
function windrow(...words: readonly string[]) {
  return runNode([main, ...words]);
}

/** Collects ten times a second, and prints the most bytes that were left: when garbage goes, differs by version. */
const HOOK = `
  let most = 0;
  const measure = () => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    most = Math.max(most, heapUsed + external);
  };
  setInterval(measure, 100).unref();
  process.on('exit', () => console.error('bytes in use', most));`;

/** The most memory that the built command has in use, in bytes. */
function memoryOf(...words: readonly string[]): number {
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`;
  const { status, stderr } = runNode(['--expose-gc', '--import', hook, main, ...words]);
  expect(status, stderr).toBe(0);
  expect(stderr).toContain('samples of 10,000 series');
  return Number(/bytes in use (\d+)/.exec(stderr)?.[1]);
}

function runNode(words: readonly string[]) {
  return spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });
}

beforeAll(() => {
  const ensured = spawnSync(process.execPath, [join(root, 'scripts/ensure.mjs'), '--check'], { encoding: 'utf8' });
  if (ensured.status !== 0) throw new Error(ensured.stderr);
  writeFileSync(at('zones.csv'), zonesText(7, 40));
  writeFileSync(at('zones.json'), JSON.stringify([aggregate('zone-{n}', 'zone-{n}')]));
  writeFileSync(at('all.json'), JSON.stringify([aggregate('*', '*')]));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('windrow run of a request with patterns', () => {
  test.each([[], ['--mode', 'stream'], ['--chunk', '3'], ['--threads', '2']])(
    'writes what the library computes for every series of the file: %s',
    (...more) => {
      const { stdout, stderr, status } = windrow('run', 'all.json', '--input', 'zones.csv', ...more);
      expect(status, stderr).toBe(0);
      const series = readCsv(readFileSync(at('zones.csv'), 'utf8'), { fileName: 'zones.csv' }).series;
      const run = runEvery(planEvery([aggregate('*', '*')]), series);
      expect(stdout).toBe(writeCsv(run.series));
      expect(stderr).toContain('*/Mean  49 samples of 7 series');
    },
  );

  test('sorts in memory if a series is not in time order', () => {
    const lines = readFileSync(at('zones.csv'), 'utf8').trimEnd().split('\n');
    writeFileSync(at('mixed.csv'), `${[lines[0], ...lines.slice(1).reverse()].join('\n')}\n`);
    const expected = windrow('run', 'zones.json', '--input', 'zones.csv').stdout.split('\n').sort();
    expect(windrow('run', 'zones.json', '--input', 'mixed.csv').stdout.split('\n').sort()).toEqual(expected);
  });

  test('still asks if a column seems to name the series of each row', () => {
    const rows = [0, 1, 2, 3].flatMap((hour) => [1, 2].map((id) => `2024-01-01T0${hour}:00:00Z,dev${id},${20 + id}`));
    writeFileSync(at('devices.csv'), `time,device_id,temperature\n${rows.join('\n')}\n`);
    const { stderr, status } = windrow('run', 'all.json', '--input', 'devices.csv');
    expect(status).not.toBe(0);
    expect(stderr).toContain('--series device_id');
  });

  test.each([
    ['zone_{n}', 'did you mean `zone-{n}/Raw`?'],
    ['boiler of building {n}', 'no series matches this pattern'],
  ])('suggests a pattern for one that matches nothing: %s', (pattern, hint) => {
    writeFileSync(at('wrong.json'), JSON.stringify([aggregate(pattern, pattern)]));
    const { stderr, status } = windrow('run', 'wrong.json', '--input', 'zones.csv');
    expect(status).not.toBe(0);
    expect(stderr).toContain(hint);
  });

  test('warns of members that lack a series that others have', () => {
    const sub = {
      metric: 'Excess',
      processingType: 'batch',
      operations: [
        {
          operation: 'Sub',
          input: [
            { timeseriesId: 'zone-{n}', metric: 'Raw' },
            { timeseriesId: 'set-{n}', metric: 'Raw' },
          ],
          output: [{ timeseriesId: 'zone-{n}', metric: 'Excess' }],
        },
      ],
    };
    writeFileSync(at('excess.json'), JSON.stringify([sub]));
    const header = 'timestamp,timeseriesId,metric,value\n';
    writeFileSync(at('set.csv'), `${header}2024-01-01T00:00:00Z,set-0,Raw,5\n2024-01-01T00:00:00Z,set-3,Raw,5\n`);
    const { stderr, stdout } = windrow('run', 'excess.json', '--input', 'zones.csv', 'set.csv');
    expect(stderr).toContain('WARNING: 5 of 7 members have no set-{n}/Raw: 1, 2, 4, 5, 6');
    expect(stdout.trimEnd().split('\n')).toHaveLength(3);
  });

  test.each(['verify', 'why', 'diff'])('%s accepts it', (command) => {
    const words = {
      verify: ['zones.json', '--variants', '6'],
      why: ['zones.json', '--series', 'zone-3/Mean', '--at', '2024-01-01T01:00:00Z'],
      diff: ['zones.json', 'zones.json'],
    }[command]!;
    const { stdout, stderr, status } = windrow(command, ...words, '--input', 'zones.csv');
    expect(status, stderr).toBe(0);
    const expected = {
      verify: '7 variants gave the same bits',
      why: 'zones.csv:',
      diff: 'zone-6/Mean: all 7 samples the same',
    };
    expect(stdout).toContain(expected[command as keyof typeof expected]);
  });

  test('memory for 10,000 series depends on their state: four times the rows do not need more', () => {
    writeFileSync(at('some.csv'), zonesText(10_000, 24));
    const some = memoryOf('run', 'zones.json', '--input', 'some.csv', '--output', 'some-out.csv');
    writeFileSync(at('some.csv'), zonesText(10_000, 96));
    const many = memoryOf('run', 'zones.json', '--input', 'some.csv', '--output', 'many-out.csv');
    // The rows that are more take a quarter of it as columns, and far more as objects.
    expect(many).toBeLessThan(1.25 * some);
  });
});
