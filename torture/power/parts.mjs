// The parts of the service that a workload and its check need separately, bundled from the sources.

import { symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const SOURCE = `
export { startServer } from './src/service/server.ts';
export { openSqliteStorage } from './src/storage/sqlite/open.ts';
export { checkpointOften } from './test/storage/crash/checkpoint-often.ts';
export { createSampleStore } from './src/storage/samples/store.ts';
export { shardOf, IDENTITY_SHARD } from './src/storage/shard.ts';
export { tokens } from './src/storage/tables/identity.ts';
export { events, NEVER } from './src/storage/tables/events.ts';
`;

/** Writes the bundle into a folder; returns its URL. */
export async function bundleParts(folder) {
  const outfile = join(folder, 'parts.mjs');
  await build({
    stdin: { contents: SOURCE, resolveDir: resolve('.'), loader: 'ts' },
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  // The bundle finds the remaining packages where the sources do.
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  return pathToFileURL(outfile).href;
}
