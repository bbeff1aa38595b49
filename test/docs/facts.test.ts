import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CHUNK_LENGTH } from '../../src/core/chunk.js';
import { createPlan, openStream, pipeline, runBatch } from '../../src/index.js';
import { operations } from '../../src/inspect/index.js';
import { homeArena } from '../../src/kernels/arena.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const plan = createPlan([pipeline('a').abs().as('B')]);

describe('the pages agree with the code on', () => {
  test('the length of a chunk and the size of the memory', () => {
    const memoryBytes = homeArena().buffer!.byteLength;
    expect(read('docs/architecture.md')).toContain(`at most ${CHUNK_LENGTH} samples`);
    expect(read('docs/architecture.md')).toContain(`(${memoryBytes / 2 ** 20} MiB;`);
    expect(read('docs/performance.md')).toContain(`chunks of ${CHUNK_LENGTH}:`);
    expect(read('docs/performance.md')).toContain(`(${(8 * CHUNK_LENGTH) / 2 ** 20} MiB)`);
  });

  test('the first bytes of a checkpoint', () => {
    const bytes = openStream(plan).checkpoint();
    const magic = String.fromCharCode(...bytes.subarray(0, 4));
    expect(read('docs/architecture.md')).toContain(`| 4 | \`${magic}\` |`);
  });

  test('the meaning of every field of the report (docs/semantics.md)', () => {
    const input = { timeseriesId: 'a', metric: 'Raw', timeMs: Float64Array.of(0), value: Float64Array.of(1) };
    const { report } = runBatch(plan, [input]);
    const names = [report, report.sources[0]!, report.steps[0]!].flatMap((part) => Object.keys(part));
    const dropped = [report.sources[0]!.dropped, report.steps[0]!.dropped].flatMap((part) => Object.keys(part));
    const page = read('docs/semantics.md').split('## The report')[1]!;
    const isTold = (name: string): boolean =>
      [`\`${name}\``, `\`${name}[]\``, `.${name}\``].some((text) => page.includes(text));
    expect([...new Set([...names, ...dropped])].filter((name) => !isTold(name))).toEqual(['timeseriesId', 'metric']);
  });

  test('a heading for every operation (docs/semantics.md)', () => {
    const headings = [...read('docs/semantics.md').matchAll(/^### (.+)$/gm)].flatMap(([, title]) => title!.split(', '));
    expect(headings).toEqual([...operations.keys()]);
  });
});
