import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { createWorld } from './world.js';

describe('arguments', () => {
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

  it('paragraphs of the help are filled and wrapped; only examples are as long as they are', async () => {
    for (const name of [...Object.keys(commands), 'client add', 'retention set']) {
      const { stdout } = await createWorld().run(...name.split(' '), '--help');
      const [text = ''] = stdout.split('\nExamples:');
      const lines = text.split('\n');
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      const [, notes = ''] = text.split(/\n {2}-h, --help .*\n/);
      const ofNotes = notes.split('\n');
      const isBroken = (line: string, index: number): boolean => {
        const [word = ''] = ofNotes[index + 1]?.split(' ') ?? [];
        return line !== '' && !line.startsWith(' ') && word !== '' && line.length + 1 + word.length <= 80;
      };
      expect(ofNotes.filter(isBroken)).toEqual([]);
    }
  });

  it('the help lists every command and exit code', async () => {
    const { code, stdout } = await createWorld().run('--help');
    expect(code).toBe(0);
    for (const part of ['run', 'validate', 'explain', 'operations', 'plot', '0  done', '1  failed', '2  the request']) {
      expect(stdout).toContain(part);
    }
  });

  it.each(['--input', '--output', '--report', '--plot', '--rejects'])('an empty text is no file: %s', async (flag) => {
    const world = createWorld();
    const words = flag === '--input' ? [] : ['--input', world.write('office.csv', 'timestamp,value\n')];
    const { code, stderr } = await world.run('run', world.write('request.json', '[]'), ...words, flag, '');
    expect([code, stderr]).toEqual([2, expect.stringContaining(`expected ${flag} FILE, received an empty text; see`)]);
  });

  it('without arguments the help goes to standard error', async () => {
    const { code, stdout, stderr } = await createWorld().run();
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: windrow');
  });
});
