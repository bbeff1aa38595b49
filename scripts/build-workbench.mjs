// Builds the workbench (src/workbench) into one static HTML file, dist/workbench.html, with script and style inside;
// its Content-Security-Policy lists both by their hashes. dist/workbench-formats.js reads the formats beside CSV.
//
//   node scripts/build-workbench.mjs

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { minify } from 'terser';
import { licencesOf, packagesOf, writeThirdParty } from './third-party.mjs';
import { withoutUnusedOfUplot } from './unused-of-uplot.mjs';

const rootUrl = new URL('../', import.meta.url);
/** 150 kB, of 1000 bytes each. */
const PACKED_BYTES_MAX = 150_000;
const HOUR_MS = 3_600_000;
/** The replacements that have changed no file yet. */
const unused = new Set();
/** The letter for no difference; the letters after it stand for growing differences, alternately below and above. */
const FIRST_LETTER = 35;

/** The sample series from docs/examples, small enough for the page; `src/workbench/samples.ts` reads them. */
function sampleData() {
  return {
    heating: packed('docs/examples/heating-circuit.csv', 900_000),
    office: packed('docs/examples/office-two-weeks.csv', HOUR_MS),
  };
}

/**
 * Rows at even times, split at gaps. Each column has a letter per row: the difference from the row before in tenths.
 */
function packed(path, stepMs) {
  const [header, ...rows] = readText(path).trim().split('\n');
  const names = header.split(',').slice(1);
  const parts = [];
  const before = names.map(() => 0);
  for (const row of rows) {
    const [time, ...values] = row.split(',');
    const timeMs = Date.parse(`${time.replace(' ', 'T').replace('Z', '')}Z`);
    let part = parts.at(-1);
    if (part === undefined || timeMs !== part.startMs + part.columns[0].length * stepMs) {
      part = { startMs: timeMs, columns: names.map(() => '') };
      parts.push(part);
    }
    for (const [index, value] of values.entries()) {
      const tenths = value === '' ? before[index] : Math.round(Number(value) * 10);
      const more = tenths - before[index];
      before[index] = tenths;
      const code = FIRST_LETTER + (more < 0 ? -2 * more - 1 : 2 * more);
      part.columns[index] += value === '' ? ' ' : String.fromCharCode(code);
    }
  }
  return { stepMs, names, parts };
}

/**
 * The recipes of docs/recipes.md that read one series: title, question, and steps in the form that `src/workbench`
 * reads.
 */
function recipes() {
  const sections = readText('docs/recipes.md').split(/^## /m).slice(1);
  return sections.flatMap((section) => {
    const [, title, question, json] = /^(.+)\n\n([\s\S]+?)\n\n```json\n([\s\S]+?)```/.exec(section);
    const [{ operations }] = JSON.parse(json);
    const ids = operations.flatMap(({ input, output }) => [...input, ...output].map((one) => one.timeseriesId));
    if (new Set(ids).size > 1) return [];
    const steps = operations.map(({ operation, input, output, parameters = {} }) => {
      return [operation, input.map(({ metric }) => metric), output[0].metric, parameters];
    });
    return [[title, question.replaceAll('\n', ' '), steps]];
  });
}

// Replacements of sources in the page, to keep it small. One that finds nothing to replace any more ends the build: its
// library, or our own code, has changed, and the page would silently grow or keep what it must not have.

// WebAssembly kernels would be a tenth of the page and need a policy that allows compiling code. Without them the
// JavaScript loops run, which give the same bits.
const WITHOUT_KERNELS = {
  'open-module': 'export const openModule = () => undefined;',
  module: "export const kernelsText = '';",
  'scan-fields': 'export const FieldScanner = { open: () => undefined };',
  'scan-input': 'export const beginScan = () => {};',
  'scan-pairs': `export const scanned = { end: 0 };
    export const scanColumns = () => undefined;
    export const scanPairs = (bytes, from) => ((scanned.end = from), 0);`,
};
const withoutWebAssembly = [
  ...Object.entries(WITHOUT_KERNELS).map(([name, contents]) =>
    replacing(new RegExp(`kernels[/\\\\]${name}\\.ts$`), () => contents),
  ),
  replacing(/kernels[/\\](?:arithmetic|check|compare|points|round|select|windows)\.ts$/, (text) =>
    text.replace(/\bsimdFor\([^;:]*\)(?=;| :)/g, 'undefined').replace(/\bdoneBy\(simd, count\)/g, '0'),
  ),
  replacing(/read[/\\]long-scan\.ts$/, () => 'export const scanLong = (state, capacity, bytes, from) => from;'),
  replacing(/read[/\\]table-scan\.ts$/, (text) =>
    text.replace(/^(export function scanTable\([^{]*\{)$[\s\S]*?^\}$/m, '$1 return from; }'),
  ),
];

// The page takes no checkpoints of its streams, runs plans with patterns as those of their members, warms none up,
// makes a plan for each run, and names the options itself. Its requests are lists.
const NONE = "const none = () => { throw new Error('assertion failed: the page has no use for this'); };";
const withoutUnused = [
  replacing(
    /engine[/\\]checkpoint[/\\]stream-checkpoint\.ts$/,
    () =>
      `${NONE} export { none as readCheckpoint, none as readCounts, none as writeCheckpoint, none as writeCounts };`,
  ),
  replacing(/engine[/\\]every[/\\]parts\.ts$/, () => `${NONE} export { none as partsOf };`),
  replacing(
    /engine[/\\]graph[/\\]graph-cache\.ts$/,
    () => 'export const GraphCache = class { take() { return undefined; } keep() {} };',
  ),
  replacing(/engine[/\\]batch[/\\]run-batch\.ts$/, (text) =>
    text.replace(/^(function warmUp\(.*inputs: .*\{)$[\s\S]*?^\}$/m, '$1 return inputs; }'),
  ),
  replacing(/engine[/\\]options\.ts$/, (text) =>
    text
      .replace(/^(export function readWarmup\(.*\{)$[\s\S]*?^\}$/m, '$1 return 0; }')
      .replace(/^ {2}if \(typeof clock .*$/m, ''),
  ),
  replacing(/plan[/\\]patterns\.ts$/, (text) => text.replace(/^ {2}if \('items' in request\) .*$/m, '')),
  replacing(/plan[/\\]plan\.ts$/, (text) =>
    text
      .replace(/^const NAMES = .*$/m, "const NAMES = '';")
      .replace(/^(export function checkOptions\(.*\{)$[\s\S]*?^\}$/m, '$1}'),
  ),
];

// Files are those of the page's user: lines of any length, and any number of blank ones and of series. No thread reads
// a part of one, and nobody waits for the first row, for a header of thousands of columns or for years of days in rows.
const withoutCsvLimits = [
  replacing(/csv[/\\]read[/\\]reader\.ts$/, (text) =>
    text.replace(/^( {2}(?:tellHeader|#check(?:Head|Line)|#failTooLong|#skip)\(.*\{)$[\s\S]*?^ {2}\}$/gm, '$1}'),
  ),
  replacing(/csv[/\\]head[/\\]head-reader\.ts$/, (text) =>
    text.replace(/^( {2}\*#tellUsual\(.*\{)$[\s\S]*?^ {2}\}$/m, '$1 return undefined; }'),
  ),
  replacing(/csv[/\\](?:read[/\\]reader|head[/\\](?:head-reader|header))\.ts$/, (text) =>
    text.replace(/^ +if \(.*(?:isWide|WIDE_COLUMNS).*\) yield;/gm, ''),
  ),
  replacing(/csv[/\\]read[/\\]rows\.ts$/, (text) => text.replace(/^.*#isUtc.*$/gm, '')),
  replacing(/csv[/\\]read[/\\]long\.ts$/, (text) =>
    text.replace(/^(function tooManySeries\(.*\{)$[\s\S]*?^\}$/m, '$1}'),
  ),
];

// Series come from the page's own readers, so their columns fit together.
const withoutChecks = replacing(/engine[/\\]check-input\.ts$/, (text) =>
  text.replace(/^(export function check(?:List|Columns)\(.*\{)$[\s\S]*?^\}$/gm, '$1}'),
);

// The messages of assertions are for developers of the engine, who do not use the page for that.
const withShortAssertions = replacing(/[/\\]src[/\\].*\.tsx?$/, (text) =>
  text.replace(/(assertion failed): [^'`"]*/g, '$1'),
);

// The page shows only the plainest worked example of each operation, with which a new step starts: all of them would
// be a fifteenth of the page.
const withPlainExamples = replacing(/[/\\]src[/\\]operations[/\\]texts[/\\]index\.ts$/, async (text, path) => {
  const bundled = await build({ entryPoints: [path], bundle: true, format: 'esm', platform: 'node', write: false });
  const { aboutByName } = await import(`data:text/javascript,${encodeURIComponent(bundled.outputFiles[0].text)}`);
  const weightOf = (example) => {
    const { inputs, parameters } = example;
    return 10_000 * inputs.length + 1000 * Object.keys(parameters).length + JSON.stringify(example).length;
  };
  const plainTexts = (name) => {
    const [{ examples, ...texts }] = aboutByName[name];
    const plainest = examples.reduce((least, one) => (weightOf(one) < weightOf(least) ? one : least));
    return JSON.stringify({ ...texts, examples: [plainest] });
  };
  const row = /^( {2}(?:(\w+)|'(.+)'): \[\s*)[\w.]+Texts,/gm;
  const rowCount = text.match(row)?.length;
  if (rowCount !== Object.keys(aboutByName).length) throw new Error(`${path} has ${rowCount} rows of this form`);
  // What several operations say of a parameter is there once.
  const shared = new Map();
  const withShared = (texts) =>
    texts.replace(/(?<=:)"[^"\\]{40,}"/g, (one) => {
      if (!shared.has(one)) shared.set(one, `shared${shared.size}`);
      return shared.get(one);
    });
  const rows = text.replace(row, (_, before, plain, quoted) => `${before}${withShared(plainTexts(plain ?? quoted))},`);
  return [...shared].map(([one, name]) => `const ${name} = ${one};\n`).join('') + rows;
});

// The page writes no requests with the builder.
const withoutMethods = replacing(/[/\\]src[/\\]operations[/\\].*\.ts$/, (text) =>
  text
    .replace(/^( +)methods: (?:\{.*\}|\{\n[\s\S]*?\n\1\}),$/gm, '$1methods: {},')
    .replace(/^(export const \w+ = \w+\()\{ \w+: \w+ \}, '/gm, "$1{}, '"),
);

// What the page says of a file has fields to choose from beside it, no options of the command.
const withoutFlags = replacing(/[/\\]src[/\\]formats[/\\](?:csv|table)[/\\].*\.ts$/, (text) =>
  text
    .split(/ \((?:such as )?--/)
    .map((part, index) => (index === 0 ? part : part.slice(closingOf(part) + 1)))
    .join('')
    // Nothing is left of the advice on hours.
    .replace(/^ +const isOfDays = [\s\S]*?^ +const hours = .*$/m, "const hours = '';"),
);

/** The place of the first `)` without a `(` before it. */
function closingOf(text) {
  let depth = 0;
  return [...text].findIndex((letter) => {
    if (letter === '(') depth++;
    if (letter === ')') depth--;
    return depth < 0;
  });
}

/** A plugin that lets `textOf` change the text of files with a matching name. */
function replacing(id, textOf) {
  const name = `replacing ${id}`;
  unused.add(name);
  const handler = async (text, path) => {
    const code = await textOf(text, path);
    if (code !== text) unused.delete(name);
    return { code };
  };
  return { name, transform: { filter: { id }, handler } };
}

// The page reads Parquet but does not write it. It unpacks Snappy by hyparquet's JavaScript instead of WebAssembly.
const ofParquet = [
  replacing(/formats[/\\]parquet[/\\]writer\.ts$/, () => 'export const openParquetWriter = undefined;'),
  replacing(
    /hysnappy[/\\]js[/\\]index\.js$/,
    () => 'export const snappyUncompress = undefined, snappyUncompressor = () => undefined;',
  ),
];

async function bundle(entry, { isSmallest }) {
  const bundler = await rolldown({
    input: fileURLToPath(new URL(entry, rootUrl)),
    platform: 'browser',
    // No property of the page or its libraries does anything when it is read, nor what d3-array makes as it is loaded.
    treeshake: { propertyReadSideEffects: false, manualPureFunctions: ['bisector', 'Blur2', 'shuffler'] },
    resolve: { extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
    transform: {
      target: 'es2022',
      jsx: { runtime: 'classic', pragma: 'h', pragmaFrag: 'Fragment' },
      inject: { h: ['preact', 'h'], Fragment: ['preact', 'Fragment'] },
      define: { SAMPLE_DATA: JSON.stringify(sampleData()), RECIPES: JSON.stringify(recipes()) },
    },
    plugins: [
      ...withoutWebAssembly,
      ...withoutUnused,
      ...withoutCsvLimits,
      withoutChecks,
      replacing(/[/\\]uPlot\.esm\.js$/, withoutUnusedOfUplot),
      ...ofParquet,
      withPlainExamples,
      withoutMethods,
      withoutFlags,
      withShortAssertions,
    ],
  });
  const { output } = await bundler.generate({ format: 'iife', minify: true, comments: false, codeSplitting: false });
  // Terser finds a hundredth that the bundler does not, but takes seconds. Constants stay on the side on which they
  // stand, where gzip finds more of the same. No function is made with `new` that has no `this`, and no global of the
  // language is changed.
  const asserted = { pure_getters: true, unsafe_arrows: true, builtins_pure: true };
  const compress = { ...asserted, passes: 4, evaluate: false, keep_fargs: false, lhs_constants: false };
  // Escapes, too, pack better than the letters that they stand for.
  const format = { ascii_only: true };
  const { code } = isSmallest ? await minify(output[0].code, { ecma: 2022, compress, format }) : output[0];
  // The code goes inside a script element.
  if (/<\/script|<!--/i.test(code)) throw new Error(`${entry} has text that would end its script element`);
  const rendered = Object.entries(output[0].modules).filter(([, { code: own }]) => own !== null && own !== '');
  return { code, packages: packagesOf(rendered.map(([path]) => path)) };
}

async function style() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('src/workbench/style.css', rootUrl))],
    bundle: true,
    minify: true,
    write: false,
  });
  return outputFiles[0].text.trim();
}

/** The policy of the page: only its own script and style, its own worker and images, and requests to this service. */
function policyOf(script, css) {
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(css)}`,
    'worker-src blob:',
    'img-src data: blob:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

function readText(path) {
  return readFileSync(new URL(path, rootUrl), 'utf8');
}

const [page, reader, css] = await Promise.all([
  bundle('src/workbench/main.tsx', { isSmallest: true }),
  bundle('src/workbench/formats/worker.ts', { isSmallest: false }),
  style(),
]);
if (unused.size > 0) throw new Error(`nothing is replaced any more by: ${[...unused].join('; ')}`);
const parts = {
  POLICY: policyOf(page.code, css),
  LICENCES: licencesOf(page.packages),
  '/*STYLE*/': css,
  '/*SCRIPT*/': page.code,
};
const html = readText('src/workbench/page.html').replace(/POLICY|LICENCES|\/\*[A-Z]+\*\//g, (name) => parts[name]);
mkdirSync(new URL('dist/', rootUrl), { recursive: true });
writeFileSync(new URL('dist/workbench.html', rootUrl), html);
// A separate file, which the page loads with the first file that is not CSV.
writeFileSync(new URL('dist/workbench-formats.js', rootUrl), `/*\n${licencesOf(reader.packages)}\n*/\n${reader.code}`);
writeThirdParty([...page.packages, ...reader.packages]);
const packedBytes = gzipSync(html, { level: 9 }).length;
if (packedBytes > PACKED_BYTES_MAX) {
  console.error(`dist/workbench.html takes ${packedBytes} bytes packed; ${PACKED_BYTES_MAX} is too much`);
  process.exitCode = 1;
}
console.log(`dist/workbench.html: ${html.length} bytes, ${packedBytes} packed`);
