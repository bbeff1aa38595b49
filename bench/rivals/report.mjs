/** Figures as text: a table for each work, docs/benchmarks.md, and a chart of ratios as SVG. */
import { writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { HERE } from './rivals.mjs';

const DOCS = join(HERE, '../../docs');

export function machine() {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const system = `${platform()} ${release()} ${arch()}`;
  return `${cpu.model.trim()}, ${cpus().length} cores, ${memory}, ${system}, Node ${process.version}`;
}

const shortMs = (ms) => (ms >= 100 ? ms.toFixed(0) : ms.toFixed(1));

/** How many times windrow's time; empty where windrow did not run. */
function ratio(figure, windrow) {
  if (figure.medianMs === undefined || windrow?.medianMs === undefined) return '';
  return `${(figure.medianMs / windrow.medianMs).toFixed(2)} ×`;
}

function line(figure, windrow) {
  if (figure.failed !== undefined) return `| ${figure.label} | – | | | | ${figure.failed.replaceAll('|', '/')} |`;
  const spread = `${shortMs(figure.minMs)}–${shortMs(figure.maxMs)}`;
  const perSecond = `${(figure.rows / figure.medianMs / 1000).toFixed(1)} M`;
  const peak = figure.peakMb === undefined ? '' : `${figure.peakMb.toFixed(0)} MB`;
  const cells = [figure.label, shortMs(figure.medianMs), spread, perSecond, peak, ratio(figure, windrow)];
  return `| ${cells.join(' | ')} |`;
}

/** One work at one count of threads; fastest first, the machine's limit last. */
export function table(figures) {
  const windrow = figures.find((figure) => figure.name === 'windrow');
  const order = (figure) => (figure.isLimit ? Number.POSITIVE_INFINITY : (figure.medianMs ?? Number.MAX_VALUE));
  const [{ row, title, threads }] = figures;
  const targetRow = row === 1 && threads === 2 ? 2 : row;
  return [
    `### ${title} · ${threads === 1 ? 'one thread' : `${threads} threads`} (target row ${targetRow})`,
    '',
    '| | median, ms | range | rows a second | peak memory | against windrow |',
    '|---|---:|---:|---:|---:|---:|',
    ...figures.toSorted((x, y) => order(x) - order(y)).map((figure) => line(figure, windrow)),
    '',
  ].join('\n');
}

/** Figures of one work at one count of threads, together, in order of running (Node 20 has no Map.groupBy). */
function groups(found) {
  const byKey = new Map();
  for (const figure of found) {
    const key = `${figure.work} ${figure.threads}`;
    byKey.set(key, [...(byKey.get(key) ?? []), figure]);
  }
  return [...byKey.values()];
}

function versionList(versions) {
  const rivals = Object.entries(versions).filter(([, version]) => version !== 'this machine');
  return rivals.map(([label, version]) => `${label} ${version}`).join(' · ');
}

function markdown({ date, machine: where, repeat, versions, found }) {
  return `# Benchmarks

Side by side in one run: the rivals take turns, each in a process of its own, held to the same cores and threads; the
median of ${repeat} after a warm-up. Every answer is compared: as many samples, the same times, values within 1e-9. CSV
rows are whole processes. In-memory rows have their inputs loaded first, in the rival's own form, and time the
operation alone; windrow's own form is what \`loadSeries\` gives, and *arrays as they are* is a run without it. Peak memory
is that of the process (for in-memory rows from the end of loading). "Against windrow" is how many times windrow's time it
takes. The limit is what the machine needs to copy the input's values, or to read the file, and to do nothing with them.

- ${date}; ${where}
- ${versionList(versions)}
- \`npm run bench:rivals -- --write\`; the forms used are in \`bench/rivals/rivals/\`

![How many times windrow's time the rivals take](benchmarks.svg)

${groups(found).map(table).join('\n')}`;
}

const LEFT = 330;
const BAR = 14;
const WIDTH = 900;
const FULL_RATIO = 100;
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A bar's length: logarithmic, from a tenth of windrow's time to a hundred times it. */
function lengthOf(times) {
  const share = (Math.log10(Math.min(Math.max(times, 0.1), FULL_RATIO)) + 1) / 3;
  return Math.round(share * (WIDTH - LEFT - 70));
}

function bar(label, times, y, isWindrow) {
  const length = lengthOf(times);
  const shown = times >= 10 ? times.toFixed(0) : times.toFixed(2);
  return `<text x="${LEFT - 8}" y="${y + 11}" text-anchor="end">${escaped(label)}</text>
<rect x="${LEFT}" y="${y}" width="${length}" height="${BAR - 2}" fill="${isWindrow ? '#1f7a4d' : '#9aa5b1'}"/>
<text x="${LEFT + length + 5}" y="${y + 11}">${shown} ×</text>`;
}

/** Works that windrow ran, each with its rivals as bars of its time's multiple. */
function chart(found) {
  const parts = [];
  let y = 30;
  for (const figures of groups(found)) {
    const windrow = figures.find((figure) => figure.name === 'windrow' && figure.medianMs !== undefined);
    if (windrow === undefined) continue;
    const [{ title, threads }] = figures;
    parts.push(`<text x="10" y="${y + 12}" font-weight="bold">${escaped(`${title}, threads: ${threads}`)}</text>`);
    y += BAR + 6;
    const ran = figures.filter((figure) => figure.medianMs !== undefined).toSorted((a, b) => a.medianMs - b.medianMs);
    for (const figure of ran) {
      parts.push(bar(figure.label, figure.medianMs / windrow.medianMs, y, figure === windrow));
      y += BAR;
    }
    y += 12;
  }
  const font = 'font-family="sans-serif" font-size="11"';
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" ${font}>`;
  const caption = `<text x="10" y="16" font-size="13">Time taken, as a multiple of windrow's (logarithmic)</text>`;
  return `${head}\n<rect width="${WIDTH}" height="${y}" fill="#fff"/>\n${caption}\n${parts.join('\n')}\n</svg>\n`;
}

export function writeReport(report, folder = DOCS) {
  writeFileSync(join(folder, 'benchmarks.md'), markdown(report));
  writeFileSync(join(folder, 'benchmarks.svg'), chart(report.found));
}
