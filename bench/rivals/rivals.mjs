/** The rivals, how each is started, and how its threads are pinned. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const HERE = dirname(fileURLToPath(import.meta.url));
const WINDROW_COMMAND = join(HERE, '../../dist/cli/main.js');
/** Debian's python3 has packages of NumPy and pandas; another python3 may lack them. */
const PYTHON = process.env.WINDROW_BENCH_PYTHON ?? (existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3');

const file = (name) => join(HERE, 'rivals', name);
const node = (name, ...flags) => [process.execPath, ...flags, file(name)];
const python = (name) => [PYTHON, file(name)];

/**
 * `threaded`: uses several threads in memory tasks; all others run on one thread only. `way`: a second way to do a task
 * in the same file, as in `elementwise:out`. `givesBack`: how it gives results back, for the page. `onlyGivenBack`: a
 * way that is pointless in the other modes. `ownFiles`: loads from its own format.
 */
export const RIVALS = [
  {
    name: 'windrow',
    label: 'windrow',
    command: node('windrow.mjs'),
    threaded: true,
    runsCsvItself: true,
    givesBack: '`using run`, which is `run.dispose()`',
  },
  { name: 'windrow-own-times', label: 'windrow', command: node('windrow.mjs'), way: ':own-times' },
  { name: 'windrow-arrays', label: 'windrow, arrays as they are', command: node('windrow.mjs'), way: ':arrays' },
  {
    name: 'duckdb',
    label: 'DuckDB',
    command: node('duckdb.mjs'),
    threaded: true,
    ownFiles: true,
    givesBack: 'dropped',
  },
  {
    name: 'clickhouse',
    label: 'ClickHouse (chdb)',
    command: node('clickhouse.mjs'),
    threaded: true,
    ownFiles: true,
    givesBack: '`DROP TABLE`',
  },
  { name: 'polars', label: 'Polars', command: node('polars.mjs'), threaded: true, givesBack: 'dropped' },
  { name: 'numpy', label: 'NumPy', command: python('with_numpy.py'), givesBack: 'dropped, which frees it at once' },
  {
    name: 'numpy-out',
    label: 'NumPy, `out=`',
    command: python('with_numpy.py'),
    way: ':out',
    onlyGivenBack: true,
    givesBack: 'outputs and temporaries allocated once',
  },
  { name: 'pandas', label: 'pandas', command: python('with_pandas.py'), givesBack: 'dropped, which frees it at once' },
  {
    name: 'pond',
    label: 'pond-ts',
    // Millions of event objects need a larger heap than Node's default.
    command: node('pond.mjs', '--max-old-space-size=8192'),
    givesBack: 'dropped',
  },
  { name: 'javascript', label: 'plain JavaScript', command: node('javascript.mjs'), givesBack: 'dropped' },
  { name: 'limit', label: 'limit: memory copy, file read', command: node('limit.mjs'), isLimit: true },
];

/** The name of a rival in a row, which says whether windrow's results share the input's times. */
export function labelIn(work, { name, label }) {
  return work.sharesTimes && ['windrow', 'windrow-arrays'].includes(name) ? `${label}, shareTimes` : label;
}

/** The thread settings of all engines; taskset limits those without one. */
export function environment(threads) {
  const count = String(threads);
  return {
    ...process.env,
    POLARS_MAX_THREADS: count,
    OMP_NUM_THREADS: count,
    OPENBLAS_NUM_THREADS: count,
    NUMEXPR_MAX_THREADS: count,
    ...pondEntry(),
  };
}

/** pond-ts from npm if installed; else from `POND_TS` or a build in data/pond. */
function pondEntry() {
  if (process.env.POND_TS !== undefined) return {};
  const built = join(HERE, 'data/pond/packages/core/dist/index.js');
  return existsSync(built) ? { POND_TS: built } : {};
}

/** The command line of a member, pinned to `threads` of the given cores. */
export function commandOf(rival, threads, cpus, args) {
  const pin = cpus === undefined ? [] : ['taskset', '-c', cpus.slice(-threads).join(',')];
  return [...pin, ...rival.command, ...args];
}

/** windrow's CSV row is its own command, as users run it. */
export function windrowCommand(threads, cpus, { request, input, output }) {
  const args = ['run', request, '--input', input, '--output', output, '--threads', String(threads)];
  const rival = { command: [process.execPath, WINDROW_COMMAND] };
  return commandOf(rival, threads, cpus, args);
}

/** Puts memory into the same state before each process; touch.py says why. */
export const touchCommand = (mb) => [PYTHON, join(HERE, 'touch.py'), String(mb)];

export const hasWindrow = () => existsSync(WINDROW_COMMAND) && statSync(WINDROW_COMMAND).size > 0;
