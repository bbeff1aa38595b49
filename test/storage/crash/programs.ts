import { symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'tsup';
import { temporaryDirectory } from '../open-temporary.js';

/** The programs of this folder as files that Node runs. */
export async function buildPrograms(...names: readonly string[]) {
  const programs = temporaryDirectory();
  // What the program does not bundle it finds as the sources do.
  symlinkSync(resolve('node_modules'), join(programs.path, 'node_modules'));
  await build({
    entry: Object.fromEntries(names.map((name) => [name, `test/storage/crash/${name}.ts`])),
    outDir: programs.path,
    outExtension: () => ({ js: '.mjs' }),
    format: ['esm'],
    target: 'node20',
    removeNodeProtocol: false,
    config: false,
    skipNodeModulesBundle: true,
    silent: true,
  });
  return { pathOf: (name: string) => join(programs.path, `${name}.mjs`), remove: programs.remove };
}
