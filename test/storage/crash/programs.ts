import { symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'tsup';
import { temporaryDirectory } from '../open-temporary.js';

/** Bundles programs of this folder into files that Node can run. */
export async function buildPrograms(...names: readonly string[]) {
  const programs = temporaryDirectory();
  // The bundle finds the remaining packages where the sources do.
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
