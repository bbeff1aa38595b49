/**
 * Not a rival but the machine: how long it takes to move the bytes of a task's input once, and do nothing else. Into
 * fresh memory if results are kept, into the same memory if they are given back.
 */
import { readThrough } from '../data.mjs';
import { serve } from '../serve.mjs';
import { WORKS } from '../works.mjs';

/** Reads each column of values once and writes one column. */
function copy({ work, column, mode }) {
  const names = Object.keys(work.columns).filter((name) => name !== 't');
  const columns = names.map(column);
  const same = new Float64Array(mode === 'kept' ? 0 : work.rows);
  const run = () => {
    const target = mode === 'kept' ? new Float64Array(work.rows) : same;
    for (const values of columns) target.set(values);
    return target;
  };
  return { run, answer: (value) => ({ timeMs: value, value }) };
}

const memoryWorks = WORKS.filter((work) => work.kind === 'memory');

await serve({
  version: () => 'this machine',
  csv: { single: readThrough, long: readThrough, wide: readThrough },
  works: Object.fromEntries(memoryWorks.map((work) => [work.operation, copy])),
});
