// The code of other tools in docs/coming-from.md: the page shows its recorded output, and where a tool is installed,
// its code runs and must print just that. blocks.test.ts runs windrow's own code.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import recorded from './coming-from.json' with { type: 'json' };
import { codeBlocks } from './markdown.js';
import { root, Shell } from './shell.js';

const blocks = codeBlocks(readFileSync(join(root, 'docs/coming-from.md'), 'utf8'));
const shown = blocks.filter(({ language }) => language === 'text').flatMap(({ text }) => text.split('\n'));
const shell = new Shell();
afterAll(() => shell.close());

/** The blocks of a tool, whose name is on the first line of each, as one program. */
function programOf(tool: string): string {
  const own = blocks.filter(({ text }) => new RegExp(`^(?:#|//) ${tool}(?::|\n)`).test(text));
  expect(own.length, `blocks of ${tool}`).toBe(4);
  return own.map(({ text }) => text).join('\n');
}

/** A Python that has the module. */
function pythonWith(module: string): string | undefined {
  const places = ['/usr/bin/python3', 'python3'];
  return places.find((place) => spawnSync(place, ['-c', `import ${module}`]).status === 0);
}

/** pond-ts as built for the benchmarks (`node pond.mjs`), or in the folder that POND_TS names. */
function pondEntry(): string | undefined {
  const places = [process.env.POND_TS, join(root, 'bench/rivals/data/pond/packages/core/dist/index.js')];
  return places.find((place) => place !== undefined && existsSync(place));
}

function printedBy(command: string, path: string): string[] {
  const { status, stdout, stderr } = spawnSync(command, [path], { cwd: root, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return stdout.trimEnd().split('\n');
}

test('each block belongs to a tool that has all of the tasks', () => {
  for (const tool of ['pandas', 'Polars', 'pond-ts', 'Flux', 'windrow']) programOf(tool);
  expect(blocks).toHaveLength(5 * 4 + 3);
});

describe.each(Object.entries(recorded))('%s', (tool, { source, output }) => {
  test('its recorded output is what the page shows', () => {
    expect(source).toMatch(/^the blocks of docs\/coming-from\.md, run by .* \d[\d.]+/);
    expect(output).toEqual(shown);
  });

  const command = tool === 'pond-ts' ? pondEntry() : pythonWith(tool.toLowerCase());
  if (command === undefined) console.warn(`the lines of ${tool} are not run: it is not installed`);

  test.skipIf(command === undefined)('its code prints what is recorded', () => {
    const isPond = tool === 'pond-ts';
    const path = join(shell.folder, isPond ? 'pond.mjs' : `${tool}-lines.py`);
    const program = programOf(tool);
    writeFileSync(path, isPond ? program.replace("'pond-ts'", JSON.stringify(command)) : program);
    expect(printedBy(isPond ? process.execPath : (command ?? ''), path)).toEqual(output);
  });
});
