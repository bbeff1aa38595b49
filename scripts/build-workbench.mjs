// Builds the workbench (src/workbench) into one static HTML file, dist/workbench.html. Script and style stand in it,
// and its Content-Security-Policy names both by their hashes.
//
//   node scripts/build-workbench.mjs

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const rootUrl = new URL('../', import.meta.url);
const PACKED_BYTES_MAX = 150_000;
const HOUR_MS = 3_600_000;
/** The first two weeks of the office. */
const OFFICE_ROWS = 337;
/** The letter of no difference; those after it are of ever greater ones, below and above in turn. */
const FIRST_LETTER = 35;

/** The sample series, from docs/examples, small enough to stand in the page: `src/workbench/samples.ts` reads them. */
function sampleData() {
  return {
    heating: packed('docs/examples/heating-circuit.csv', 900_000, Number.POSITIVE_INFINITY),
    office: packed('docs/examples/office-temperature.csv', HOUR_MS, OFFICE_ROWS),
  };
}

/** Rows at even times, in parts without a gap; of each column a letter a row: how many tenths it differs by. */
function packed(path, stepMs, rowsMax) {
  const [header, ...rows] = readText(path).trim().split('\n').slice(0, rowsMax);
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

// The kernels of WebAssembly would take a tenth of the page, and a policy that lets it compile code. Without them the
// JavaScript loops run, which give the same bits.
const withoutWebAssembly = {
  name: 'without WebAssembly',
  setup: (builder) => {
    const withoutKernels = {
      'open-module': 'export const openModule = () => undefined;',
      module: "export const kernelsHex = '';",
      'scan-rows': `export const scanned = { end: 0 };
        export const scanColumns = () => undefined;
        export const beginScan = () => {};
        export const scanRows = (bytes, from) => ((scanned.end = from), 0);`,
    };
    for (const [name, contents] of Object.entries(withoutKernels)) {
      builder.onLoad({ filter: new RegExp(`kernels[/\\\\]${name}\\.ts$`) }, () => ({ contents }));
    }
  },
};

// The page uses a part of its libraries: linear axes, lines and steps of uPlot without its legend; the marks of axes of
// d3-array. The rest would be a thirtieth of the page, and esbuild cannot tell that it is unused: functions that uPlot
// chooses by options which are not given here, and what d3-array makes as it is loaded. Nor does the page take
// checkpoints of its streams, or run plans with patterns in their ids: it makes its plans by `createPlan`.
const UPLOT_UNUSED = [
  ...['bars', 'monotoneCubic', 'rangeLog', 'rangeAsinh', 'logAxisSplits', 'asinhAxisSplits', 'log10AxisValsFilt'],
  ...['log2AxisValsFilt', 'clipBandLine', 'initLegendRow', 'syncLegend', 'delSeries'],
];
const NONE = "const none = () => { throw new Error('assertion failed: the page has no use for this'); };";
const withoutUnused = {
  name: 'without what is unused',
  setup: (builder) => {
    builder.onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => ({ contents: smallerPlot(path) }));
    builder.onLoad({ filter: /d3-array\.mjs$/ }, ({ path }) => ({
      contents: replaced(readFileSync(path, 'utf8'), /^((?:const|var|let) \w+ = )(?=[\w.]+\()/gm, '$1/* @__PURE__ */ '),
    }));
    builder.onLoad({ filter: /engine[/\\]checkpoint[/\\]bytes\.ts$/ }, () => ({
      contents: `${NONE} export { none as createWriter, none as openCheckpoint };`,
    }));
    builder.onLoad({ filter: /plan[/\\]patterns\.ts$/ }, () => ({
      contents: `${NONE} export const planEveryIn = (plan) => plan; export { none as planOfMember };`,
    }));
    builder.onLoad({ filter: /engine[/\\]every[/\\]parts\.ts$/ }, () => ({
      contents: `${NONE} export { none as partsOf };`,
    }));
  },
};

function smallerPlot(path) {
  const legendless = replaced(
    readFileSync(path, 'utf8'),
    /const showLegend = legend\.show;/,
    'const showLegend = false;',
  );
  return UPLOT_UNUSED.reduce(
    (text, name) => replaced(text, new RegExp(`^(\\t?)function ${name}\\([^]*?^\\1}$`, 'm'), `$1function ${name}() {}`),
    legendless,
  );
}

function replaced(before, pattern, by) {
  const after = before.replace(pattern, by);
  if (after === before)
    throw new Error(`there is nothing like ${pattern}: look at what the library has in its new version`);
  return after;
}

// What an assertion would say is for who works on the engine, who does not do that in the page.
const withShortAssertions = {
  name: 'with short assertions',
  setup: (builder) =>
    builder.onLoad({ filter: /src[/\\].*\.tsx?$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/(assertion failed): [^'`"]*/g, '$1'),
      loader: path.endsWith('x') ? 'tsx' : 'ts',
    })),
};

// Of the worked examples of each operation the plainest stands beside the list, and is what a new step begins with: all
// of them would be a fifteenth of the page.
const withPlainExamples = {
  name: 'with the plainest examples',
  setup: (builder) =>
    builder.onLoad({ filter: /src[/\\]operations[/\\]examples\.ts$/ }, async ({ path }) => {
      const bundled = await build({ entryPoints: [path], bundle: true, format: 'esm', platform: 'node', write: false });
      const [{ text }] = bundled.outputFiles;
      const { examplesByName } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
      const weightOf = (example) => {
        const { inputs, parameters } = example;
        return 10_000 * inputs.length + 1000 * Object.keys(parameters).length + JSON.stringify(example).length;
      };
      const plainest = Object.entries(examplesByName).map(([name, examples]) => {
        return [name, [examples.reduce((least, one) => (weightOf(one) < weightOf(least) ? one : least))]];
      });
      return { contents: `export const examplesByName = ${JSON.stringify(Object.fromEntries(plainest))};` };
    }),
};

async function bundle() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('src/workbench/main.tsx', rootUrl))],
    bundle: true,
    minify: true,
    // Its text stands within a script element.
    supported: { 'inline-script': false },
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    plugins: [withoutWebAssembly, withoutUnused, withPlainExamples, withShortAssertions],
    define: { SAMPLE_DATA: JSON.stringify(sampleData()) },
    write: false,
  });
  return outputFiles[0].text.trim();
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

/** What the page may do: nothing but its own script and style, a worker and pictures of its own, and this service. */
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

const [script, css] = await Promise.all([bundle(), style()]);
const parts = { POLICY: policyOf(script, css), '/*STYLE*/': css, '/*SCRIPT*/': script };
const html = readText('src/workbench/page.html').replace(/POLICY|\/\*[A-Z]+\*\//g, (name) => parts[name]);
mkdirSync(new URL('dist/', rootUrl), { recursive: true });
writeFileSync(new URL('dist/workbench.html', rootUrl), html);
const packedBytes = gzipSync(html, { level: 9 }).length;
if (packedBytes > PACKED_BYTES_MAX) {
  console.error(`dist/workbench.html takes ${packedBytes} bytes packed; ${PACKED_BYTES_MAX} is too much`);
  process.exitCode = 1;
}
console.log(`dist/workbench.html: ${html.length} bytes, ${packedBytes} packed`);
