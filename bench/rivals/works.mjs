/**
 * The works: what is measured, on what data, and the request that says it to windrow.
 * Rivals know a work by its id; a rival that has no such id cannot say it and is left out of that row.
 *
 * kind `process`: CSV to CSV, whole process timed. kind `memory`: inputs loaded first, the operation alone timed.
 */
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

const aggregate = (name, interval) => ['Aggregate', { function: name, interval }];

/** An in-memory work over column `a` at the times of `time`; `more` names further columns at the same times. */
function inMemory(row, id, title, time, steps, more = []) {
  const columns = ['a', ...more];
  return { row, id, title, kind: 'memory', rows: 10_000_000, time, columns, request: request(columns, steps) };
}

const STREAM_STEPS = [
  ['Mul', { scalar: 1.5 }],
  ['Add', { scalar: 20.0003 }],
  ['Round', { roundtodigits: 2 }],
  ['Where', { valuerangelist: [{ lower: 0, upper: 140 }] }],
  aggregate('Average', 'QuarterHourly'),
];

function stream(id, title, chunkRows) {
  return { ...inMemory(6, id, title, 'timeMs', STREAM_STEPS), kind: 'stream', rows: 1_000_000, chunkRows };
}

function csvHourly(row, rows, title) {
  const hourly = request([`samples-${rows}`], [aggregate('Average', 'Hourly')]);
  return { row, id: `csv-hourly-${rows}`, title, kind: 'process', rows, request: hourly };
}

const PAIR = [
  ['Mul', { scalar: 1.5 }],
  ['Add', {}, 'b'],
  ['Round', { roundtodigits: 2 }],
  ['Gt', { scalar: 0 }],
  ['Mul', { scalar: 2 }],
];
const MIDDLE = { valuerangelist: [{ lower: 0, upper: 20 }] };
const CLAMP = { function: 'BoundsLimitCleanse', lowerbound: 0, upperbound: 50 };

export const WORKS = [
  csvHourly(1, 5_000_000, 'CSV to CSV, hourly average, 5M rows (160 MB)'),
  inMemory(3, 'elementwise', 'Mul 1.5, Add a series, Round 2, Gt 0, Mul 2; 10M', 'timeMs', PAIR, ['b']),
  inMemory(4, 'average-hourly', 'Aggregate Average Hourly, 10M', 'timeMs', [aggregate('Average', 'Hourly')]),
  inMemory(4, 'sum-quarter', 'Aggregate Sum QuarterHourly, 10M', 'timeMs', [aggregate('Sum', 'QuarterHourly')]),
  inMemory(4, 'time-weighted', 'TimeWeightedAverage Hourly, 10M (times jittered)', 'jitteredMs', [
    aggregate('TimeWeightedAverage', 'Hourly'),
  ]),
  inMemory(5, 'mask', 'Mask 0..20, 10M', 'timeMs', [['Mask', MIDDLE]]),
  inMemory(5, 'where', 'Where 0..20, 10M', 'timeMs', [['Where', MIDDLE]]),
  inMemory(5, 'cleanse', 'Cleanse into 0..50, 10M', 'timeMs', [['Cleanse', CLAMP]]),
  inMemory(5, 'shift', 'Shift by an hour, 10M', 'timeMs', [
    ['Shift', { function: 'ShiftByTime', shift: 'PT1H', direction: 'forward' }],
  ]),
  inMemory(5, 'hold', 'HoldLastValue QuarterHourly, 10M (times jittered)', 'jitteredMs', [
    ['HoldLastValue', { function: 'HoldLastValue', interval: 'QuarterHourly' }],
  ]),
  inMemory(5, 'resample', 'Resample PT1M, 10M (times jittered)', 'jitteredMs', [
    ['Resample', { function: 'Resample', frequency: 'PT1M' }],
  ]),
  stream('stream-1', 'stream, five steps with a window, chunks of 1; 1M', 1),
  stream('stream-10', 'the same, chunks of 10', 10),
  stream('stream-1000', 'the same, chunks of 1000', 1000),
  stream('stream-whole', 'the same as one batch', 1_000_000),
  csvHourly(8, 1_000_000, 'cost against size: CSV hourly average, 1M rows'),
  csvHourly(8, 10_000_000, 'the same, 10M rows'),
  { ...csvHourly(8, 100_000_000, 'the same, 100M rows (3.2 GB)'), onlyWhenAsked: true },
];

export function workById(id) {
  const work = WORKS.find((one) => one.id === id);
  if (work === undefined) throw new Error(`no work ${id}; there are ${WORKS.map((one) => one.id).join(', ')}`);
  return work;
}
