import { readFile, writeFile } from 'node:fs/promises';
import { transform } from 'esbuild';
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

const library: Options = {
  ...shared,
  entry: { index: 'src/index.ts', csv: 'src/formats/csv/index.ts', service: 'src/service/index.ts' },
  outDir: 'dist',
  clean: ['!cli/**'],
};

/**
 * Writes a CommonJS twin beside each module. Its doors share their chunks as the modules do, so that an error of
 * `windrow/csv` is a WindrowError of `windrow`. tsup's own way lowers `?.` to closures, which the engine would pay for,
 * and breaks classes that are minified.
 */
async function writeTwin({ name }: { readonly name: string }): Promise<void> {
  if (!name.endsWith('.js')) return;
  const text = (await readFile(name, 'utf8')).replace(/^\/\/# sourceMappingURL=.*$/m, '');
  // CommonJS has no import.meta: the place of the file is told by its own name.
  const define = { 'import.meta.url': 'moduleUrl' };
  const twin = await transform(text, { format: 'cjs', target: 'node20', minify: true, define });
  const isPlaced = twin.code.includes('moduleUrl');
  const code = isPlaced ? `var moduleUrl=require('node:url').pathToFileURL(__filename).href;${twin.code}` : twin.code;
  await writeFile(name.replace(/js$/, 'cjs'), code.replace(/(["']\.\/[\w-]+)\.js(["'])/g, '$1.cjs$2'));
}

const PURE_MARK = '/* @__PURE__ */ ';
/** As long as the mark without its spaces, so that places in the source map stay true. */
const PURE_OPERAND = '$pure_call_$-';

/**
 * By marks of pure calls an application's bundler leaves out what nobody asks for, but with white space esbuild drops
 * them (evanw/esbuild#1990, by design). So it reads an operand for each, and what it has printed is marked again.
 */
const marksRead: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'marks read',
  setup: (build) => {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return { contents: text.replaceAll(PURE_MARK, PURE_OPERAND), loader: 'ts' };
    });
  },
};

const marksPrinted: NonNullable<Options['plugins']>[number] = {
  name: 'marks printed',
  renderChunk: (code) => ({ code: code.replaceAll(PURE_OPERAND, PURE_MARK.replaceAll(' ', '')) }),
};

const command: Options = {
  ...shared,
  outDir: 'dist/cli',
  // What a start costs is mostly reading code. Not the identifiers: an unexpected error shows its stack.
  esbuildOptions: (options) => {
    options.minifyWhitespace = true;
    options.minifySyntax = true;
  },
};

/** What `main.ts` loads of the whole program stays the program's own: modules, in pieces. */
const programApart: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'program apart',
  setup: (build) => {
    build.onResolve({ filter: /^\.\/start\.js$/ }, () => ({ path: './start.mjs', external: true }));
  },
};

export default defineConfig([
  {
    ...library,
    name: 'library',
    format: ['esm'],
    // Who imports it waits until it is read; `scripts/weight.mjs` says how long. Source maps lie beside it.
    minify: true,
    esbuildPlugins: [marksRead],
    plugins: [
      marksPrinted,
      {
        name: 'CommonJS twins',
        buildEnd: async ({ writtenFiles }) => {
          await Promise.all(writtenFiles.map(writeTwin));
        },
      },
    ],
  },
  {
    ...library,
    name: 'types',
    clean: false,
    format: ['esm', 'cjs'],
    dts: { only: true },
  },
  {
    ...command,
    name: 'program',
    entry: { start: 'src/cli/start.ts' },
    format: ['esm'],
    outExtension: () => ({ js: '.mjs' }),
    // Each of the two leaves alone what is the other's.
    clean: ['!*.js', '!*.js.map', '!package.json'],
  },
  {
    ...command,
    name: 'command',
    // The shebang of main.ts is kept, and tsup makes the output executable.
    // The workers are files of their own: a thread of the command, or of the service, loads one of them, and no more.
    entry: {
      main: 'src/cli/main.ts',
      local: 'src/cli/local.ts',
      'scan-worker': 'src/cli/scan-worker.ts',
      'step-worker': 'src/service/operations/compute/step-worker.ts',
    },
    format: ['cjs'],
    outExtension: () => ({ js: '.js' }),
    splitting: false,
    clean: ['!*.mjs', '!*.mjs.map'],
    esbuildPlugins: [programApart],
    plugins: [
      {
        name: 'CommonJS folder',
        buildEnd: () => writeFile('dist/cli/package.json', '{ "type": "commonjs" }\n'),
      },
    ],
  },
]);
