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
import { licencesOf, packagesOf, writeThirdParty } from './third-party.mjs';

const rootUrl = new URL('../', import.meta.url);
/** 150 kB, of 1024 bytes each as in `weight.mjs`. */
const PACKED_BYTES_MAX = 150 * 1024;
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
  'scan-rows': `export const scanned = { end: 0 };
    export const scanColumns = () => undefined;
    export const beginScan = () => {};
    export const scanRows = (bytes, from) => ((scanned.end = from), 0);`,
};
const withoutWebAssembly = Object.entries(WITHOUT_KERNELS).map(([name, contents]) =>
  replacing(new RegExp(`kernels[/\\\\]${name}\\.ts$`), () => contents),
);

// The page takes no checkpoints of its streams, and runs plans with patterns as plans of their members.
const NONE = "const none = () => { throw new Error('assertion failed: the page has no use for this'); };";
const withoutUnused = [
  replacing(
    /engine[/\\]checkpoint[/\\]stream-checkpoint\.ts$/,
    () =>
      `${NONE} export { none as readCheckpoint, none as readCounts, none as writeCheckpoint, none as writeCounts };`,
  ),
  replacing(/engine[/\\]every[/\\]parts\.ts$/, () => `${NONE} export { none as partsOf };`),
];

// Series come from the page's own readers, so their columns fit together.
const withoutChecks = replacing(/engine[/\\]check-input\.ts$/, (text) =>
  text.replace(/^(export function check(?:List|Columns)\(.*\{)$[\s\S]*?^\}$/gm, '$1}'),
);

// Of uPlot the page uses lines over axes that it labels itself: no bars, splines, bands, logarithms, dates, focus,
// synchronised charts, legend or ranges of its own. uPlot is one large function, in which no bundler sees that.
const UNUSED_OF_UPLOT = {
  ...Object.fromEntries(
    ['bars', 'findColWidth', 'splineInterp', 'monotoneCubic', '_monotoneCubic', 'clipBandLine', 'rangeLog']
      .concat(['rangeAsinh', 'logAxisSplits', 'asinhAxisSplits', 'log10AxisValsFilt', 'log2AxisValsFilt', 'fmtDate'])
      .concat(['tzDate', 'timeAxisStamps', 'timeAxisVals', 'timeAxisVal', 'timeSeriesStamp', 'timeSeriesVal'])
      .concat(['initLegendRow', 'setLegendValues', 'syncLegend', 'toggleDOM', 'addSeries', 'delSeries'])
      .concat(['setSeries', 'setFocus', 'pubSync', '_rangeNum', 'addBand', 'setBand', 'batch'])
      .concat(['sortCols', 'legendStroke', 'legendFill', 'snapNumY', 'numSeriesVal', 'delBand', 'pub'])
      .concat(['numAxisVals', 'numAxisSplits'])
      .map((name) => [name, '']),
  ),
  // The page says where ticks are.
  findIncr: 'return [1, 1]',
  genIncrs: 'return []',
  isAsc: 'return true',
  allHeadersSame: 'return false',
  bandFillClipDirs: 'return [0, 0]',
  fillStroke: 'strokeFill(...[...arguments].slice(1))',
  // A chart begins without data, and is told the range of its times.
  autoScaleX: 'viaAutoScaleX = true; i0 = i1 = idxs[0] = idxs[1] = null; _setScale(xScaleKey, null, null)',
  genTimeStuffs: 'return [[], [], () => {}];',
  // Hooks are called at once, and lines lie on whole pixels.
  fire: 'hooks[evName]?.forEach((hook) => hook.call(null, self, a1, a2));',
  flushHooks: '',
  pxRoundGen: 'return round;',
};
// What it asks about charts that the page does not draw has one answer, by which the bundler leaves out what follows.
// Where nothing asks, as before synchronising charts and taking plugins, the code itself is cut out. A name that is
// still used is not noticed here: the tests of the page find it.
const ANSWERS_OF_UPLOT = [
  [/^\tconst seriesIdxMatcher = [\s\S]*?^\tconst sync = _sync\(syncKey\);$|^\t+sync\.(?:un)?sub\(self\);$/gm, ''],
  [/^\t\(opts\.plugins \|\| \[\]\)\.forEach\([\s\S]*?^\t\}\);$/gm, ''],
  [/\b_pub && syncOpts\.setSeries\b/g, 'false'],
  [/\bmode == 2\b|\bsyncKey != null|\b\w+\.distr == (?:2|3|4|100)\b|\b\w+\.distr >= 3\b/g, 'false'],
  [/\bsrc != null|\bscaleX\.ori == 1\b/g, 'false'],
  [/\bmode == 1\b|\b\w+\.distr == 1\b|\b(?:sx|scaleX)\.ori == 0\b|\bsrc == null/g, 'true'],
  [/(?<!(?:const|let) )\b(?:showLegend|multiValLegend|cursorFocus|FEAT_TIME)\b(?! +=)/g, 'false'],
  [/\bopts\.(?:title|plugins|bands)\b/g, 'undefined'],
  [/\b(?:cursor\.dataIdx|axis\.label|series\.fill|getBBox|opts\.id|(?:w?sc|scaleOpts)\.from) != null/g, 'false'],
  [/\b(?:axis\.label|w?sc\.from) == null|\be != null|\bdir == 1\b|\bendRad == 0 && baseRad == 0/g, 'true'],
  [/\bxScaleDistr == [234]\b|\bband(?:Fill|Clip)Dir != 0|\bdir == -1\b|\bis(?:Obj\(rn|Str\(sv)\)/g, 'false'],
  [/\b\w+Path instanceof Map\b|(?<=\bif \()bandClip(?=\))/g, 'false'],
  [/\b(?:drag\.(?:y|setScale)|cursor\.(?:y|_?lock)|legend\.show|isTime|rangeIsArr)\b(?! =)/g, 'false'],
  [/(?<!(?:const|let) )\b(?:showCursor|select\.show)\b(?! =)/g, 'true'],
  [/\bborder\.show\b|\baxis\.align(?:To)? == [12]|(?<!\.)\bdistr == (?:3|4|100)\b|\bshouldAlpha\b(?! =)/g, 'false'],
  [/(?<!let )\bangle\b(?! +=)/g, '0'],
  [/^\s*uPlot\.(?:assign|fmtNum|range(?:Num|Log|Asinh)|orient|fmtDate|tzDate|sync|addGap|clipGaps) += .*;$/gm, ''],
  [/^const (?:(?:month|day)s3?|engNames|localTz|numFormatter|fmtNum) += [^;]*;$/gm, ''],
];
const withoutUnusedOfUplot = replacing(/[/\\]uPlot\.esm\.js$/, (text) => {
  const used = Object.entries(UNUSED_OF_UPLOT).reduce((left, [name, body]) => {
    const lines = new RegExp(`^(\\t*)(function ${name}\\(.*\\) \\{)$[^]*?^\\1\\}$`, 'm');
    if (!lines.test(left)) throw new Error(`uPlot has no function ${name} any more`);
    return left.replace(lines, (_, indent, head) => `${indent}${head}${body}}`);
  }, text);
  return ANSWERS_OF_UPLOT.reduce((left, [question, answer]) => {
    if (left.search(question) < 0) throw new Error(`uPlot asks nothing like ${question} any more`);
    return left.replace(question, answer);
  }, used);
});

// The messages of assertions are for developers of the engine, who do not use the page for that.
const withShortAssertions = replacing(/[/\\]src[/\\].*\.tsx?$/, (text) =>
  text.replace(/(assertion failed): [^'`"]*/g, '$1'),
);

// The page shows only the plainest worked example of each operation, with which a new step starts: all of them would
// be a fifteenth of the page.
const withPlainExamples = replacing(/[/\\]src[/\\]operations[/\\]index\.ts$/, async (text, path) => {
  const bundled = await build({ entryPoints: [path], bundle: true, format: 'esm', platform: 'node', write: false });
  const { textsByName } = await import(`data:text/javascript,${encodeURIComponent(bundled.outputFiles[0].text)}`);
  const weightOf = (example) => {
    const { inputs, parameters } = example;
    return 10_000 * inputs.length + 1000 * Object.keys(parameters).length + JSON.stringify(example).length;
  };
  const plain = Object.entries(textsByName).map(([name, { examples, ...texts }]) => {
    const plainest = examples.reduce((least, one) => (weightOf(one) < weightOf(least) ? one : least));
    return [name, { ...texts, examples: [plainest] }];
  });
  const list = JSON.stringify(Object.fromEntries(plain));
  const written = /(export const textsByName[^=]*= )[^;]*;/;
  if (!written.test(text)) throw new Error(`${path} has no textsByName any more`);
  return text.replace(written, (_, before) => `${before}${list};`);
});

// The page writes no requests with the builder.
const withoutMethods = replacing(/[/\\]src[/\\]operations[/\\].*\.ts$/, (text) =>
  text
    .replace(/^( +)methods: (?:\{.*\}|\{\n[\s\S]*?\n\1\}),$/gm, '$1methods: {},')
    .replace(/^(export const \w+ = \w+\()\{ \w+: \w+ \}, '/gm, "$1{}, '"),
);

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

async function bundle(entry) {
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
      withoutChecks,
      withoutUnusedOfUplot,
      ...ofParquet,
      withPlainExamples,
      withoutMethods,
      withShortAssertions,
    ],
  });
  const { output } = await bundler.generate({ format: 'iife', minify: true, comments: false, codeSplitting: false });
  const code = output[0].code.trim();
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
  bundle('src/workbench/main.tsx'),
  bundle('src/workbench/formats/worker.ts'),
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
