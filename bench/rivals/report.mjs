/**
 * Figures as text: a table for each work, docs/benchmarks.md, its chart as SVG, and README's table.
 *
 *   node report.mjs FILE.json...     the page from figures that `run.mjs --save` kept, put together
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chart } from './chart.mjs';
import { HERE, RIVALS } from './rivals.mjs';

const ROOT = join(HERE, '../..');

export function machine() {
  const [cpu] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const system = `${platform()} ${release()} ${arch()}`;
  return `${cpu.model.trim()}, ${cpus().length} cores, ${memory}, ${system}, Node ${process.version}`;
}

const shortMs = (ms) => (ms >= 100 ? ms.toFixed(0) : ms.toFixed(1));
const isWindrow = (figure) => figure.name.startsWith('windrow');

/** What a figure is compared with: windrow over loaded series, as the first row of it is. */
const windrowOf = (figures) => figures.find((figure) => figure.name === 'windrow' && figure.failed === undefined);

/** A median with its range, and how many times windrow's it is. */
function cells(timing, base) {
  if (timing === undefined) return ['', '', ''];
  const range = `${shortMs(timing.minMs)}–${shortMs(timing.maxMs)}`;
  const times = base === undefined ? '' : `${(timing.medianMs / base.medianMs).toFixed(2)} ×`;
  return [shortMs(timing.medianMs), `${range} (${timing.runs})`, times];
}

const memory = (figure) => (figure.peakMb === undefined ? '' : `${figure.peakMb.toFixed(0)} MB`);

/** Kind of work -> the columns of its table. */
const layouts = {
  csv: {
    head: ['whole process, ms', 'range (runs)', 'against windrow', 'rows a second', 'peak memory'],
    line: (figure, windrow) => [
      ...cells(figure.whole, windrow?.whole),
      `${(figure.rows / figure.whole.medianMs / 1000).toFixed(1)} M`,
      memory(figure),
    ],
    order: (figure) => figure.whole?.medianMs,
  },
  stream: {
    head: ['kept, ms', 'range (runs)', 'against windrow', 'samples a second'],
    line: (figure, windrow) => [
      ...cells(figure.kept, windrow?.kept),
      `${(figure.rows / figure.kept.medianMs / 1000).toFixed(1)} M`,
    ],
    order: (figure) => figure.kept?.medianMs,
  },
  memory: {
    head: [
      ...['first: load + run, ms', 'together', 'against windrow', 'peak memory'],
      ...['kept, ms', 'range (runs)', 'against windrow', 'kernel'],
      ...['given back, ms', 'range (runs)', 'against windrow'],
    ],
    line(figure, windrow) {
      const { first, kept, givenBack } = figure;
      const parts = first === undefined ? '' : `${shortMs(first.loadMs)} + ${shortMs(first.runMs)}`;
      const [together, , times] = cells(first, windrow?.first);
      const kernel = kept === undefined ? '' : shortMs(kept.kernelMs);
      const firstCells = [parts, together, times, memory(figure)];
      return [...firstCells, ...cells(kept, windrow?.kept), kernel, ...cells(givenBack, windrow?.givenBack)];
    },
    order: (figure) => (figure.givenBack ?? figure.kept ?? figure.first)?.medianMs,
  },
};

/** One work at one count of threads; fastest first, the machine's limit last. */
export function table(figures) {
  const [{ row, kind, title, threads }] = figures;
  const { head, line, order } = layouts[kind];
  const windrow = windrowOf(figures);
  const rank = (figure) => (figure.isLimit ? Number.POSITIVE_INFINITY : (order(figure) ?? Number.MAX_VALUE));
  const rows = figures.toSorted((x, y) => rank(x) - rank(y)).map((figure) => {
    if (figure.failed !== undefined) return [figure.label, `failed: ${figure.failed.replaceAll('|', '/')}`];
    return [figure.label, ...line(figure, windrow)];
  });
  const targetRow = row === 1 && threads === 2 ? 2 : row;
  const width = `${threads === 1 ? 'one thread' : `${threads} threads`}`;
  return [
    `### ${title} · ${width} (target row ${targetRow})`,
    '',
    `| | ${head.join(' | ')} |`,
    `|---|${'---:|'.repeat(head.length)}`,
    ...rows.map((one) => `| ${one.join(' | ')} |`),
    '',
  ].join('\n');
}

/** Figures of one work at one count of threads, together, in order of running (Node 20 has no Map.groupBy). */
export function groups(found) {
  const byKey = new Map();
  for (const figure of found) {
    const key = `${figure.work} ${figure.threads}`;
    byKey.set(key, [...(byKey.get(key) ?? []), figure]);
  }
  return [...byKey.values()];
}

function givenBackForms() {
  const forms = RIVALS.filter((rival) => rival.givesBack !== undefined);
  return forms.map(({ label, givesBack }) => `${label}: ${givesBack}`).join('; ');
}

function markdown({ date, machine: where, repeat, processes, versions, found }) {
  const rivals = Object.entries(versions).map(([label, version]) => `${label} ${version}`);
  return `# Benchmarks

windrow beside its rivals, measured in one run on one machine: same data, same cores and threads. The rivals take
turns. Every answer is compared: as many samples, the same times, values within 1e-9. A figure is the median of all
runs; none is left out, and nobody calls a garbage collector. Behind it stand the fastest and the slowest run, and in
parentheses how many there were. The machine is shared, so trust ratios more than milliseconds, and a ratio only as far
as the ranges stand apart.

## What is timed

**CSV rows** time whole processes, from start to exit; the file is in the system's cache.

**In-memory rows** time three things, as it depends on what a program does with its results:

- **first**: a fresh process loads the columns from files into the rival's own form, then runs once. Median of ${processes}
  processes; the time of starting Node or Python is not in it. Peak memory is that of this run, with what was loaded.
- **kept**: one process runs ${repeat} times and holds every result to the end, so each run gets fresh memory from the
  system. The answer that is compared is the first, read after the last run. ${processes} processes. *kernel* is how much of the
  time the system took, nearly all of it to hand out that memory.
- **given back**: one process runs ${repeat} times and gives each result back before the next; that counts. ${givenBackForms()}.

Slow rivals get fewer runs, as the figure in parentheses says.

**Stream rows** keep all results.

*windrow* runs over series that \`loadSeries\` has laid out. *Arrays as they are* is the same run without it. A result has
times of its own, but for *shareTimes*: there it shares the input's, as those of NumPy, pandas and Polars do; the row
*windrow* beside it is without. "Against windrow" compares with the *windrow* row, with *shareTimes* where there is one.
Values are a daily curve of three decimals; *full-precision values* are sines. The limit is what the machine needs to
copy the input's values, or to read the file, and to do nothing with them.

- ${date}; ${where}
- ${rivals.join(' · ')}
- \`npm run bench:rivals -- --write\`; the forms used are in \`bench/rivals/rivals/\`

![Time taken when results are kept, as a multiple of windrow's](benchmarks.svg)

${groups(found).map(table).join('\n')}`;
}

/** `windrow / fastest rival` in one mode. */
function duel(figures, timingOf) {
  const ran = figures.filter((figure) => !figure.isLimit && timingOf(figure) !== undefined);
  const windrow = windrowOf(ran);
  const [best] = ran
    .filter((figure) => !isWindrow(figure) && figure.name !== 'javascript')
    .toSorted((x, y) => timingOf(x).medianMs - timingOf(y).medianMs);
  if (windrow === undefined || best === undefined) return '';
  return `${shortMs(timingOf(windrow).medianMs)} / ${best.label} ${shortMs(timingOf(best).medianMs)}`;
}

/** README's table: one thread, each mode a column, the rows that are not too much alike. */
export function readmeTable(found) {
  const wanted = ['csv-hourly-5000000', 'csv-long', 'csv-wide', 'stream-1', 'stream-1000', 'elementwise', 'average-hourly'];
  wanted.push('sum-quarter', 'mask', 'cleanse', 'shift', 'resample');
  const rows = groups(found.filter((figure) => figure.threads === 1 && wanted.includes(figure.work))).map((figures) => [
    figures[0].title,
    duel(figures, (figure) => figure.whole),
    duel(figures, (figure) => figure.first),
    duel(figures, (figure) => figure.kept),
    duel(figures, (figure) => figure.givenBack),
  ]);
  return [
    '| one thread; ms, windrow / the fastest rival | whole process | first | kept | given back |',
    '|---|---:|---:|---:|---:|',
    ...rows.map((cellsOfRow) => `| ${cellsOfRow.join(' | ')} |`),
    '',
  ].join('\n');
}

const README_MARKS = /(<!-- bench:rivals -->\n)[\s\S]*?(<!-- \/bench:rivals -->)/;

/** One page from one report or several, the first of which says when, where and how. */
export function writeReport(reports) {
  const report = { ...reports[0], found: reports.flatMap((one) => one.found) };
  writeFileSync(join(ROOT, 'docs/benchmarks.md'), markdown(report));
  writeFileSync(join(ROOT, 'docs/benchmarks.svg'), chart(groups(report.found)));
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  writeFileSync(join(ROOT, 'README.md'), readme.replace(README_MARKS, `$1${readmeTable(report.found)}$2`));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeReport(process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8'))));
}
