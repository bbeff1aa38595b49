import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type CodeBlock, codeBlocks, isAsShown } from './markdown.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const blocks = codeBlocks(readFileSync(join(root, 'README.md'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'windrow-readme-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Fails with both texts when one is not as the page shows it. */
function expectAsShown(text: string, shown: string): void {
  if (!isAsShown(text, shown)) expect(text.trimEnd()).toBe(shown.trimEnd());
}

describe('the TypeScript of README.md', () => {
  const programs = blocks.filter(({ language }) => language === 'ts');
  const path = join(folder, 'readme.ts');
  const MARK = 'the block of line';
  const printed = new Map<number, string>();

  beforeAll(async () => {
    writeFileSync(
      path,
      programs.map(({ text, line }) => `console.log('${MARK}', ${line});\n${inTree(text)}`).join('\n'),
    );
    let line = 0;
    const log = vi.spyOn(console, 'log').mockImplementation((...parts: unknown[]) => {
      if (parts[0] === MARK) line = Number(parts[1]);
      else printed.set(line, `${printed.get(line) ?? ''}${format(...parts)}\n`);
    });
    await import(/* @vite-ignore */ pathToFileURL(path).href).finally(() => log.mockRestore());
  });

  test('has no fault of types', () => {
    const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const typeRoots = [join(root, 'node_modules/@types')];
    const program = ts.createProgram([path], { ...options, types: ['node'], typeRoots });
    const faults = ts.getPreEmitDiagnostics(program, program.getSourceFile(path));
    expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });

  test.each(programs)('prints what is shown: line $line', (block) => {
    expectAsShown(printed.get(block.line) ?? '', shownAfter(block));
  });

  /** The block of text that follows at once, or nothing. */
  function shownAfter(block: CodeBlock): string {
    const next = blocks[blocks.indexOf(block) + 1];
    return next?.language === 'text' ? next.text : '';
  }

  /** With the doors of the package in their sources. */
  function inTree(text: string): string {
    return text
      .replaceAll("'windrow/csv'", JSON.stringify(join(root, 'src/formats/csv/index.js')))
      .replaceAll("'windrow/every'", JSON.stringify(join(root, 'src/engine/every/index.js')))
      .replaceAll("'windrow'", JSON.stringify(join(root, 'src/index.js')));
  }
});

describe('the commands of README.md', () => {
  beforeAll(() => {
    const ensured = spawnSync(process.execPath, [join(root, 'scripts/ensure.mjs')], { encoding: 'utf8' });
    if (ensured.status !== 0) throw new Error(ensured.stderr);
    cpSync(join(root, 'docs/examples'), join(folder, 'docs/examples'), { recursive: true });
    const command = `exec "${process.execPath}" "${join(root, 'dist/cli/main.js')}" "$@"`;
    writeProgram('windrow', command);
    writeProgram('npx', `shift\n${command}`);
  });

  const consoles = blocks.filter(({ language }) => language === 'console').flatMap(shownRuns);
  const commands = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.split('\n'));

  test.each(consoles)('prints what is shown: $command', ({ command, shown }) => {
    expectAsShown(inShell(command).output, shown);
  });

  test.each(commands)('%s', (command) => {
    const { status, output } = inShell(command);
    expect(status, output).toBe(0);
  });

  function writeProgram(name: string, text: string): void {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }

  function inShell(command: string): { status: number | null; output: string } {
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, NO_COLOR: '1', COLUMNS: '80' };
    const options = { cwd: folder, env, encoding: 'utf8' as const };
    const { status, stdout } = spawnSync('bash', ['-c', `exec 2>&1\n${command}`], options);
    return { status, output: stdout };
  }
});

/** The commands of a block, `$` before each, and what is shown after them. */
function shownRuns({ text }: CodeBlock): { command: string; shown: string }[] {
  return text
    .split(/^\$ /m)
    .filter((part) => part !== '')
    .map((part) => {
      const [command = '', ...lines] = part.split('\n');
      return { command, shown: lines.join('\n') };
    });
}
