/**
 * pond-ts. Columns are adopted without a copy (fromColumns of Float64Array); its columnar operators are used where they
 * exist (mapColumns, collapse, aggregate), and pushMany for chunks. It has no TimeWeightedAverage and no shift by time;
 * filter makes an event object per sample. A series cannot be given back; it is dropped. From npm if installed, else
 * from a build that POND_TS names.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { serve } from '../serve.mjs';

const entry = process.env.POND_TS;
const { LiveSeries, Sequence, TimeSeries } = await import(entry === undefined ? 'pond-ts' : pathToFileURL(entry).href);

const HOUR = Sequence.every('1h');
const QUARTER = Sequence.every('15m');
const number = (name) => ({ name, kind: 'number' });
const schemaOf = (names) => [{ name: 'time', kind: 'time' }, ...names.map(number)];

function load({ work, column }) {
  const names = Object.keys(work.columns).filter((name) => name !== 't');
  const columns = { time: column('t'), ...Object.fromEntries(names.map((name) => [name, column(name)])) };
  return TimeSeries.fromColumns({ name: 'samples', schema: schemaOf(names), columns });
}

const readSeries = (name) => (series) => ({
  timeMs: series.keyColumn().begin,
  value: series.column(name).toFloat64Array(),
});

const over = (operation, name = 'a') => (given) => {
  const series = load(given);
  return { run: () => operation(series), answer: readSeries(name) };
};

function elementwise(series) {
  return series
    .mapColumns({ a: (x) => x * 1.5 })
    .collapse(['a', 'b'], 'v', ({ a, b }) => a + b)
    .mapColumns({ v: (x) => Math.round(x * 100) / 100 })
    .mapColumns({ v: (x) => (x > 0 ? 1 : 0) })
    .mapColumns({ v: (x) => x * 2 });
}

const inMiddle = (event) => event.get('a') >= 0 && event.get('a') <= 20;

/**
 * Three arithmetic steps in one map, since each map copies every event. The averages need no history, so the buffer is
 * kept short: single pushes are five times slower with 1000 events, and much slower without a bound.
 */
function stream({ work, column }) {
  const times = column('t');
  const a = column('a');
  // push takes rows; they are made beforehand, as if received from outside.
  const rows = Array.from(times, (timeMs, i) => [timeMs, a[i]]);
  const run = () => {
    const live = new LiveSeries({ name: 'live', schema: schemaOf(['a']), retention: { maxEvents: 16 } });
    const closed = [];
    const averages = live
      .map((event) => event.set('a', Math.round((event.get('a') * 1.5 + 20.0003) * 100) / 100))
      .filter((event) => event.get('a') >= 0 && event.get('a') <= 140)
      .aggregate(QUARTER, { a: 'avg' });
    averages.on('close', (event) => closed.push([event.begin(), event.get('a')]));
    if (work.chunkRows === 1) for (const row of rows) live.push(row);
    else for (let i = 0; i < rows.length; i += work.chunkRows) live.pushMany(rows.slice(i, i + work.chunkRows));
    // Nothing closes the window still open at the end, so it is read from a snapshot.
    const last = averages.snapshot().last();
    return [...closed, [last.begin(), last.get('a')]];
  };
  return { run, answer: (pairs) => ({ timeMs: pairs.map(([t]) => t), value: pairs.map(([, v]) => v) }) };
}

function pondVersion() {
  const main = entry ?? fileURLToPath(import.meta.resolve('pond-ts'));
  const { version } = JSON.parse(readFileSync(join(dirname(main), '..', 'package.json')));
  return entry === undefined ? version : `${version} (built from source)`;
}

await serve({
  version: pondVersion,
  works: {
    elementwise: over(elementwise, 'v'),
    'average-hourly': over((series) => series.aggregate(HOUR, { a: 'avg' })),
    'sum-quarter': over((series) => series.aggregate(QUARTER, { a: 'sum' })),
    mask: over((series) => series.filter((event) => !inMiddle(event))),
    where: over((series) => series.filter(inMiddle)),
    cleanse: over((series) => series.mapColumns({ a: (x) => Math.min(50, Math.max(0, x)) })),
    hold: over((series) => series.align(QUARTER, { method: 'hold', sample: 'begin' })),
    'stream-1': stream,
    'stream-10': stream,
    'stream-1000': stream,
  },
});
