/**
 * The works: what is measured, on what data, and the request that says it to windrow.
 * Rivals know a work by its `operation`; a rival that cannot say one is left out of that row.
 *
 * A work with `modes` is timed in those alone.
 *
 * kind `csv`: CSV to CSV, whole process timed. kind `memory`: inputs loaded first, then run in each mode.
 * kind `stream`: inputs loaded first, then streamed, results kept.
 */
import { seriesNames } from './data.mjs';

/** What happens to the results of a run before the next; `serve.mjs` says what is timed in each mode. */
export const MODES = ['first', 'kept', 'given-back'];

const ref = (name) => ({ timeseriesId: name, metric: 'Raw' });
const made = (name) => ({ timeseriesId: 'result', metric: name });

/** A chain of steps, each `[operation, parameters, secondInput?]`, over the first of `inputs`. */
function request(inputs, steps) {
  const operations = steps.map(([operation, parameters, second], i) => ({
    operation,
    input: [i === 0 ? ref(inputs[0]) : made(`step${i}`), ...(second === undefined ? [] : [ref(second)])],
    output: [made(`step${i + 1}`)],
    parameters,
  }));
  return [{ metric: 'Result', processingType: 'Batch', operations }];
}

/** For tasks in which a second thread is of no interest. */
const ONE = ['1'];

const aggregate = (name, interval) => ['Aggregate', { function: name, interval }];

/**
 * An in-memory task. `columns`: the task's names of columns, and which column of data.mjs each is; `t` are the times.
 * `sharesTimes`: columnar rivals return the input's times, so windrow is told to do the same.
 */
function inMemory(row, operation, title, columns, steps, { sharesTimes = false } = {}) {
  const inputs = Object.keys(columns).filter((name) => name !== 't');
  const what = { row, id: operation, operation, title, kind: 'memory', rows: 10_000_000 };
  return { ...what, columns, sharesTimes, request: request(inputs, steps) };
}

/** The same over values that use all digits of a double; decimals make Round easier. */
function withSines(work) {
  const sines = { a: 'sine', b: 'cosine' };
  const columns = Object.fromEntries(Object.entries(work.columns).map(([name, from]) => [name, sines[name] ?? from]));
  return { ...work, id: `${work.id}-sine`, title: `${work.title}, full-precision values`, columns, threads: ONE };
}

const STREAM_STEPS = [
  ['Mul', { scalar: 1.5 }],
  ['Add', { scalar: 20.0003 }],
  ['Round', { roundtodigits: 2 }],
  ['Where', { valuerangelist: [{ lower: 0, upper: 140 }] }],
  aggregate('Average', 'QuarterHourly'),
];

const REGULAR = { t: 'timeMs', a: 'a' };
const JITTERED = { t: 'jitteredMs', a: 'a' };

function stream(id, title, chunkRows) {
  const work = inMemory(6, id, title, REGULAR, STREAM_STEPS);
  return { ...work, kind: 'stream', rows: 1_000_000, chunkRows, threads: ONE };
}

/** Hourly averages of each series in a file of `rows` rows. */
function csvHourly(row, layout, rows, title, seriesCount = 1) {
  const id = layout === 'single' ? `csv-hourly-${rows}` : `csv-${layout}`;
  const names = layout === 'single' ? [`samples-${rows}`] : seriesNames(seriesCount);
  const operations = names.map((name) => ({
    operation: 'Aggregate',
    input: [ref(name)],
    output: [{ timeseriesId: name, metric: 'Result' }],
    parameters: { function: 'Average', interval: 'Hourly' },
  }));
  const items = operations.map((operation) => ({ metric: 'Result', processingType: 'Batch', operations: [operation] }));
  return { row, id, operation: `csv-${layout}`, title, kind: 'csv', layout, rows, seriesCount, request: items };
}

/** How the cost grows with size. */
const csvOfSize = (rows, title) => ({ ...csvHourly(8, 'single', rows, title), threads: ONE });

const PAIR = [
  ['Mul', { scalar: 1.5 }],
  ['Add', {}, 'b'],
  ['Round', { roundtodigits: 2 }],
  ['Gt', { scalar: 0 }],
  ['Mul', { scalar: 2 }],
];
const MIDDLE = { valuerangelist: [{ lower: 0, upper: 20 }] };
const CLAMP = { function: 'BoundsLimitCleanse', lowerbound: 0, upperbound: 50 };
const HOUR_ON = { function: 'ShiftByTime', shift: 'PT1H', direction: 'forward' };

const sharesTimes = true;
const elementwise = inMemory(
  3,
  'elementwise',
  'Mul 1.5, Add a series, Round 2, Gt 0, Mul 2; 10M',
  { ...REGULAR, b: 'b' },
  PAIR,
  { sharesTimes },
);
const mask = inMemory(5, 'mask', 'Mask 0..20, 10M', REGULAR, [['Mask', MIDDLE]]);
const where = inMemory(5, 'where', 'Where 0..20, 10M', REGULAR, [['Where', MIDDLE]]);
const cleanse = inMemory(5, 'cleanse', 'Cleanse into 0..50, 10M', REGULAR, [['Cleanse', CLAMP]], { sharesTimes });

const POSITIVE = { t: 'timeMs', a: 'b' };
const PAIR_OF = { ...REGULAR, b: 'b' };
const WITH_STATE = { ...REGULAR, b: 'state' };

/** An operation that the interface lacks, or a function of Aggregate beyond row 4: one thread, results kept. */
function extension(operation, columns, steps, { sharesTimes = true } = {}) {
  const [[name, { function: fn, interval, ...parameters }]] = steps;
  const given = Object.entries(parameters).map(([key, value]) => `${key} ${value}`);
  const title = [name === 'Aggregate' ? `${fn} ${interval}` : name, ...given].join(' ');
  const work = inMemory(9, operation, `${title}, 10M`, columns, steps, { sharesTimes });
  return { ...work, threads: ONE, modes: ['kept'] };
}

const hourlyOf = (operation, name, parameters = {}) =>
  extension(operation, REGULAR, [['Aggregate', { function: name, interval: 'Hourly', ...parameters }]], {
    sharesTimes: false,
  });

const EXTENSIONS = [
  extension('sqrt', POSITIVE, [['Sqrt', {}]]),
  extension('exp', POSITIVE, [['Exp', {}]]),
  extension('log', POSITIVE, [['Log', {}]]),
  extension('pow', POSITIVE, [['Pow', { scalar: 1.7 }]]),
  extension('mod', POSITIVE, [['Mod', { scalar: 7 }]]),
  extension('floor', REGULAR, [['Floor', {}]]),
  extension('scale', REGULAR, [['Scale', { from: 'degC', to: 'degF' }]]),
  extension('maximum', PAIR_OF, [['Max', {}, 'b']]),
  extension('select', WITH_STATE, [['Select', { else: 0 }, 'b']]),
  extension('difference', REGULAR, [['Difference', {}]], { sharesTimes: false }),
  extension('derivative', REGULAR, [['Derivative', { unit: 'PT1H' }]], { sharesTimes: false }),
  extension('counter', REGULAR, [['Counter', {}]], { sharesTimes: false }),
  extension('cumulative-sum', POSITIVE, [['CumulativeSum', {}]]),
  extension('moving-average', REGULAR, [['MovingAverage', { window: 'PT1H' }]]),
  extension('exponential-average', REGULAR, [['ExponentialAverage', { halflife: 'PT1H' }]]),
  extension('hysteresis', REGULAR, [['Hysteresis', { on: 40, off: 10 }]]),
  hourlyOf('minimum-hourly', 'Min'),
  hourlyOf('range-hourly', 'Range'),
  hourlyOf('deviation-hourly', 'StandardDeviation'),
  hourlyOf('median-hourly', 'Median'),
  hourlyOf('percentile-hourly', 'Percentile', { percentile: 95 }),
  hourlyOf('distinct-hourly', 'DistinctCount'),
  hourlyOf('increase-hourly', 'Increase'),
];

export const WORKS = [
  csvHourly(1, 'single', 5_000_000, 'CSV to CSV, hourly average, 5M rows (160 MB)'),
  csvHourly(1, 'long', 5_000_000, 'CSV to CSV, hourly average of 100 series, long layout, 5M rows (220 MB)', 100),
  csvHourly(1, 'wide', 500_000, 'CSV to CSV, hourly average of 20 series, wide layout, 0.5M rows (82 MB)', 20),
  elementwise,
  withSines(elementwise),
  inMemory(4, 'average-hourly', 'Aggregate Average Hourly, 10M', REGULAR, [aggregate('Average', 'Hourly')]),
  inMemory(4, 'sum-quarter', 'Aggregate Sum QuarterHourly, 10M', REGULAR, [aggregate('Sum', 'QuarterHourly')]),
  inMemory(4, 'time-weighted', 'TimeWeightedAverage Hourly, 10M (times jittered)', JITTERED, [
    aggregate('TimeWeightedAverage', 'Hourly'),
  ]),
  mask,
  withSines(mask),
  where,
  withSines(where),
  cleanse,
  withSines(cleanse),
  inMemory(5, 'shift', 'Shift by an hour, 10M', REGULAR, [['Shift', HOUR_ON]]),
  inMemory(5, 'hold', 'HoldLastValue QuarterHourly, 10M (times jittered)', JITTERED, [
    ['HoldLastValue', { function: 'HoldLastValue', interval: 'QuarterHourly' }],
  ]),
  inMemory(5, 'resample', 'Resample PT1M, 10M (times jittered)', JITTERED, [
    ['Resample', { function: 'Resample', frequency: 'PT1M' }],
  ]),
  ...EXTENSIONS,
  stream('stream-1', 'stream, five steps with a window, chunks of 1; 1M', 1),
  stream('stream-10', 'the same, chunks of 10', 10),
  stream('stream-1000', 'the same, chunks of 1000', 1000),
  stream('stream-whole', 'the same as one batch', 1_000_000),
  csvOfSize(1_000_000, 'cost against size: CSV hourly average, 1M rows'),
  csvOfSize(10_000_000, 'the same, 10M rows'),
  { ...csvOfSize(100_000_000, 'the same, 100M rows (3.2 GB)'), onlyWhenAsked: true },
];

/** A task by its id, with its size overridden if given (`--size`, to try the harness). */
export function workById(id, rows) {
  const work = WORKS.find((one) => one.id === id);
  if (work === undefined) throw new Error(`no work ${id}; there are ${WORKS.map((one) => one.id).join(', ')}`);
  return rows === undefined ? work : { ...work, rows };
}
