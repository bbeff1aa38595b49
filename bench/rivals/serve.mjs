/**
 * What every rival written in JavaScript shares: its command line, and the talk with the runner.
 *
 *   node rivals/NAME.mjs version
 *   node rivals/NAME.mjs process IN.csv OUT.csv THREADS            the whole work, then exit
 *   node --expose-gc rivals/NAME.mjs memory WORK THREADS           load, say ready, then obey lines on standard input
 *
 * The lines are `run`, answered by {"ms"}, and `answer PATH`, answered by {"count"}; the end of input ends it.
 * `rivals/serve.py` is the same for Python. An answer file is float64 pairs, time in ms and value, in order of time.
 */
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { columnFiles, readColumn } from './data.mjs';
import { workById } from './works.mjs';

/**
 * `rival`: `version()`, `csvHourly(input, output, threads)` where it has one, and `works`: id -> prepare.
 * `prepare({ work, files, column, threads })` loads in the rival's own form and gives `{ run, answer }`:
 * `run()` does the work, `answer(result)` gives `{ timeMs, value }`, or `answer(result, path)` writes the file itself.
 */
export async function serve(rival) {
  const [command, ...rest] = process.argv.slice(2);
  if (command === 'version') console.log(JSON.stringify({ version: await rival.version(), works: worksOf(rival) }));
  else if (command === 'process') await rival.csvHourly(rest[0], rest[1], Number(rest[2]));
  else await serveMemory(rival, rest[0], Number(rest[1]));
}

function worksOf(rival) {
  return [...(rival.csvHourly === undefined ? [] : ['process']), ...Object.keys(rival.works ?? {})];
}

// `ID:WAY` is a second way of the work ID.
async function serveMemory(rival, id, threads) {
  const work = workById(id.split(':')[0]);
  const files = columnFiles(work.rows);
  const column = (name) => readColumn(files[name]);
  const { run, answer } = await rival.works[id]({ work, files, column, threads });
  let result;
  const obey = {
    async run() {
      // The result before is let go first: a rival is timed as if it ran once.
      result = undefined;
      globalThis.gc?.();
      const startMs = performance.now();
      result = await run();
      return { ms: performance.now() - startMs };
    },
    async answer(path) {
      const columns = await answer(result, path);
      return { count: columns === undefined ? null : writeAnswer(path, columns) };
    },
  };
  say({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    const [order, path] = line.split(' ');
    say(await obey[order](path));
  }
  // Native engines keep threads that would hold the process open.
  process.exit(0);
}

function writeAnswer(path, { timeMs, value }) {
  const pairs = new Float64Array(2 * value.length);
  for (let i = 0; i < value.length; i++) {
    pairs[2 * i] = timeMs[i];
    pairs[2 * i + 1] = value[i];
  }
  writeFileSync(path, new Uint8Array(pairs.buffer));
  return value.length;
}

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
