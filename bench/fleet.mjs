// A million live series, each with its own five steps and an open window of 15 minutes: how many samples per second one
// core processes, one sample for each series in turn, and how much memory a series takes.
//
//   npm run bench:fleet -- [--members 1000000] [--minutes 20] [--part all|time|memory]
//
// The timed part runs as it would for a user. Garbage is collected explicitly only to measure memory, in a process of
// its own.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createPlan, openFleet, pipeline, restoreFleet } from '../dist/index.js';
import { readOptions } from '../scripts/options.mjs';

const {
  part,
  members: memberCount,
  minutes: minuteCount,
} = readOptions(import.meta.url, {
  part: { type: 'string', default: 'all', among: ['all', 'time', 'memory'] },
  members: { type: 'number', default: 1_000_000 },
  minutes: { type: 'number', default: 20 },
}).options;
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

if (part !== 'memory') measureTime();
if (part === 'memory') measureMemory();
if (part === 'all') {
  const words = ['--part', 'memory', '--members', String(memberCount), '--minutes', String(minuteCount)];
  execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...words], { stdio: 'inherit' });
}

function measureTime() {
  const fleet = openFleet(plan);
  const names = memberNames();
  const numbers = Uint32Array.from(names, (_, k) => k);
  const seconds = { names: [], numbers: [] };
  let resultCount = 0;
  for (const [minute, columns] of messages()) {
    const way = minute % 2 === 0 ? 'names' : 'numbers';
    const pushed = time(() => fleet.push({ member: way === 'names' ? names : numbers, ...columns }));
    seconds[way].push(pushed.seconds);
    for (const { member } of pushed.result) resultCount += member.length;
  }
  report('by name', seconds.names.slice(1));
  report('by number', seconds.numbers);
  console.log(`the first message, which makes the members: ${seconds.names[0].toFixed(2)} s; ${resultCount} results`);

  const advanced = time(() => fleet.advance(START_MS + minuteCount * 60_000));
  console.log(`advance of all: ${advanced.seconds.toFixed(2)} s`);
  const written = time(() => fleet.checkpoint());
  const bytes = written.result;
  console.log(`checkpoint: ${written.seconds.toFixed(2)} s, ${each(bytes.length)} bytes a series`);
  const restored = time(() => restoreFleet(plan, bytes));
  console.log(`restored: ${restored.seconds.toFixed(2)} s, ${restored.result.size} series`);
}

/** Runs up to the middle of a window, so that each member has one open. */
function measureMemory() {
  const before = memoryBytes();
  const names = memberNames();
  const named = memoryBytes();
  const fleet = openFleet(plan);
  for (const [, columns] of messages()) fleet.push({ member: names, ...columns });
  const used = memoryBytes();
  // Both are used here so that neither is collected before.
  console.log(`memory, ${fleet.size} series of ${names.length} names:`);
  console.log(`bytes a series: ${each(used - named)}, and ${each(named - before)} for its name`);
}

function memberNames() {
  return Array.from({ length: memberCount }, (_, k) => `site-${k >> 8}/sensor-${k & 255}`);
}

/** One message a minute: a sample for each series, in columns that the next message overwrites. */
function* messages() {
  const timeMs = new Float64Array(memberCount);
  const value = new Float64Array(memberCount);
  for (let minute = 0; minute < minuteCount; minute++) {
    timeMs.fill(START_MS + minute * 60_000);
    for (let k = 0; k < memberCount; k++) value[k] = 20 + ((k * 7919 + minute * 104_729) % 1000) / 100;
    yield [minute, { timeMs, value }];
  }
}

function each(bytes) {
  return Math.round(bytes / memberCount);
}

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

/** The memory in use after a garbage collection. */
function memoryBytes() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
