/** Not a rival but the machine: what it takes to move the bytes of a work's input once, and to do nothing with them. */
import { closeSync, openSync, readSync } from 'node:fs';
import { serve } from '../serve.mjs';
import { WORKS } from '../works.mjs';

const CHUNK_BYTES = 1 << 20;

/** Reads the file into one buffer again and again. */
function readThrough(input) {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  const file = openSync(input, 'r');
  while (readSync(file, buffer) > 0);
  closeSync(file);
}

/** Each column read once, one column written, into memory that is already there. */
function copy({ work, column }) {
  const columns = work.columns.map(column);
  const target = new Float64Array(work.rows);
  const run = () => {
    for (const values of columns) target.set(values);
    return target;
  };
  return { run, answer: (value) => ({ timeMs: value, value }) };
}

const memoryWorks = WORKS.filter((work) => work.kind === 'memory');

await serve({
  version: () => 'this machine',
  csvHourly: readThrough,
  works: Object.fromEntries(memoryWorks.map((work) => [work.id, copy])),
});
