// The licences of third-party code that windrow distributes: in the package, and in the workbench, which is one file.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

/** The licence file of an installed package. */
function licenceOf(name: string): string {
  const file = readdirSync(`${root}node_modules/${name}`).find((one) => /^licen[cs]e/i.test(one));
  return read(`node_modules/${name}/${file}`).trim();
}

// Listed by hand: a list made by the build would always agree with it.
const PAGE = ['d3-array', 'preact', 'uplot'];
const PARQUET = ['fzstd', 'hyparquet', 'hyparquet-compressors', 'hysnappy'];
const COMMAND = ['commander', 'jsonc-parser'];

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
    for (const name of [...PAGE, ...PARQUET, ...COMMAND]) expect(text, name).toContain(licenceOf(name));
    // And no others: a package that a bundle newly contains has to be added above.
    expect(text.match(/^\S+ [\d.]+ \(.*\)$/gm)?.length).toBe(PAGE.length + PARQUET.length + COMMAND.length);
  });

  it('are in the workbench and its Parquet reader, which are distributed alone', () => {
    for (const name of PAGE) expect(read('dist/workbench.html'), name).toContain(licenceOf(name));
    for (const name of PARQUET) expect(read('dist/workbench-parquet.js'), name).toContain(licenceOf(name));
  });
});
