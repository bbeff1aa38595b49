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
/** It was 150,000 before Aggregate had windows other than those of an interval; docs/workbench.md says so too. */
const PACKED_BYTES_MAX = 160_000;
const HOUR_MS = 3_600_000;
/** The first six weeks of the office. */
const OFFICE_ROWS = 1_009;

/** The sample series, from docs/examples, small enough to stand in the page. */
function sampleData() {
  const heating = readText('docs/examples/heating-circuit.csv');
  const office = [];
  let before = 0;
  for (const row of readText('docs/examples/office-temperature.csv').trim().split('\n').slice(1, OFFICE_ROWS)) {
    const [time, value] = row.split(',');
    const timeMs = Date.parse(`${time.replace(' ', 'T')}Z`);
    const run = office.at(-1);
    const isNext = run !== undefined && timeMs === run.startMs + run.tenths.length * HOUR_MS;
    const tenth = Math.round(Number(value) * 10);
    if (isNext) run.tenths.push(tenth - before);
    else office.push({ startMs: timeMs, tenths: [tenth - before] });
    before = tenth;
  }
  return { heating, office };
}

// The kernels of WebAssembly would take a tenth of the page, and a policy that lets it compile code. Without them the
// JavaScript loops run, which give the same bits.
const withoutWebAssembly = {
  name: 'without WebAssembly',
  setup: (builder) =>
    builder.onLoad({ filter: /kernels[/\\](?:scan-)?module\.ts$/ }, () => ({
      contents: "export const kernelsHex = ''; export const scanHex = '';",
    })),
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
    plugins: [withoutWebAssembly],
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
