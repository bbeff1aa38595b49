/**
 * What every rival written in JavaScript shares: its command line, and what is timed. Nobody calls a collector.
 *
 *   node rivals/NAME.mjs version
 *   node rivals/NAME.mjs csv LAYOUT IN.csv OUT.csv THREADS    the whole work, then exit; the runner times it
 *   node rivals/NAME.mjs files TASK                           makes the files of its own format, where it has one
 *   node rivals/NAME.mjs memory TASK                          loads, runs, and says how long each took, as JSON
 *
 * TASK is JSON: `{ work, rows, way, mode, threads, files, runs, budgetMs, limitMb, answer? }`. There are `runs` runs,
 * but no further one begins after `budgetMs`, or when the process holds more than `limitMb`.
 *
 * - `kept`: each result is held to the end, so that none gets the memory of another. The answer is that of the first
 *   run, read after all the others.
 * - `given-back`: a result is given back as soon as it is there, by the rival's own form or by being dropped, and that
 *   counts; one more run, not timed, gives the answer.
 *
 * `rivals/serve.py` is the same for Python. An answer file is float64 pairs, time in ms and value, in order of time.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { readColumn } from './data.mjs';
import { workById } from './works.mjs';

/**
 * `rival`: `version()`, `csv`: layout -> (input, output, threads), `makeFiles({ work, column })` where it loads from a
 * format of its own, and `works`: operation -> prepare, or `OPERATION:WAY` for a second way.
 * `prepare({ work, column, threads, mode })` loads in the rival's own form and gives `{ run, giveBack?, answer }`:
 * `run()` does the work, `giveBack(result)` gives back its memory, and `answer(result)` gives `{ timeMs, value }`, or
 * `answer(result, path)` writes the file itself.
 */
export async function serve(rival) {
  const [command, ...rest] = process.argv.slice(2);
  if (command === 'version') say({ version: await rival.version(), operations: operationsOf(rival) });
  else if (command === 'csv') await rival.csv[rest[0]](rest[1], rest[2], Number(rest[3]));
  else if (command === 'files') await rival.makeFiles(givenBy(JSON.parse(rest[0])));
  else say(await measure(rival, JSON.parse(rest[0])));
  // Native engines keep threads that would hold the process open.
  process.exit(0);
}

function operationsOf(rival) {
  return [...Object.keys(rival.csv ?? {}).map((layout) => `csv-${layout}`), ...Object.keys(rival.works ?? {})];
}

/** What a rival's file gets to know of a task. */
function givenBy({ work, rows, files, threads, mode }) {
  return { work: workById(work, rows), column: (name) => readColumn(files[name]), threads, mode };
}

async function measure(rival, task) {
  const given = givenBy(task);
  const startMs = performance.now();
  const prepared = await rival.works[given.work.operation + (task.way ?? '')](given);
  const loadMs = performance.now() - startMs;
  forgetPeakMb();
  const { runs, firstPeakMb, first } = await (task.mode === 'kept' ? runKeeping : runGivingBack)(prepared, task);
  const peakMb = readPeakMb();
  if (task.answer !== undefined) {
    const columns = await prepared.answer(first, task.answer);
    if (columns !== undefined) writeAnswer(task.answer, columns);
  }
  return { loadMs, runs, firstPeakMb, peakMb };
}

async function runKeeping({ run }, task) {
  const held = [];
  const timed = await timedRuns(task, async () => held.push(await run()));
  return { ...timed, first: held[0] };
}

async function runGivingBack({ run, giveBack = () => {} }, task) {
  const timed = await timedRuns(task, async () => giveBack(await run()));
  return { ...timed, first: task.answer === undefined ? undefined : await run() };
}

/** The wall-clock time of each run, and the system's part of it, which is mostly the cost of fresh memory. */
async function timedRuns(task, step) {
  const runs = [];
  let firstPeakMb;
  const untilMs = performance.now() + task.budgetMs;
  const isDone = () => runs.length >= task.runs || performance.now() >= untilMs || readPeakMb() > task.limitMb;
  while (runs.length === 0 || !isDone()) {
    const before = process.resourceUsage();
    const startMs = performance.now();
    await step();
    const ms = performance.now() - startMs;
    const after = process.resourceUsage();
    runs.push({ ms, systemMs: (after.systemCPUTime - before.systemCPUTime) / 1000 });
    firstPeakMb ??= readPeakMb();
  }
  return { runs, firstPeakMb };
}

/** The peak memory of the process in MB; undefined without /proc. */
function readPeakMb() {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
  } catch {
    return undefined;
  }
}

/** Resets the peak, so that loading does not count; only Linux can do this. */
function forgetPeakMb() {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Without it the peak includes loading: higher, never lower.
  }
}

function writeAnswer(path, { timeMs, value }) {
  const pairs = new Float64Array(2 * value.length);
  for (let i = 0; i < value.length; i++) {
    pairs[2 * i] = timeMs[i];
    pairs[2 * i + 1] = value[i];
  }
  writeFileSync(path, new Uint8Array(pairs.buffer));
}

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
