import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { createWorld } from './world.js';

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout, stderr } = await createWorld().run('completion', shell);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout;
}

function has(shell: string): boolean {
  return process.env.CI !== undefined || spawnSync(shell, ['--version']).status === 0;
}

function inShell(shell: string, script: string, input: string): string {
  const { stdout, stderr, status } = spawnSync(shell, ['-c', script], { input, encoding: 'utf8' });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout;
}

describe('windrow completion bash', () => {
  const askBash = async (...words: string[]): Promise<string[]> => {
    const answers = '"$' + '{COMPREPLY[@]}"';
    const ask = `eval "$(cat)"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _windrow; printf "%s\\n" ${answers}`;
    const { stdout, stderr } = spawnSync('bash', ['-c', ask, 'bash', 'windrow', ...words], {
      input: await scriptFor('bash'),
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return stdout.split('\n').filter((line) => line !== '');
  };

  it.each<[words: string[], answers: string[]]>([
    [['exp'], ['explain']],
    [['re'], ['retention', 'restore']],
    [['run', '--mo'], ['--mode']],
    [
      ['run', 'request.json', '--mode', ''],
      ['batch', 'stream'],
    ],
    [
      ['operations', 'Agg'],
      ['Aggregate', 'AggregatePipeline'],
    ],
    [
      ['client', ''],
      ['add', 'list', 'remove', 'unlock'],
    ],
    [['client', 'add', '--or'], ['--org']],
    [['help', 'val'], ['validate']],
    [['completion', 'f'], ['fish']],
    [['run', 'CHANGEL'], ['CHANGELOG.md']],
    [['run', '--timezone', 'Europe/Berl'], ['Europe/Berlin']],
    [['init', 'a.csv', '--timezone', 'UT'], ['UTC']],
    [['run', '--layout', 'w'], ['wide']],
    [['run', '--output-format', 'p'], ['parquet']],
    // A text of one's own is no file.
    [['why', 'request.json', '--at', ''], []],
  ])('%j', async (words, answers) => {
    expect(await askBash(...words)).toEqual(answers);
  });

  it('offers a file whose name has spaces as one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windrow-completion-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const name of ['supply air.csv', 'supply water.csv']) writeFileSync(join(folder, name), '');
    const found = await askBash('run', '--input', `${folder}/supply`);
    expect(found.sort()).toEqual([`${folder}/supply air.csv`, `${folder}/supply water.csv`]);
  });

  it('offers every command', async () => {
    expect(await askBash('')).toEqual(expect.arrayContaining(Object.keys(commands)));
  });
});

describe.runIf(has('zsh'))('windrow completion zsh', () => {
  it('is a script that zsh accepts', async () => {
    inShell('zsh', 'script=$(cat); eval "$script"; whence -w _windrow', await scriptFor('zsh'));
  });
});

describe.runIf(has('fish'))('windrow completion fish', () => {
  it.each([
    ['windrow expl', 'explain\tExplain a request'],
    ['windrow run --mode s', 'stream\tbatch or stream'],
    ['windrow client a', 'add\tAdd a client'],
    ['windrow operations Resa', 'Resample\tan operation'],
    ['windrow run --timezone Europe/Berl', 'Europe/Berlin\t'],
    ['windrow plot a.csv --timezone Asia/Tok', 'Asia/Tokyo\t'],
  ])('%s', async (line, answer) => {
    expect(inShell('fish', `cat | source; complete -C '${line}'`, await scriptFor('fish'))).toContain(answer);
  });
});

it('an unknown shell is refused', async () => {
  const { code, stderr } = await createWorld().run('completion', 'tcsh');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'windrow: completion: expected one of bash, zsh, fish, received "tcsh"\n',
  });
});
