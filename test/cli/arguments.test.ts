import { Command as CommanderCommand } from 'commander';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Command, Given } from '../../src/cli/command.js';
import { readPlainArguments } from '../../src/cli/plain-arguments.js';
import { addCommand } from '../../src/cli/program.js';
import { runOptions } from '../../src/cli/run-options.js';
import { createWorld } from './world.js';

const command: Command = {
  name: 'run',
  summary: '',
  argument: { name: 'REQUEST.json', summary: '' },
  options: runOptions,
  examples: [],
  act: async () => 0,
};

function readByCommander(words: readonly string[]): Given | undefined {
  let given: Given | undefined;
  const program = new CommanderCommand().exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
  addCommand(program, command, (read) => {
    given = read;
  });
  try {
    program.parse(['run', ...words], { from: 'user' });
  } catch {
    return undefined;
  }
  return given;
}

describe('arguments', () => {
  it('read the short way are read by commander alike', () => {
    const flags = fc.constantFrom(...runOptions.map(({ flag }) => flag), '--chun', '--', '-x');
    const word = fc.constantFrom('a.json', 'b.csv', '-', '10', '', 'x=y');
    const words = fc.array(
      fc.oneof(
        flags,
        word,
        fc.tuple(flags, word).map(([flag, value]) => `${flag}=${value}`),
      ),
      { maxLength: 8 },
    );
    let plainCount = 0;
    fc.assert(
      fc.property(words, (given) => {
        const plain = readPlainArguments(command, given);
        if (plain === undefined) return;
        plainCount++;
        expect(sorted(readByCommander(given))).toEqual(sorted(plain));
      }),
      { numRuns: 5000 },
    );
    expect(plainCount).toBeGreaterThan(100);
  });

  it('every command has help with examples', async () => {
    const world = createWorld();
    const groups = ['client', 'user', 'collection'].flatMap((group) =>
      ['add', 'list', 'remove'].map((command) => `${group} ${command}`),
    );
    for (const name of ['run', 'validate', 'explain', 'operations', 'plot', ...groups]) {
      const { code, stdout, stderr } = await world.run(...name.split(' '), '--help');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: windrow ${name} [\\s\\S]*\nExamples:\n  # .*\n  windrow ${name}`));
      const words = name.split(' ');
      const asked = await world.run(...words.slice(0, -1), 'help', ...words.slice(-1));
      expect(asked.stdout).toBe(stdout);
    }
  });

  it('the help names every command and exit code', async () => {
    const { code, stdout } = await createWorld().run('--help');
    expect(code).toBe(0);
    for (const part of ['run', 'validate', 'explain', 'operations', 'plot', '0  done', '1  failed', '2  the request']) {
      expect(stdout).toContain(part);
    }
  });

  it('without any, the help goes to standard error', async () => {
    const { code, stdout, stderr } = await createWorld().run();
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: windrow');
  });
});

function sorted(given: Given | undefined): unknown {
  return given && { argument: given.argument, options: [...given.options].sort(([a], [b]) => (a < b ? -1 : 1)) };
}
