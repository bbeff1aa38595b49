// A million live series, each with its own five steps and an open window of 15 minutes: what a series takes of memory,
// and how many samples a second one core takes, one sample for each series in turn.
//
//   npm run bench:fleet -- [--members 1000000] [--minutes 20]

import { parseArgs } from 'node:util';
import { createPlan, openFleet, pipeline, restoreFleet } from '../dist/index.js';

const { values: options } = parseArgs({
  options: { members: { type: 'string', default: '1000000' }, minutes: { type: 'string', default: '20' } },
});
const memberCount = Number(options.members);
const minuteCount = Number(options.minutes);
const START_MS = 1_704_067_200_000;

const plan = createPlan([
  pipeline('template')
    .mul(1.5)
    .add(2)
    .round(2)
    .aggregate({ function: 'Average', interval: 'QuarterHourly' })
    .sub(20)
    .as('Mean'),
]);

const before = memoryBytes();
const names = Array.from({ length: memberCount }, (_, k) => `site-${k >> 8}/sensor-${k & 255}`);
const named = memoryBytes();
let fleet = openFleet(plan);

// A message a minute: one sample of each series, which is told by its name.
const timeMs = new Float64Array(memberCount);
const value = new Float64Array(memberCount);
const seconds = { names: [], numbers: [] };
let resultCount = 0;
const numbers = Uint32Array.from(names, (_, k) => k);
for (let minute = 0; minute < minuteCount; minute++) {
  timeMs.fill(START_MS + minute * 60_000);
  for (let k = 0; k < memberCount; k++) value[k] = 20 + ((k * 7919 + minute * 104_729) % 1000) / 100;
  const way = minute % 2 === 0 ? 'names' : 'numbers';
  const from = performance.now();
  const results = fleet.push({ member: way === 'names' ? names : numbers, timeMs, value });
  seconds[way].push((performance.now() - from) / 1000);
  for (const { member } of results) resultCount += member.length;
}
const used = memoryBytes();
report('by name', seconds.names.slice(1));
report('by number', seconds.numbers);
console.log(`${resultCount} results`);
const each = (bytes) => Math.round(bytes / memberCount);
console.log(`bytes a series: ${each(used - named)}, and ${each(named - before)} for its name`);

const advanced = time(() => fleet.advance(START_MS + minuteCount * 60_000));
console.log(`advance of all: ${advanced.seconds.toFixed(2)} s`);
const written = time(() => fleet.checkpoint());
const bytes = written.result;
console.log(`checkpoint: ${written.seconds.toFixed(2)} s, ${each(bytes.length)} bytes a series`);
const restored = time(() => restoreFleet(plan, bytes));
fleet = restored.result;
console.log(`restored: ${restored.seconds.toFixed(2)} s, ${fleet.size} series`);

function report(way, times) {
  if (times.length === 0) return;
  const least = Math.min(...times);
  const median = times.toSorted((a, b) => a - b)[times.length >> 1];
  const rate = (count) => `${(memberCount / count / 1e6).toFixed(2)} M samples/s`;
  console.log(
    `${way}: ${least.toFixed(2)} s at best (${rate(least)}), ${median.toFixed(2)} s in the median (${rate(median)})`,
  );
}

function time(work) {
  const from = performance.now();
  const result = work();
  return { result, seconds: (performance.now() - from) / 1000 };
}

function memoryBytes() {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
