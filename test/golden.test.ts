// Real series and requests, run in every mode against stored results: each folder of golden/ is a test (see its
// README).
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ENGINE_VERSION } from '../src/engine/version.js';
import { createCsvReader, readCsv, writeCsv } from '../src/formats/csv/index.js';
import { createPlan, openStream, type Plan, type RunOptions, runBatch, type Series } from '../src/index.js';
import { createWorld } from './cli/world.js';

const goldenPath = fileURLToPath(new URL('./golden/', import.meta.url));
const folders = readdirSync(goldenPath).filter((name) => existsSync(join(goldenPath, name, 'options.json')));
const chunkSizes = [1, 7, 1000, 1_000_000];

interface GoldenOptions extends RunOptions {
  readonly inputs: readonly string[];
  readonly request?: string;
}

interface Golden {
  readonly requestPath: string;
  readonly inputPaths: readonly string[];
  readonly plan: Plan;
  readonly run: RunOptions;
  readonly expectedPath: string;
}

function readGolden(name: string): Golden {
  const folder = join(goldenPath, name);
  const {
    inputs,
    request = 'request.json',
    ...run
  }: GoldenOptions = JSON.parse(readFileSync(join(folder, 'options.json'), 'utf8'));
  const requestPath = resolve(folder, request);
  return {
    requestPath,
    inputPaths: inputs.map((path) => resolve(folder, path)),
    plan: createPlan(JSON.parse(readFileSync(requestPath, 'utf8')), zoneOf(run)),
    run,
    expectedPath: join(folder, 'expected.csv'),
  };
}

function zoneOf({ timezone }: RunOptions): { timezone?: string } {
  return timezone === undefined ? {} : { timezone };
}

function batch({ plan, inputPaths, run }: Golden): string {
  const inputs = inputPaths.flatMap((path) => {
    return readCsv(readFileSync(path), { fileName: basename(path), ...zoneOf(run) }).series;
  });
  return writeCsv(runBatch(plan, inputs, run).series);
}

function stream({ plan, inputPaths, run }: Golden, chunkRows: number): string {
  const opened = openStream(plan, run);
  const results: Series[] = [];
  for (const path of inputPaths) {
    const options = { fileName: basename(path), chunkRows, ...zoneOf(run) };
    const reader = createCsvReader(options, (series) => results.push(...opened.push(series)));
    reader.push(readFileSync(path));
    reader.end();
  }
  results.push(...opened.close().series);
  return writeCsv(plan.items.flatMap(({ output }) => results.filter(({ metric }) => metric === output.metric)));
}

async function command({ requestPath, inputPaths, run }: Golden, ...words: string[]): Promise<string> {
  const world = createWorld();
  const options = Object.entries(run).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const ended = await world.run(
    'run',
    requestPath,
    '--input',
    ...inputPaths,
    ...options,
    '--output',
    '~/out.csv',
    ...words,
  );
  expect(ended.code, ended.stderr).toBe(0);
  return world.read('out.csv');
}

describe.each(folders)('golden %s', (name) => {
  const golden = readGolden(name);
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden.expectedPath, batch(golden));
  const expected = readFileSync(golden.expectedPath, 'utf8');
  // Reports the first line that differs, not the whole file.
  const expectSame = (text: string): void => {
    if (text === expected) return;
    const lines = expected.split('\n');
    const at = text.split('\n').findIndex((line, index) => line !== lines[index]);
    expect({ line: at + 1, text: text.split('\n')[at] }).toEqual({ line: at + 1, text: lines[at] });
    expect(text.length).toBe(expected.length);
  };

  it('has results of every item', () => {
    const metrics = new Set(
      expected
        .trim()
        .split('\n')
        .slice(1)
        .map((row) => row.split(',')[2]),
    );
    expect([...metrics]).toEqual(golden.plan.items.map(({ output }) => output.metric));
  });

  it('batch, by the library and by the command', async () => {
    expectSame(batch(golden));
    expectSame(await command(golden));
  });

  it.each(chunkSizes)('stream in chunks of %i, by the library and by the command', async (chunkRows) => {
    expectSame(stream(golden, chunkRows));
    expectSame(await command(golden, '--mode', 'stream', '--chunk', String(chunkRows)));
  });
});

it('the version of the engine changes with its results', () => {
  const hash = createHash('sha256');
  for (const name of folders) hash.update(readFileSync(readGolden(name).expectedPath));
  const versions = JSON.parse(readFileSync(join(goldenPath, 'versions.json'), 'utf8'));
  // Results of the service are computed again by another version: set it in src/engine/version.ts.
  expect({ [ENGINE_VERSION]: versions[ENGINE_VERSION] }).toEqual({ [ENGINE_VERSION]: hash.digest('hex') });
});

it('the chart in docs/examples is the one that the demo draws', async () => {
  const docsPath = fileURLToPath(new URL('../docs/examples/', import.meta.url));
  const drawnPath = join(docsPath, 'office-temperature.svg');
  const world = createWorld();
  const words = [join(docsPath, 'office-temperature.json'), '--input', join(docsPath, 'office-temperature.csv')];
  await world.run('run', ...words, '--quiet', '--plot', '~/chart.svg');
  if (process.env.UPDATE_GOLDEN) writeFileSync(drawnPath, world.read('chart.svg'));
  expect(world.read('chart.svg') === readFileSync(drawnPath, 'utf8')).toBe(true);
});

it('every folder of golden/ has its options.json, so it is tested', () => {
  const names = readdirSync(goldenPath, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'data',
  );
  expect(names.map(({ name }) => name).sort()).toEqual([...folders].sort());
});
