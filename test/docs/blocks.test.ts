// Every code block of README.md and docs/ is run, or compared with what it describes.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { type CodeBlock, codeBlocks, isAsShown } from './markdown.js';
import { jsonIn, root, Shell } from './shell.js';

/** recipes.test.ts runs its blocks and checks them by a second calculation. */
const RECIPES = 'recipes.md';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/examples/README.md',
  ...readdirSync(join(root, 'docs')).flatMap((name) =>
    name.endsWith('.md') && name !== RECIPES ? [`docs/${name}`] : [],
  ),
];

/** Blocks that no test can run, by their first words, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'createuser windrow': 'it makes a role and a database in a PostgreSQL of its own; `npm run cluster` does the like',
  'mkdir -p /etc/postgresql-common': 'it installs packages of Debian',
  'pg_autoctl create monitor':
    'pg_auto_failover need not be installed; `npm run cluster -- --failover …` does the like',
  "echo '*:*:*:pgautofailover_replicator": 'likewise',
  'export WINDROW_STORE=': 'it names servers that are not there',
  'old=$(docker compose ps': 'it needs Docker',
  'kubectl create secret': 'it needs Kubernetes',
  'npm ci && npm run build && npm pack': 'it needs Docker',
};
const isRun = ({ text }: CodeBlock): boolean => !Object.keys(NOT_RUN).some((start) => text.startsWith(start));

const shell = new Shell();
const shownPaths: string[] = [];

beforeAll(async () => {
  const ensured = spawnSync(process.execPath, [join(root, 'scripts/ensure.mjs'), '--check'], { encoding: 'utf8' });
  if (ensured.status !== 0) throw new Error(ensured.stderr);
  await shell.serve();
});
afterAll(() => shell.close());

test('the TypeScript of the pages has no type errors', () => expect(faultsOf(shownPaths)).toEqual([]));

const shown = pages.map((page) => ({ page, blocks: codeBlocks(readFileSync(join(root, page), 'utf8')) }));

test('the list of blocks that are not run is exact', () => {
  const left = shown.flatMap(({ blocks }) => blocks.filter((block) => !isRun(block)));
  expect(left.map(({ text }) => Object.keys(NOT_RUN).find((start) => text.startsWith(start)))).toEqual(
    Object.keys(NOT_RUN),
  );
});

describe.each(shown.filter(({ blocks }) => blocks.length > 0))('$page', ({ page, blocks }) => {
  const programs = blocks.filter(({ language }) => language === 'ts');
  const printed = new Map<number, string>();

  if (programs.length > 0) {
    const path = writeProgram(page, programs);
    beforeAll(() => runProgram(path, printed));
  }

  const outputs = new Map<CodeBlock, string>();
  test.each(blocks.filter(isRun))('line $line', (block) => {
    const before = blocks[blocks.indexOf(block) - 1];
    const next = blocks[blocks.indexOf(block) + 1];
    switch (block.language) {
      case 'ts':
        return expectAsShown(printed.get(block.line) ?? '', next?.language === 'text' ? next.text : '');
      case 'console':
        for (const { command, text } of shownRuns(block)) expectAsShown(shell.run(command).output, text);
        return;
      case 'sh': {
        const { status, output } = shell.run(block.text);
        expect(status, output).toBe(0);
        outputs.set(block, output);
        return;
      }
      case 'json':
        expect(before?.language, 'JSON is the answer to the command before it').toBe('sh');
        return expectShape(jsonIn(outputs.get(before!)!), JSON.parse(block.text), '');
      case 'text':
        return before?.language === 'ts' ? undefined : expectSameAnswers(block.text.split('\n'));
      case 'python':
      case 'js':
      case 'flux':
        // coming-from.test.ts checks the blocks of other tools.
        return expect(page).toBe('docs/coming-from.md');
      default:
        return expectKnownWords(block);
    }
  });

  function expectSameAnswers(paths: readonly string[]): void {
    const answers = paths.map((path) =>
      shell.run(`curl -H "Authorization: Bearer $TOKEN" -H 'ercollectionid: alarms' "$URL"${quoted(path)}`),
    );
    for (const { status, output } of answers) expect({ status, output }).toEqual(answers[0]);
    expect(answers[0]?.status, answers[0]?.output).toBe(0);
  }
});

const MARK = 'the block of line';

/** Writes the TypeScript of a page as one program: as shown, for the compiler, and over the sources, to run it. */
function writeProgram(page: string, programs: readonly CodeBlock[]): string {
  const name = page.replaceAll('/', '-');
  const shownPath = join(shell.folder, `${name}.shown.ts`);
  writeFileSync(shownPath, programs.map(({ text }) => text).join('\n'));
  shownPaths.push(shownPath);
  const path = join(shell.folder, `${name}.ts`);
  writeFileSync(path, programs.map(({ text, line }) => `console.log('${MARK}', ${line});\n${inTree(text)}`).join('\n'));
  return path;
}

/** Runs it and records what each block prints. */
async function runProgram(path: string, printed: Map<number, string>): Promise<void> {
  let line = 0;
  const log = vi.spyOn(console, 'log').mockImplementation((...parts: unknown[]) => {
    if (parts[0] === MARK) line = Number(parts[1]);
    else printed.set(line, `${printed.get(line) ?? ''}${format(...parts)}\n`);
  });
  await import(/* @vite-ignore */ pathToFileURL(path).href).finally(() => log.mockRestore());
}

// Points the package's entries to their sources, and data to the folder of the test; the server stops by itself.
function inTree(text: string): string {
  const source = (path: string): string => JSON.stringify(join(root, path));
  const moved = text
    .replaceAll("'windrow/csv'", source('src/formats/csv/index.js'))
    .replaceAll("'windrow/every'", source('src/engine/every/index.js'))
    .replaceAll("'windrow/inspect'", source('src/inspect/index.js'))
    .replaceAll("'windrow/service'", source('src/service/index.js'))
    .replaceAll("'windrow'", source('src/index.js'))
    .replaceAll("'fastify'", source('node_modules/fastify/fastify.js'))
    .replaceAll('./data', join(shell.folder, 'plugin'))
    .replaceAll('port: 3000', 'port: 0');
  return moved.includes('app.listen') ? `${moved}\nawait app.close();` : moved;
}

/** Against the published declarations, which are what a user's compiler reads, and a quarter of the files. */
function faultsOf(shown: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const typeRoots = [join(root, 'node_modules/@types')];
  const paths = {
    windrow: ['dist/index.d.ts'],
    'windrow/*': ['dist/*.d.ts'],
    fastify: ['node_modules/fastify/fastify.d.ts'],
  };
  const program = ts.createProgram(shown, { ...options, types: ['node'], typeRoots, baseUrl: root, paths });
  const faults = shown.flatMap((path) => ts.getPreEmitDiagnostics(program, program.getSourceFile(path)));
  return faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** Fails with both texts if the first differs from what the page shows. */
function expectAsShown(text: string, expected: string): void {
  if (!isAsShown(text, expected)) expect(text.trimEnd()).toBe(expected.trimEnd());
}

/**
 * The same fields with values of the same types, since ids and times differ; each entry of a list is like the first.
 */
function expectShape(value: unknown, like: unknown, place: string): void {
  const kindOf = (one: unknown): string => (Array.isArray(one) ? 'list' : typeof one);
  if (value === null || like === null) return;
  expect(kindOf(value), place).toBe(kindOf(like));
  if (Array.isArray(value) && Array.isArray(like)) {
    for (const entry of value) expectShape(entry, like[0], `${place}/0`);
  } else if (typeof like === 'object') {
    expect(Object.keys(Object(value)), place).toEqual(Object.keys(Object(like)));
    for (const [name, inner] of Object.entries(Object(like)))
      expectShape(Object(value)[name], inner, `${place}/${name}`);
  }
}

/** For files of other programs: the windrow commands in them exist and have the options used. */
async function expectKnownWords({ text, language }: CodeBlock): Promise<void> {
  if (language === '') return;
  const joined = text.replaceAll('\\\n', ' ').replace(/[[\]',]/g, ' ');
  for (const [, name = '', rest = ''] of joined.matchAll(/\bwindrow +(serve|client|user)\b([^\n]*)/g)) {
    const command = Object.entries(commands).find(([known]) => known === name)?.[1];
    const { options = [] } = Object(await command?.());
    const flags = Array.from(options, (option) => Object(option).flag);
    for (const [flag] of rest.matchAll(/--[a-z-]+/g)) expect(flags, `windrow ${name} ${flag}`).toContain(flag);
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The commands of a block, each after a `$`, and the output shown below each. */
function shownRuns({ text }: CodeBlock): { command: string; text: string }[] {
  return text
    .split(/^\$ /m)
    .filter((part) => part !== '')
    .map((part) => {
      const [command = '', ...lines] = part.split('\n');
      return { command, text: lines.join('\n') };
    });
}
