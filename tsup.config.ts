import { defineConfig, type Options } from 'tsup';

const shared: Options = {
  target: 'node20',
  sourcemap: true,
  splitting: true,
  // Packages stay packages: tsup by itself would take the optional ones into dist.
  skipNodeModulesBundle: true,
  // tsup would turn `node:sqlite` into `sqlite`, which Node does not know.
  removeNodeProtocol: false,
};

export default defineConfig([
  {
    ...shared,
    name: 'library',
    entry: { index: 'src/index.ts', csv: 'src/formats/csv/index.ts' },
    format: ['esm', 'cjs'],
    outDir: 'dist',
    clean: ['!cli/**'],
    dts: true,
  },
  {
    ...shared,
    name: 'command',
    // The shebang of main.ts is kept, and tsup makes the output executable.
    entry: { main: 'src/cli/main.ts' },
    // What a start costs is mostly reading code: of luxon the command takes the time zones alone, and less text.
    noExternal: ['luxon'],
    // Not the identifiers: an unexpected error shows its stack.
    esbuildOptions: (options) => {
      options.minifyWhitespace = true;
      options.minifySyntax = true;
    },
    format: ['esm'],
    outDir: 'dist/cli',
    clean: true,
  },
]);
