// The project's own programs (benchmarks, and those that try to break the service), called with words they do not know.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

const programs = ['bench', 'scripts', 'torture']
  .flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((path) => path.endsWith('.mjs') && !path.includes('node_modules'))
  .map((path) => ({ path, source: readFileSync(root + path, 'utf8') }))
  .filter(({ source }) => /readOptions\(\s*import\.meta\.url/.test(source));

describe('a program of the project', () => {
  it('is found', () => {
    expect(programs.length).toBeGreaterThanOrEqual(11);
  });

  it.each(programs)('$path --help names its options', ({ path, source }) => {
    const help = execFileSync(process.execPath, [path, '--help'], { cwd: root, encoding: 'utf8' });
    const names = Array.from(
      source.matchAll(/'?([\w-]+)'?: \{ type: '(?:string|number|boolean)'/g),
      ([, name]) => name,
    );
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(help).toContain(`--${name}`);
  });

  it.each(programs)('$path refuses what it does not know in one line', ({ path }) => {
    const { status, stderr } = spawnSync(process.execPath, [path, '--nope'], { cwd: root, encoding: 'utf8' });
    expect(stderr).toMatch(/^Unknown option '--nope'.*; --help lists the options\n$/);
    expect(status).toBe(2);
  });
});
