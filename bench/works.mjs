// The tasks of the benchmark; each says how many samples (or rows) one call processes.

import { readCsv, writeCsv } from '../dist/csv.js';
import { createPlan, loadSeries, openStream, runBatch } from '../dist/index.js';

const SAMPLES = 1_000_000;
const ROWS = 100_000;

const raw = (timeseriesId) => ({ timeseriesId, metric: 'Raw' });

/** One item with a chain of steps: `[operation, parameters, second input?]`. */
function requestOf(steps, processingType = 'batch') {
  const operations = steps.map(([operation, parameters, second], index) => ({
    operation,
    input: [index === 0 ? raw('a') : { timeseriesId: 'a', metric: `step ${index - 1}` }, ...(second ? [second] : [])],
    output: [{ timeseriesId: 'a', metric: index === steps.length - 1 ? 'Result' : `step ${index}` }],
    parameters,
  }));
  return [{ metric: 'Result', processingType, operations }];
}

// Deterministic values, so that two runs do the same work.
function seriesOf(count) {
  const timeMs = Float64Array.from({ length: count }, (_, i) => 1_704_067_200_000 + i * 60_000);
  const a = Float64Array.from(timeMs, (_, i) => 20 + 5 * Math.sin(i / 1000) + ((i * 7919) % 1000) / 1000);
  const b = Float64Array.from(timeMs, (_, i) => 10 * Math.cos(i / 700));
  return [
    { ...raw('a'), timeMs, value: a },
    { ...raw('b'), timeMs, value: b },
  ];
}

const FIVE_STEPS = [
  ['Mul', { scalar: 1.5 }],
  ['Add', {}, raw('b')],
  ['Round', { roundtodigits: 2 }],
  ['Gt', { scalar: 0 }],
  ['Mul', { scalar: 2 }],
];

const STEPS = {
  'Add scalar': [['Add', { scalar: 1 }]],
  'Add vector': [['Add', {}, raw('b')]],
  'Add held': [['Add', { align: 'hold' }, raw('b')]],
  Gt: [['Gt', { scalar: 20 }]],
  Round: [['Round', { roundtodigits: 2 }]],
  Mask: [['Mask', { valuerangelist: [{ lower: 18, upper: 22 }] }]],
  Cleanse: [['Cleanse', { function: 'BoundsLimitCleanse', lowerbound: 18, upperbound: 22 }]],
  'Shift by time': [['Shift', { function: 'ShiftByTime', shift: 'PT1H', direction: 'forward' }]],
  'HoldLastValue PT1M': [['HoldLastValue', { interval: 'PT1M' }]],
  'Resample PT1M': [['Resample', { frequency: 'PT1M' }]],
  'Average Hourly': [['Aggregate', { function: 'Average', interval: 'Hourly' }]],
  'Sum QuarterHourly': [['Aggregate', { function: 'Sum', interval: 'QuarterHourly' }]],
  'Average Daily, Berlin': [['Aggregate', { function: 'Average', interval: 'Daily', timezone: 'Europe/Berlin' }]],
  'TimeWeightedAverage Hourly': [['Aggregate', { function: 'TimeWeightedAverage', interval: 'Hourly' }]],
  'Median Hourly': [['Aggregate', { function: 'Median', interval: 'Hourly' }]],
  'five elementwise steps': FIVE_STEPS,
};

const LIVE_STEPS = [
  ['Mul', { scalar: 1.5 }],
  ['Add', { scalar: 2 }],
  ['Round', { roundtodigits: 2 }],
  ['Aggregate', { function: 'Average', interval: 'QuarterHourly' }],
  ['Gt', { scalar: 0 }],
];

/** Every task: its name, the samples per call, and the call. */
export function createWorks() {
  const [a, b] = seriesOf(SAMPLES);
  const loaded = loadSeries([a, b]);
  const batches = Object.entries(STEPS).flatMap(([name, steps]) => [
    batchWork(`batch, ${name}`, steps, [a, b]),
    batchWork(`batch, ${name}, loaded`, steps, loaded),
  ]);
  const streams = [1, 10, 1000].map((length) => streamWork(a, length));
  const text = writeCsv([{ ...a, timeMs: a.timeMs.subarray(0, ROWS), value: a.value.subarray(0, ROWS) }]);
  const bytes = new TextEncoder().encode(text);
  const { series } = readCsv(bytes);
  return [
    { name: 'createPlan, five steps', count: 1, call: () => createPlan(requestOf(FIVE_STEPS)) },
    ...batches,
    ...streams,
    { name: 'readCsv, long layout', count: ROWS, call: () => readCsv(bytes) },
    { name: 'writeCsv', count: ROWS, call: () => writeCsv(series) },
  ];
}

function batchWork(name, steps, series) {
  const plan = createPlan(requestOf(steps));
  const inputs = series.slice(0, plan.sources.length);
  // Each run is disposed, so that the time does not include the system's allocation of memory.
  const call = () => runBatch(plan, inputs).dispose();
  return { name, count: SAMPLES, call };
}

function streamWork(series, length) {
  const plan = createPlan(requestOf(LIVE_STEPS, 'stream'));
  const count = 10_000;
  const parts = [];
  for (let at = 0; at < count; at += length) {
    const timeMs = series.timeMs.subarray(at, at + length);
    parts.push([{ ...raw('a'), timeMs, value: series.value.subarray(at, at + length) }]);
  }
  const call = () => {
    const stream = openStream(plan);
    for (const part of parts) stream.push(part);
    stream.close();
  };
  return { name: `stream, five steps, chunks of ${length}`, count, call };
}
