import { defineConfig, type Options } from 'tsup';

const shared: Options = {
  target: 'node20',
  platform: 'node',
  sourcemap: true,
  splitting: true,
  treeshake: true,
};

export default defineConfig([
  {
    ...shared,
    name: 'library',
    entry: { index: 'src/index.ts', csv: 'src/formats/csv/index.ts' },
    format: ['esm', 'cjs'],
    // luxon and nothing else: the library's doors run in a browser too.
    platform: 'neutral',
    dts: true,
  },
  {
    ...shared,
    name: 'command',
    entry: { 'cli/main': 'src/cli/main.ts' },
    format: ['esm'],
    // The shebang in src/cli/main.ts is kept, and makes the output executable.
  },
]);
