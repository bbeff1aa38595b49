/**
 * Plain JavaScript as one would write it for the one task: a loop over typed arrays, no library, plain sums. Arrays are
 * given back by dropping them; the garbage collector frees them later.
 */
import { createReadStream, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { serve } from '../serve.mjs';

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * One pass over the lines, with a sum and count per column; the line of a window is written when the next one starts.
 */
async function wide(input, output) {
  const text = [];
  let windowMs = Number.NaN;
  let sums = [];
  let count = 0;
  const emit = () => {
    if (count > 0) text.push(`${new Date(windowMs).toISOString()},${sums.map((sum) => sum / count).join(',')}`);
  };
  for await (const line of createInterface({ input: createReadStream(input) })) {
    if (text.length === 0) {
      text.push(line);
      continue;
    }
    const cells = line.split(',');
    const timeMs = Date.parse(cells[0]);
    const startMs = timeMs - (timeMs % HOUR_MS);
    if (startMs !== windowMs) {
      emit();
      windowMs = startMs;
      sums = new Array(cells.length - 1).fill(0);
      count = 0;
    }
    for (let k = 1; k < cells.length; k++) sums[k - 1] += Number(cells[k]);
    count++;
  }
  emit();
  writeFileSync(output, `${text.join('\n')}\n`);
}

async function long(input, output) {
  const text = ['timestamp,timeseriesId,value'];
  const open = new Map();
  const emit = (name, one) => text.push(`${new Date(one.windowMs).toISOString()},${name},${one.sum / one.count}`);
  let isHeader = true;
  for await (const line of createInterface({ input: createReadStream(input) })) {
    if (isHeader) {
      isHeader = false;
      continue;
    }
    const [time, name, value] = line.split(',');
    const timeMs = Date.parse(time);
    const startMs = timeMs - (timeMs % HOUR_MS);
    let one = open.get(name);
    if (one?.windowMs !== startMs) {
      if (one !== undefined) emit(name, one);
      one = { windowMs: startMs, sum: 0, count: 0 };
      open.set(name, one);
    }
    one.sum += Number(value);
    one.count++;
  }
  for (const [name, one] of open) emit(name, one);
  writeFileSync(output, `${text.join('\n')}\n`);
}

/** The first `count` entries of both columns. */
const cut = (timeMs, value, count) => ({ timeMs: timeMs.subarray(0, count), value: value.subarray(0, count) });

function elementwise(timeMs, a, b) {
  const value = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) {
    const rounded = Math.round((a[i] * 1.5 + b[i]) * 100) / 100;
    value[i] = (rounded > 0 ? 1 : 0) * 2;
  }
  return { timeMs, value };
}

function aggregate(timeMs, a, windowMs, average) {
  const starts = [];
  const values = [];
  for (let i = 0; i < a.length; ) {
    const start = timeMs[i] - (timeMs[i] % windowMs);
    const end = start + windowMs;
    const first = i;
    let sum = 0;
    while (i < a.length && timeMs[i] < end) sum += a[i++];
    starts.push(start);
    values.push(average ? sum / (i - first) : sum);
  }
  return { timeMs: starts, value: values };
}

function timeWeighted(timeMs, a, windowMs) {
  const starts = [];
  const values = [];
  let held;
  let i = 0;
  const firstMs = timeMs[0];
  for (let start = firstMs - (firstMs % windowMs); i < a.length; start += windowMs) {
    const end = start + windowMs;
    const knownFromMs = Math.max(start, firstMs);
    let fromMs = knownFromMs;
    let area = 0;
    while (i < a.length && timeMs[i] < end) {
      if (held !== undefined) area += held * (timeMs[i] - fromMs);
      fromMs = timeMs[i];
      held = a[i++];
    }
    starts.push(start);
    values.push((area + held * (end - fromMs)) / (end - knownFromMs));
  }
  return { timeMs: starts, value: values };
}

function keep(timeMs, a, inside) {
  const keptMs = new Float64Array(a.length);
  const value = new Float64Array(a.length);
  let count = 0;
  for (let i = 0; i < a.length; i++) {
    if ((a[i] >= 0 && a[i] <= 20) === inside) {
      keptMs[count] = timeMs[i];
      value[count++] = a[i];
    }
  }
  return cut(keptMs, value, count);
}

function cleanse(timeMs, a) {
  const value = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) value[i] = Math.min(50, Math.max(0, a[i]));
  return { timeMs, value };
}

function shift(timeMs, a) {
  const shiftedMs = new Float64Array(a.length);
  for (let i = 0; i < a.length; i++) shiftedMs[i] = timeMs[i] + HOUR_MS;
  return { timeMs: shiftedMs, value: a };
}

/** The last sample at or before each tick, from the first tick at or after the first sample to the last sample. */
function hold(timeMs, a, stepMs) {
  const first = Math.ceil(timeMs[0] / stepMs) * stepMs;
  const count = Math.floor((timeMs[a.length - 1] - first) / stepMs) + 1;
  const ticks = new Float64Array(count);
  const value = new Float64Array(count);
  let i = 0;
  for (let k = 0; k < count; k++) {
    ticks[k] = first + k * stepMs;
    while (i + 1 < a.length && timeMs[i + 1] <= ticks[k]) i++;
    value[k] = a[i];
  }
  return { timeMs: ticks, value };
}

/** A closure that gets one sample at a time; a hand-written loop does not care about chunks. */
function stream(timeMs, a) {
  const starts = [];
  const values = [];
  let windowMs = Number.NaN;
  let sum = 0;
  let count = 0;
  const close = () => {
    if (count === 0) return;
    starts.push(windowMs);
    values.push(sum / count);
  };
  const push = (sampleMs, x) => {
    const y = Math.round((x * 1.5 + 20.0003) * 100) / 100;
    if (y < 0 || y > 140) return;
    const start = sampleMs - (sampleMs % QUARTER_MS);
    if (start !== windowMs) {
      close();
      windowMs = start;
      sum = 0;
      count = 0;
    }
    sum += y;
    count++;
  };
  for (let i = 0; i < a.length; i++) push(timeMs[i], a[i]);
  close();
  return { timeMs: starts, value: values };
}

const over = (operation) => ({ work, column }) => {
  const columns = Object.keys(work.columns).map(column);
  return { run: () => operation(...columns), answer: (result) => result };
};

await serve({
  version: () => `Node ${process.version}`,
  // One series is a wide file with one column.
  csv: { single: wide, long, wide },
  works: {
    elementwise: over(elementwise),
    'average-hourly': over((timeMs, a) => aggregate(timeMs, a, HOUR_MS, true)),
    'sum-quarter': over((timeMs, a) => aggregate(timeMs, a, QUARTER_MS, false)),
    'time-weighted': over((timeMs, a) => timeWeighted(timeMs, a, HOUR_MS)),
    mask: over((timeMs, a) => keep(timeMs, a, false)),
    where: over((timeMs, a) => keep(timeMs, a, true)),
    cleanse: over(cleanse),
    shift: over(shift),
    hold: over((timeMs, a) => hold(timeMs, a, QUARTER_MS)),
    resample: over((timeMs, a) => hold(timeMs, a, MINUTE_MS)),
    'stream-1': over(stream),
    'stream-10': over(stream),
    'stream-1000': over(stream),
    'stream-whole': over(stream),
  },
});
