// The licences of third-party code that windrow distributes: in the package, and in the workbench, which is one file.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

/** The licence of a package as it came, and its notice, if it has one. */
function licenceOf(name: string): string {
  const files = readdirSync(`${root}node_modules/${name}`).filter((one) => /^(licen[cs]e|notice)/i.test(one));
  return files.map((file) => read(`node_modules/${name}/${file}`).trim()).join('\n\n');
}

// Listed by hand: a list made by the build would always agree with it.
const PAGE = ['d3-array', 'preact', 'uplot'];
const FORMATS = ['apache-arrow', 'flatbuffers', 'fzstd', 'hyparquet', 'hyparquet-compressors', 'hysnappy', 'tslib'];
const COMMAND = ['commander', 'jsonc-parser', 'typebox', 'uuid'];

describe('the licences of what dist contains', () => {
  it('are in the package, complete', () => {
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
    });
    const [{ files }] = JSON.parse(stdout);
    const names: string[] = files.map(({ path }: { path: string }) => path);
    for (const name of ['LICENSE', 'dist/THIRD-PARTY.txt', 'docs/examples/LICENSE-NAB.txt'])
      expect(names).toContain(name);
    const text = read('dist/THIRD-PARTY.txt');
    for (const name of [...PAGE, ...FORMATS, ...COMMAND]) expect(text, name).toContain(licenceOf(name));
    // And of nothing else: a package that a bundle takes in is to be added above.
    expect(text.match(/^\S+ [\d.]+ \(.*\)$/gm)?.length).toBe(PAGE.length + FORMATS.length + COMMAND.length);
  });

  it('go with the workbench and its readers of files, which are handed on alone', () => {
    for (const name of PAGE) expect(read('dist/workbench.html'), name).toContain(licenceOf(name));
    for (const name of FORMATS) expect(read('dist/workbench-formats.js'), name).toContain(licenceOf(name));
  });
});
