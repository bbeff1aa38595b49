import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { build, transform } from 'esbuild';
import { minify } from 'terser';
import { defineConfig, type Options } from 'tsup';

const shared: Options = {
  target: 'node20',
  sourcemap: true,
  splitting: true,
  // Packages stay packages: tsup by itself would take the optional ones into dist.
  skipNodeModulesBundle: true,
  // tsup would turn `node:sqlite` into `sqlite`, which Node does not know.
  removeNodeProtocol: false,
  // The same numbers as short as they can be: 100 bytes of the packed core, 200 of the library.
  define: { 'Number.POSITIVE_INFINITY': 'Infinity', 'Number.NEGATIVE_INFINITY': '-1e999', 'Number.NaN': 'NaN' },
};

const library: Options = {
  ...shared,
  entry: {
    index: 'src/index.ts',
    csv: 'src/formats/csv/index.ts',
    every: 'src/engine/every/index.ts',
    inspect: 'src/inspect/index.ts',
    service: 'src/service/index.ts',
  },
  outDir: 'dist',
  clean: ['!cli/**'],
};

const command: Options = {
  ...shared,
  format: ['esm'],
  // Parts of it, so that help and messages need no package. As CommonJS, commander requires modules of Node. And typebox
  // and uuid, as to find and read their 400 files took half of the time of `windrow client list`.
  noExternal: ['commander', 'jsonc-parser', 'typebox', 'uuid'],
  banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  // Not the identifiers: an unexpected error shows its stack.
  esbuildOptions: (options) => {
    options.minifyWhitespace = true;
    options.minifySyntax = true;
    options.mainFields = ['module', 'main'];
  },
};

/**
 * Removes white space and comments from a module: importing it takes as long as reading it. terser keeps `@__PURE__`, by
 * which bundlers leave out what nobody uses; esbuild removes it with the white space (evanw/esbuild#1990).
 */
async function removeSpace({ name }: { readonly name: string }): Promise<void> {
  if (!name.endsWith('.js')) return;
  const [text, map] = await Promise.all([readFile(name, 'utf8'), readFile(`${name}.map`, 'utf8')]);
  const packed = await minify(text, {
    module: true,
    compress: false,
    mangle: false,
    // Node shows the line of an error that nobody catches.
    format: { preserve_annotations: true, comments: false, max_line_len: 3000 },
    sourceMap: { content: map, url: `${basename(name)}.map` },
  });
  if (packed.code === undefined) throw new Error(`terser gave no code for ${name}`);
  await Promise.all([writeFile(name, packed.code), writeFile(`${name}.map`, String(packed.map))]);
}

/**
 * Writes a CommonJS twin beside each module. Its entry points share their chunks as the modules do, so that an error of
 * `windrow/csv` is a WindrowError of `windrow`. tsup's own way lowers `?.` to closures, which the engine would pay for,
 * and breaks classes that are minified.
 */
async function writeTwin({ name }: { readonly name: string }): Promise<void> {
  if (!name.endsWith('.js')) return;
  const text = (await readFile(name, 'utf8')).replace(/^\/\/# sourceMappingURL=.*$/m, '');
  // CommonJS has no import.meta: the place of the file is told by its own name.
  const define = { 'import.meta.url': 'moduleUrl' };
  const twin = await transform(text, { format: 'cjs', target: 'node20', minify: true, define, lineLimit: 1000 });
  const isPlaced = twin.code.includes('moduleUrl');
  const code = isPlaced ? `var moduleUrl=require('node:url').pathToFileURL(__filename).href;${twin.code}` : twin.code;
  await writeFile(name.replace(/js$/, 'cjs'), code.replace(/(["']\.\/[\w-]+)\.js(["'])/g, '$1.cjs$2'));
}

/** Writes the schema of a request, which its operations make. */
async function writeSchema(): Promise<void> {
  const entryPoints = ['src/plan/request-schema.ts'];
  const { outputFiles } = await build({ entryPoints, bundle: true, format: 'esm', write: false });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64');
  const { requestSchema } = await import(`data:text/javascript;base64,${code}`);
  await writeFile('dist/request.schema.json', `${JSON.stringify(requestSchema(), null, 1)}\n`);
}

export default defineConfig([
  {
    ...library,
    name: 'library',
    format: ['esm'],
    // `scripts/weight.mjs` says how long an import takes.
    esbuildOptions: (options) => {
      options.minifySyntax = true;
      options.minifyIdentifiers = true;
    },
    plugins: [
      {
        name: 'less to read, and CommonJS twins',
        buildEnd: async ({ writtenFiles }) => {
          await Promise.all([...writtenFiles.map(removeSpace), writeSchema()]);
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
    // A run is disposable: compilers that target no library with `Disposable` read its types here.
    dts: { only: true, banner: '/// <reference lib="esnext.disposable" />' },
  },
  {
    ...command,
    name: 'command',
    outDir: 'dist/cli',
    // The shebang of main.ts is kept, and tsup makes the output executable. The workers are files of their own: a
    // thread of the command, or of the service, loads one of them, and no more.
    entry: {
      main: 'src/cli/main.ts',
      'csv-worker': 'src/formats/csv/threaded/worker.ts',
      'store-worker': 'src/service/store-thread/store-worker.ts',
      'step-worker': 'src/service/operations/compute/step-worker.ts',
    },
    clean: ['!run/**'],
    external: ['./run/process.js'],
  },
  {
    ...command,
    name: 'run',
    outDir: 'dist/cli/run',
    // Apart from the others, whose shared chunks would cut it into more than twenty files: each takes time to load.
    entry: { process: 'src/cli/run/process.ts' },
    clean: true,
  },
]);
