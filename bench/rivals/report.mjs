/**
 * Turns figures into text: a table for each task, docs/benchmarks.md, its chart as SVG, and README's table.
 *
 *   node report.mjs FILE.json...     the page from figures that `run.mjs --save` wrote
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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

/** Whether the system gives free memory back to its host. */
export const hasPageReporting = () => existsSync('/sys/module/page_reporting');

const shortMs = (ms) => (ms >= 100 ? ms.toFixed(0) : ms.toFixed(1));

/** The figure that others are compared with: the first one of windrow, over loaded series. */
const windrowOf = (figures) => figures.find((figure) => figure.name === 'windrow' && figure.failed === undefined);

/** A median with its range, the number of runs if there were fewer, and the multiple of windrow's time. */
function cells(timing, base) {
  if (timing === undefined) return ['', ''];
  const runs = timing.isCut ? `; of ${timing.runs}` : '';
  const range = `${shortMs(timing.minMs)}–${shortMs(timing.maxMs)}${runs}`;
  const times = base === undefined ? '' : `${(timing.medianMs / base.medianMs).toFixed(2)} ×`;
  return [`${shortMs(timing.medianMs)} (${range})`, times];
}

const memory = (figure) => (figure.peakMb === undefined ? '' : `${figure.peakMb.toFixed(0)} MB`);
const perSecond = (figure, { medianMs }) => `${(figure.rows / medianMs / 1000).toFixed(1)} M`;

/** Kind of task -> the columns of its table. */
const layouts = {
  csv: {
    head: ['whole process, ms', '×', 'rows a second', 'peak memory'],
    line: (figure, windrow) => [
      ...cells(figure.whole, windrow?.whole),
      perSecond(figure, figure.whole),
      memory(figure),
    ],
    order: (figure) => figure.whole?.medianMs,
  },
  stream: {
    head: ['kept, ms', '×', 'samples a second'],
    line: (figure, windrow) => [
      ...cells(figure.kept, windrow?.kept),
      perSecond(figure, figure.kept),
    ],
    order: (figure) => figure.kept?.medianMs,
  },
  memory: {
    head: ['first: load + run, ms', '×', 'peak memory', 'kept, ms', '×', 'system', 'given back, ms', '×'],
    line(figure, windrow) {
      const { first, kept, givenBack } = figure;
      const parts = (one) => `${shortMs(one.loadMs)} + ${shortMs(one.runMs)} = ${shortMs(one.medianMs)}`;
      const [, times] = cells(first, windrow?.first);
      const system = kept === undefined ? '' : shortMs(kept.systemMs);
      return [
        ...[first === undefined ? '' : parts(first), times, memory(figure)],
        ...[...cells(kept, windrow?.kept), system],
        ...cells(givenBack, windrow?.givenBack),
      ];
    },
    order: (figure) => (figure.givenBack ?? figure.kept ?? figure.first)?.medianMs,
  },
};

/** One task at one number of threads; fastest first, the machine's limit last. */
export function table(figures) {
  const [{ row, kind, title, threads }] = figures;
  const { head, line, order } = layouts[kind];
  const windrow = windrowOf(figures);
  const rank = (figure) => (figure.isLimit ? Number.POSITIVE_INFINITY : (order(figure) ?? Number.MAX_VALUE));
  const rows = figures.toSorted((x, y) => rank(x) - rank(y)).map((figure) => {
    if (figure.failed !== undefined) return [figure.label, `failed: ${figure.failed.replaceAll('|', '/')}`];
    return [figure.label, ...line(figure, windrow)];
  });
  const width = `${threads === 1 ? 'one thread' : `${threads} threads`}`;
  return [
    `### ${title} · ${width} (row ${row})`,
    '',
    `| | ${head.join(' | ')} |`,
    `|---|${'---:|'.repeat(head.length)}`,
    ...rows.map((one) => `| ${one.join(' | ')} |`),
    '',
  ].join('\n');
}

/** Figures grouped by task and number of threads, in order of running (Node 20 has no Map.groupBy). */
export function groups(found) {
  const byKey = new Map();
  for (const figure of found) {
    const key = `${figure.work} ${figure.threads}`;
    byKey.set(key, [...(byKey.get(key) ?? []), figure]);
  }
  return [...byKey.values()];
}

/** Tasks that are timed in only one mode, one line each. */
export function briefTable(found) {
  const brief = groups(found.filter(({ isBrief }) => isBrief));
  if (brief.length === 0) return '';
  const names = RIVALS.filter(({ name }) => brief.some((figures) => figures.some((one) => one.name === name)));
  const others = names.filter(({ name }) => name !== 'windrow' && name !== 'limit');
  const lines = brief.map((figures) => {
    const of = (name) => figures.find((one) => one.name === name && one.failed === undefined)?.kept;
    const own = of('windrow');
    const rest = others.map(({ name }) => {
      const kept = of(name);
      return kept === undefined ? '' : `${shortMs(kept.medianMs)} (${(kept.medianMs / own.medianMs).toFixed(2)} ×)`;
    });
    return `| ${[figures[0].title, `${shortMs(own.medianMs)}`, ...rest].join(' | ')} |`;
  });
  return `### Other operations and functions · one thread, results kept (row 9)

Operations and functions beyond the interface, next to the rivals that have them; medians, in milliseconds. windrow rounds
Exp, Log, Pow and Scale correctly to the last bit, and takes sums, deviations and slopes from exact sums; the rivals'
results are as exact as their way of adding up.

| | windrow | ${others.map(({ label }) => label).join(' | ')} |
|---|---:|${'---:|'.repeat(others.length)}
${lines.join('\n')}
`;
}

function givenBackForms() {
  const forms = RIVALS.filter((rival) => rival.givesBack !== undefined);
  return forms.map(({ label, givesBack }) => `  - ${label}: ${givesBack}`).join('\n');
}

const MEMORY_NOTE = `
This virtual machine gives free memory back to its host (page reporting), and has to wait when it needs that memory
again. Before each process of *first* and *kept*, 1.5 GB are taken and freed (\`touch.py\`), so that all start alike.
Memory beyond that costs more here than on a physical machine.
`;

function markdown({ date, machine: where, pageReporting, repeat, givenBackRuns, processes, minutes, versions, found, later }) {
  const rivals = Object.entries(versions).map(([label, version]) => `${label} ${version}`);
  return `# Benchmarks

windrow and its rivals run the same tasks over the same data, on the same cores and threads, in one run on one machine,
taking turns. Every answer is checked: the same number of samples, the same times, values within 1e-9.

A figure is the median of all runs. No run is discarded as a warm-up, and nobody calls a garbage collector. In
parentheses are the fastest and the slowest run, and the number of runs where there was no time for all. × says how
many times as long as windrow a rival takes. The machine is shared, so trust ratios more than milliseconds, and ratios
only where the ranges do not overlap.

**CSV tasks** time whole processes, from start to exit. The file is in the system's cache.

**In-memory tasks** have three modes, because the time depends on what a program does with its results:

- **first**: a fresh process loads the columns from files into the rival's own form, then runs once. The start of Node
  or Python does not count. *Peak memory* is that of this run, including its data.
- **kept**: a process runs ${repeat} times and keeps every result to the end, so each run needs fresh memory. The answer
  that is checked is the first, read after the last run. *System* is the operating system's part of the time, which is
  mostly the cost of that memory.
- **given back**: a process runs ${givenBackRuns} times, or for a second if that is shorter, and gives each result back before
  the next run; giving back is timed, too. They do so in these ways:
${givenBackForms()}

Each of these modes uses ${processes === 1 ? 'one process' : `${processes} processes`}; of several, *first* shows the one with the median sum.

**Stream tasks** keep all results.

**Rows.** Tasks of one kind share a number, which \`--rows\` takes: 1 CSV files, 3 a chain of maps, 4 windows, 5 filters,
shifts and grids, 6 streams, 8 a CSV file in several sizes, 9 all other operations and functions. No task has 2 or 7.

The line *windrow* runs over series that \`loadSeries\` has prepared; *arrays as they are* does without. Each result has
times of its own; with *shareTimes* it shares those of the input, as results of NumPy, pandas and Polars do. If there is
such a line, × compares with it. Values are a daily curve with three decimals; *full-precision values* are sines. The
limit is the time that the machine needs to copy the input's values (into fresh memory or the same), or to read the file.
${pageReporting ? MEMORY_NOTE : ''}
- ${date}; ${where}
- ${rivals.join(' · ')}
- \`npm run bench:rivals -- --processes ${processes} --write\` took ${minutes.toFixed(0)} minutes${laterRuns(later)}; the rivals' programs are in \`bench/rivals/rivals/\`; \`--rows 4\` runs row 4 alone

![Results kept: time taken as a multiple of windrow's](benchmarks.svg)

## Each task

${groups(found.filter(({ isBrief }) => !isBrief)).map(table).join('\n')}
${briefTable(found)}`;
}

/** `windrow / fastest rival` in one mode; `own` is the form of windrow to use there. */
function duel(figures, timingOf, own = 'windrow') {
  const ran = figures.filter((figure) => !figure.isLimit && timingOf(figure) !== undefined);
  const windrow = ran.find((figure) => figure.name === own);
  const [best] = ran
    .filter((figure) => !figure.name.startsWith('windrow') && figure.name !== 'javascript')
    .toSorted((x, y) => timingOf(x).medianMs - timingOf(y).medianMs);
  if (windrow === undefined || best === undefined) return '';
  return `${shortMs(timingOf(windrow).medianMs)} / ${best.label} ${shortMs(timingOf(best).medianMs)}`;
}

const README_WORKS = [
  ...['csv-hourly-5000000', 'csv-long', 'csv-wide', 'stream-1', 'stream-1000', 'elementwise', 'average-hourly'],
  ...['sum-quarter', 'mask', 'cleanse', 'shift', 'resample'],
];

/** README's table: one thread, a column for each mode; of several similar tasks only one. */
export function readmeTable(found) {
  const wanted = groups(found.filter((figure) => figure.threads === 1 && README_WORKS.includes(figure.work)));
  const rows = wanted.map((figures) => [
    figures[0].title,
    // For a single run nobody loads series first.
    duel(figures, (figure) => figure.first, 'windrow-arrays') || duel(figures, (figure) => figure.whole),
    duel(figures, (figure) => figure.kept),
    duel(figures, (figure) => figure.givenBack),
  ]);
  return [
    '| one thread; ms: windrow / the fastest rival | first (CSV: whole process) | kept | given back |',
    '|---|---:|---:|---:|',
    ...rows.map((cellsOfRow) => `| ${cellsOfRow.join(' | ')} |`),
    '',
  ].join('\n');
}

/** The figures of the first run, with the tasks of a later run in their places. */
function replaced(first, later) {
  const of = (found, work) => found.filter((figure) => figure.work === work);
  const works = new Set([...first, ...later].map((figure) => figure.work));
  return [...works].flatMap((work) => (of(later, work).length > 0 ? of(later, work) : of(first, work)));
}

/** Which rows of the page are of a later run, if there are several. */
const laterRuns = (later) =>
  later
    .map(({ date, found }) => {
      const rows = [...new Set(found.map((figure) => figure.row))].join(', ');
      return `; rows ${rows} are of a later run (${date})`;
    })
    .join('');

const README_MARKS = /(<!-- bench:rivals -->\n)[\s\S]*?(<!-- \/bench:rivals -->)/;

/** One page from one or several reports: the first says where and how, tasks of a later one replace those before. */
export function writeReport(reports) {
  const minutes = reports.reduce((sum, one) => sum + one.minutes, 0);
  const report = { ...reports[0], minutes, later: reports.slice(1), found: reports.map((one) => one.found).reduce(replaced) };
  writeFileSync(join(ROOT, 'docs/benchmarks.md'), markdown(report));
  writeFileSync(join(ROOT, 'docs/benchmarks.svg'), chart(groups(report.found.filter(({ isBrief }) => !isBrief))));
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  writeFileSync(join(ROOT, 'README.md'), readme.replace(README_MARKS, `$1${readmeTable(report.found)}$2`));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeReport(process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8'))));
}
