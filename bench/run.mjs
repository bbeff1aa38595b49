// The project's own benchmark: kernels and operations in batch, streams and CSV, by tinybench.
//
//   npm run bench                          a table
//   npm run bench -- --save FILE.json      and saves it
//   npm run bench -- --compare FILE.json   compared with a saved one: ratios below 1 are faster now
//   npm run bench -- --only stream         tasks whose name contains a text

import { readFileSync, writeFileSync } from 'node:fs';
import { Bench } from 'tinybench';
import { readOptions } from '../scripts/options.mjs';
import { createWorks } from './works.mjs';

const { options } = readOptions(import.meta.url, {
  save: { type: 'string' },
  compare: { type: 'string' },
  only: { type: 'string' },
});

const works = createWorks().filter(({ name }) => options.only === undefined || name.includes(options.only));
const bench = new Bench({ time: 500, warmupTime: 200 });
for (const { name, call } of works) bench.add(name, call);
await bench.run();

// The median: machines are noisy, and every hiccup changes a mean.
const medians = Object.fromEntries(bench.tasks.map(({ name, result }) => [name, result.latency.p50]));
const before = options.compare === undefined ? {} : JSON.parse(readFileSync(options.compare, 'utf8'));

console.table(
  works.map(({ name, count }) => ({
    work: name,
    'median ms': round(medians[name]),
    'ns each': round((medians[name] * 1e6) / count),
    'million/s': round(count / medians[name] / 1000),
    ...(before[name] === undefined ? {} : { 'now/before': round(medians[name] / before[name]) }),
  })),
);
if (options.save !== undefined) writeFileSync(options.save, `${JSON.stringify(medians, undefined, 2)}\n`);

function round(value) {
  return Number(value.toPrecision(3));
}
