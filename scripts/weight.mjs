// Measures the size of the library: its core, as bundled into an application that plans, runs and streams, with only
// the interface's operations and with all of them; the whole library with `explain` and `operations` of
// `windrow/inspect`, bundled likewise; and how long an import of `windrow` takes in a new process. Sizes are the same
// everywhere, so exceeding a limit fails; times depend on the machine, and fail only far above the limit.
//
//   node scripts/weight.mjs        after `npm run build`

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const srcPath = fileURLToPath(new URL('../src/', import.meta.url));
const distPath = fileURLToPath(new URL('../dist/', import.meta.url));

const KILOBYTE = 1024;
const CORE_BYTES_GOAL = 37.5 * KILOBYTE;
/** The current sizes plus a little; docs/architecture.md says what weighs how much. */
const CORE_BYTES_MAX = 39.9 * KILOBYTE;
/** What the extensions add to the core; docs/architecture.md says why they have a limit of their own. */
const EXTENSIONS_BYTES_MAX = 19.3 * KILOBYTE;
const WHOLE_BYTES_MAX = 79.3 * KILOBYTE;
/** What an import of `windrow` reads, as it is published: nearly all of its time follows from it. */
const READ_BYTES_MAX = 179 * KILOBYTE;
const IMPORT_MS_GOAL = 15;
/** CI machines are slow and busy; more than this is not noise. */
const IMPORT_MS_MAX = 100;
const PROCESS_COUNT = 15;

/** The size of a text, plain and packed. */
function sizeOf(text) {
  return { plain: Buffer.byteLength(text), gzip: gzipSync(text, { level: 9 }).length };
}

/** Empty lists in place of the extensions; the alignments lie apart, as operations of the interface import them. */
const NOTHING = `export const extensions = [], windowParameters = {}, windowIn = () => {};
export const moreFunctionNames = [], pairFunctionNames = [], inputsOfAggregate = undefined;
export const moreFunctions = new Map(), heldFunctions = new Map(), pairFunctions = new Map();
export const alignParameters = {}, checkAlign = () => {}, matcherOf = () => {};
export const ownParameters = {}, pairParameters = {}, ownFunctionsWith = {};
export const checkOwn = () => {}, checkInputs = () => {}, pairsInto = undefined, openBetween = undefined;`;

const withoutExtensions = {
  name: 'without extensions',
  setup: ({ onLoad }) => {
    onLoad({ filter: /operations.extensions.(index|align)\.ts$/ }, () => ({ contents: NOTHING }));
  },
};

/** What a statement imports, bundled for a browser with its WebAssembly, after tree-shaking. */
async function bundleSize(contents, plugins = []) {
  const options = { bundle: true, minify: true, format: 'esm', platform: 'browser', target: 'es2022', write: false };
  // As tsup.config.ts has it.
  const define = { 'Number.POSITIVE_INFINITY': 'Infinity', 'Number.NEGATIVE_INFINITY': '-1e999', 'Number.NaN': 'NaN' };
  const { outputFiles } = await build({ ...options, define, plugins, stdin: { contents, resolveDir: srcPath } });
  return sizeOf(outputFiles[0].text);
}

/** The bytes of a file of `dist` and of those that it imports, each once. */
function readBytesOf(entry) {
  const read = new Map([[entry, '']]);
  for (const name of read.keys()) {
    const text = readFileSync(join(distPath, name), 'utf8');
    read.set(name, text);
    for (const [, imported] of text.matchAll(/\b(?:import|from)"\.\/([^"]+)"/g)) {
      if (!read.has(imported)) read.set(imported, '');
    }
  }
  return Buffer.byteLength([...read.values()].join(''));
}

/** Milliseconds that the import takes in new processes: the least, and the median. */
function importMsOf(entry) {
  const url = JSON.stringify(pathToFileURL(join(distPath, entry)).href);
  const script = `const from = performance.now(); await import(${url}); console.log(performance.now() - from);`;
  const times = Array.from({ length: PROCESS_COUNT }, () => {
    return Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));
  }).sort((a, b) => a - b);
  return { least: times[0], median: times[PROCESS_COUNT >> 1] };
}

const coreText = "export { createPlan, runBatch, openStream, restoreStream } from './index.js';";
const core = await bundleSize(coreText, [withoutExtensions]);
const all = await bundleSize(coreText);
const extensionBytes = all.gzip - core.gzip;
const whole = await bundleSize("export * from './index.js'; export { explain, operations } from './inspect/index.js';");
const readBytes = readBytesOf('index.js');
const time = importMsOf('index.js');
const kilobytes = (count) => `${(count / KILOBYTE).toFixed(1)} kB`;
const told = ({ plain, gzip }) => `${kilobytes(plain)}, ${kilobytes(gzip)} gzip`;
console.log(`the core with the interface's operations, bundled with its WebAssembly: ${told(core)}`);
console.log(`  the goal is ${kilobytes(CORE_BYTES_GOAL)}, and ${kilobytes(CORE_BYTES_MAX)} is too much`);
console.log(`the core with all operations: ${told(all)}`);
console.log(`  ${kilobytes(extensionBytes)} more, and ${kilobytes(EXTENSIONS_BYTES_MAX)} more is too much`);
console.log(`the whole library, with explain and operations of windrow/inspect, bundled: ${told(whole)}`);
console.log(`  ${kilobytes(WHOLE_BYTES_MAX)} is too much`);
console.log(`an import of windrow reads ${kilobytes(readBytes)}`);
console.log(`  ${kilobytes(READ_BYTES_MAX)} is too much`);
console.log(
  `cold, ${PROCESS_COUNT} processes: ${time.least.toFixed(1)} ms at least, ${time.median.toFixed(1)} ms in the median`,
);
console.log(`  the goal is ${IMPORT_MS_GOAL} ms, and ${IMPORT_MS_MAX} ms is too much on any machine`);

const isHeavy = core.gzip > CORE_BYTES_MAX || extensionBytes > EXTENSIONS_BYTES_MAX || whole.gzip > WHOLE_BYTES_MAX;
if (isHeavy || readBytes > READ_BYTES_MAX || time.least > IMPORT_MS_MAX) {
  console.error('the library weighs too much');
  process.exitCode = 1;
}
