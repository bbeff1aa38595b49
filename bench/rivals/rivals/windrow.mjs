/**
 * windrow as built in ../../dist: the library for memory and streams, the command for CSV. Memory: series prepared by
 * `loadSeries`, or (`:arrays`) plain arrays, which each run checks and copies. Where the rivals' results share the
 * input's times, so do windrow's (`shareTimes`), except for `:own-times`. A run is given back by `run.dispose()`, which
 * is what `using` calls.
 */
import { readFileSync } from 'node:fs';
import { serve } from '../serve.mjs';
import { WORKS } from '../works.mjs';

const root = new URL('../../../', import.meta.url);
const { createPlan, loadSeries, openStream, runBatch } = await import(new URL('dist/index.js', root).href);
if (typeof createPlan !== 'function') throw new Error('not built: dist/index.js has no createPlan yet');

function inputs({ work, column }) {
  const timeMs = column('t');
  const names = Object.keys(work.columns).filter((name) => name !== 't');
  return names.map((name) => ({ timeseriesId: name, metric: 'Raw', timeMs, value: column(name) }));
}

const batch = ({ isLoaded, sharesTimes = true }) => (given) => {
  const { work } = given;
  const plan = createPlan(work.request);
  const series = isLoaded ? loadSeries(inputs(given)) : inputs(given);
  const options = { shareTimes: sharesTimes && work.sharesTimes };
  return {
    run: () => runBatch(plan, series, options),
    giveBack: (run) => run.dispose(),
    answer: (run) => run.series[0],
  };
};

/** Chunks are made beforehand, as if received from outside; the answer of the stream is put together afterwards. */
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

const works = {};
for (const { kind, operation, sharesTimes, modes } of WORKS) {
  if (kind === 'csv') continue;
  if (kind === 'stream' && operation !== 'stream-whole') {
    works[operation] = stream;
    continue;
  }
  works[operation] = batch({ isLoaded: true });
  if (modes !== undefined) continue;
  works[`${operation}:arrays`] = batch({ isLoaded: false });
  if (sharesTimes) works[`${operation}:own-times`] = batch({ isLoaded: true, sharesTimes: false });
}

await serve({ version: () => JSON.parse(readFileSync(new URL('package.json', root))).version, works });
