/** windrow as it is built in ../../dist: the library's door for memory and streams, the command for CSV. */
import { readFileSync } from 'node:fs';
import { serve } from '../serve.mjs';
import { WORKS } from '../works.mjs';

const root = new URL('../../../', import.meta.url);
const { createPlan, loadSeries, openStream, runBatch } = await import(new URL('dist/index.js', root).href);
if (typeof createPlan !== 'function') throw new Error('not built: dist/index.js has no createPlan yet');

function inputs({ work, column }) {
  const timeMs = column(work.time);
  return work.columns.map((name) => ({ timeseriesId: name, metric: 'Raw', timeMs, value: column(name) }));
}

/** Over series that were loaded first, as every rival loads its own form. */
function batch(given) {
  return runsOver(loadSeries(inputs(given)), given);
}

/** Over the arrays as they are, which each run has to check and copy. */
function batchOverArrays(given) {
  return runsOver(inputs(given), given);
}

function runsOver(series, { work }) {
  const plan = createPlan(work.request);
  return { run: () => runBatch(plan, series), answer: (run) => run.series[0] };
}

/** As a program that runs again and again does it: each run writes over the columns of the one before. */
function batchReusing(given) {
  const series = loadSeries(inputs(given));
  const plan = createPlan(given.work.request);
  let last = runBatch(plan, series);
  const run = () => {
    last = runBatch(plan, series, { reuse: last });
    return last;
  };
  return { run, answer: (result) => result.series[0] };
}

/** Chunks are made beforehand, as if they had come from outside; the stream's answer is put together afterwards. */
function stream(given) {
  const { chunkRows, rows, request } = given.work;
  const plan = createPlan(request);
  const [whole] = inputs(given);
  const chunks = [];
  for (let row = 0; row < rows; row += chunkRows) {
    const timeMs = whole.timeMs.subarray(row, row + chunkRows);
    chunks.push([{ ...whole, timeMs, value: whole.value.subarray(row, row + chunkRows) }]);
  }
  const run = () => {
    const live = openStream(plan);
    const final = [];
    for (const chunk of chunks) {
      const fresh = live.push(chunk);
      if (fresh.length > 0) final.push(...fresh);
    }
    final.push(...live.close().series);
    return final;
  };
  return { run, answer: joined };
}

function joined(parts) {
  return { timeMs: parts.flatMap((one) => [...one.timeMs]), value: parts.flatMap((one) => [...one.value]) };
}

const isBatch = (work) => work.kind !== 'stream' || work.id === 'stream-whole';
const prepareOf = (work) => (isBatch(work) ? batch : stream);
const inProcess = WORKS.filter((work) => work.kind !== 'process');

await serve({
  version: () => JSON.parse(readFileSync(new URL('package.json', root))).version,
  works: Object.fromEntries([
    ...inProcess.map((work) => [work.id, prepareOf(work)]),
    ...inProcess.filter(isBatch).map((work) => [`${work.id}:reuse`, batchReusing]),
    ...inProcess.filter(isBatch).map((work) => [`${work.id}:arrays`, batchOverArrays]),
  ]),
});
