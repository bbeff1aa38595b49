// Side by side, in one run: every work, windrow and each rival that can say it.
//
//   node run.mjs [--rows 1,3] [--works mask,where] [--modes first,kept,given-back] [--rivals windrow,duckdb]
//                [--threads 1,2] [--processes 3] [--repeat 5] [--size ROWS] [--cpus 0,1 | --no-pin] [--large]
//                [--save FILE.json] [--write]
//
// --rows are the numbers of tasks in docs/benchmarks.md, --processes how many fresh processes of each rival, --repeat
// how many runs in each (for CSV how many processes; four times as many where results are given back), --size tries the
// in-memory tasks on fewer samples, --large adds the file of 100M rows, --save keeps the figures as JSON, for
// report.mjs; --write puts docs/benchmarks.md, its chart and README's table in place.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../scripts/options.mjs';
import { difference, readCsvPairs, readPairs } from './answers.mjs';
import { columnFiles, csvFile, readThrough } from './data.mjs';
import { runProcess } from './member.mjs';
import { hasPageReporting, machine, table, writeReport } from './report.mjs';
import { RIVALS, commandOf, environment, hasWindrow, labelIn, touchCommand, windrowCommand } from './rivals.mjs';
import { MODES, WORKS, workById } from './works.mjs';

const DEADLINE_MS = 180_000;
/** How long the runs of one process may take before it stops early; see `serve.mjs`. */
const BUDGET_MS = 1000;
/** A process that took this long is not started again. */
const SLOW_PROCESS_MS = 10_000;
const CSV_BUDGET_MS = 10_000;
const CSV_RUNS_MIN = 3;
/** How much memory kept results may take. */
const LIMIT_MB = 5000;
/** About the memory of a process that keeps its results. */
const TOUCHED_MB = 1500;
const SCRATCH = join(tmpdir(), `windrow-rivals-${process.pid}`);

const { options: given } = readOptions(import.meta.url, {
  rows: { type: 'string' },
  works: { type: 'string' },
  modes: { type: 'string', default: MODES.join(',') },
  rivals: { type: 'string' },
  threads: { type: 'string', default: '1,2' },
  processes: { type: 'number', default: 3 },
  repeat: { type: 'number', default: 5 },
  size: { type: 'number' },
  cpus: { type: 'string', default: '0,1' },
  'no-pin': { type: 'boolean' },
  large: { type: 'boolean' },
  save: { type: 'string' },
  write: { type: 'boolean' },
});
const listed = (text, item) => text === undefined || text.split(',').includes(String(item));
const modes = MODES.filter((mode) => listed(given.modes, mode));
const { repeat, processes } = given;
// Who gives results back runs often, and holds no more memory after many runs than after one.
const givenBackRuns = 4 * repeat;
const cpus = given['no-pin'] || process.platform !== 'linux' ? undefined : given.cpus.split(',');

function median(numbers) {
  const sorted = numbers.toSorted((x, y) => x - y);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param runsMax how many runs there are if none is too slow. */
function spread(numbers, runsMax) {
  const runs = numbers.length;
  const [minMs, maxMs] = [Math.min(...numbers), Math.max(...numbers)];
  return { medianMs: median(numbers), minMs, maxMs, runs, isCut: runs < runsMax };
}

/** Asks each rival for its version and tasks; one that does not start is named and left out. */
async function present() {
  const members = [];
  for (const rival of RIVALS.filter((one) => listed(given.rivals, one.name))) {
    try {
      if (rival.name === 'windrow' && !hasWindrow()) throw new Error('not built: no dist/cli/main.js');
      const { text } = await runProcess(commandOf(rival, 1, undefined, ['version']), environment(1), DEADLINE_MS);
      members.push({ ...rival, ...JSON.parse(text) });
    } catch (error) {
      console.error(`${rival.label} is left out: ${error.message}`);
    }
  }
  return members;
}

/** The members that take part in a task at this number of threads. */
function entrants(members, work, threads) {
  return members.filter((member) => {
    if (threads > 1 && !member.threaded) return false;
    if (work.kind === 'csv' && member.runsCsvItself) return true;
    return member.operations.includes(work.operation + (member.way ?? ''));
  });
}

/** Runs `step` for each entrant in turn, round after round; an entrant whose step fails is out. */
async function rounds(count, running, step) {
  for (let round = 0; round < count; round++) {
    for (const one of running.filter((other) => other.failed === undefined)) {
      try {
        await step(one, round);
      } catch (error) {
        one.failed = error.message;
      }
    }
  }
}

async function measureCsv(work, threads, entered) {
  const input = csvFile(work);
  const request = join(SCRATCH, 'request.json');
  writeFileSync(request, JSON.stringify(work.request));
  readThrough(input);
  const running = entered.map((member) => ({ member, ms: [], peaks: [] }));
  await rounds(repeat, running, async (one, round) => {
    if (round >= CSV_RUNS_MIN && one.ms.reduce((sum, ms) => sum + ms, 0) > CSV_BUDGET_MS) return;
    const output = join(SCRATCH, `${one.member.name}.csv`);
    rmSync(output, { force: true });
    const command = one.member.runsCsvItself
      ? windrowCommand(threads, cpus, { request, input, output })
      : commandOf(one.member, threads, cpus, ['csv', work.layout, input, output, String(threads)]);
    const { ms, peakMb } = await runProcess(command, environment(threads), DEADLINE_MS);
    one.ms.push(ms);
    one.peaks.push(peakMb);
  });
  for (const one of running) {
    one.answers = [() => readCsvPairs(join(SCRATCH, `${one.member.name}.csv`))];
    one.figures = () => ({ whole: spread(one.ms, repeat), peakMb: Math.max(...one.peaks) });
  }
  return running;
}

/** Makes the files in a rival's own format before anything is timed. */
async function makeOwnFiles(work, files, entered) {
  for (const member of entered.filter((one) => one.ownFiles)) {
    const task = JSON.stringify({ work: work.id, rows: work.rows, files });
    await runProcess(commandOf(member, 1, cpus, ['files', task]), environment(1), DEADLINE_MS);
  }
}

/** The processes of a member: the first run of `kept` is also the mode `first`, so one process serves both. */
function modesOf(member, work) {
  if (work.kind === 'csv') return modes.filter((mode) => mode === 'first');
  if (work.kind === 'stream') return modes.filter((mode) => mode === 'kept');
  if (work.modes !== undefined) return modes.filter((mode) => work.modes.includes(mode));
  const givenBack = modes.includes('given-back') ? ['given-back'] : [];
  if (member.onlyGivenBack) return givenBack;
  return modes.includes('first') || modes.includes('kept') ? ['kept', ...givenBack] : givenBack;
}

async function measureMemory(work, threads, entered) {
  const files = columnFiles(work);
  await makeOwnFiles(work, files, entered);
  const running = entered.map((member) => ({ member, kept: [], 'given-back': [], slow: new Set(), answers: [] }));
  const { id, operation, rows } = work;
  const limits = { budgetMs: BUDGET_MS, limitMb: LIMIT_MB };
  await rounds(processes, running, async (one, round) => {
    for (const mode of modesOf(one.member, work)) {
      if (one.slow.has(mode)) continue;
      const keptRuns = modes.includes('kept') ? repeat : 1;
      const runs = mode === 'kept' ? keptRuns : givenBackRuns;
      const path = join(SCRATCH, `${one.member.name}-${mode}.f64`);
      // One answer per mode is enough: writing it takes longer than many tasks.
      const answer = round === 0 ? path : undefined;
      const task = { work: id, operation, rows, way: one.member.way, mode, threads, files, runs, ...limits, answer };
      const command = commandOf(one.member, threads, cpus, ['memory', JSON.stringify(task)]);
      if (mode === 'kept' && hasPageReporting()) await runProcess(touchCommand(TOUCHED_MB), process.env, DEADLINE_MS);
      const { text, ms } = await runProcess(command, environment(threads), DEADLINE_MS);
      one[mode].push(JSON.parse(text));
      if (ms > SLOW_PROCESS_MS) one.slow.add(mode);
      if (answer !== undefined) one.answers.push(() => readPairs(answer));
    }
  });
  for (const one of running) one.figures = () => memoryFigures(one, work);
  return running;
}

function memoryFigures({ kept, 'given-back': givenBack }, work) {
  const figures = {};
  const all = (sessions, field) => sessions.flatMap((one) => one.runs.map((run) => run[field]));
  if (kept.length > 0 && modes.includes('first') && work.kind === 'memory') {
    const firsts = kept.map(({ loadMs, runs: [{ ms: runMs }] }) => ({ loadMs, runMs, ms: loadMs + runMs }));
    // Both parts are from the process with the median sum, so that they add up.
    const { loadMs, runMs } = firsts.toSorted((x, y) => x.ms - y.ms)[firsts.length >> 1];
    figures.first = { loadMs, runMs, ...spread(firsts.map((one) => one.ms), processes) };
    figures.peakMb = Math.max(...kept.map((one) => one.firstPeakMb));
  }
  if (kept.length > 0 && modes.includes('kept')) {
    figures.kept = { ...spread(all(kept, 'ms'), repeat * processes), systemMs: median(all(kept, 'systemMs')) };
  }
  if (givenBack.length > 0) {
    figures.givenBack = spread(all(givenBack, 'ms'), givenBackRuns * processes);
  }
  return figures;
}

/** Compares with windrow if it ran, else with plain JavaScript, else with the first. */
function checkAnswers(running) {
  const answered = running.filter((one) => one.failed === undefined && !one.member.isLimit);
  const judge = ['windrow', 'javascript'].map((name) => answered.find((one) => one.member.name === name)).find(Boolean);
  const reference = judge ?? answered[0];
  if (reference === undefined) return;
  const expected = reference.answers[0]();
  for (const one of answered) {
    one.samples = expected.length / 2;
    for (const read of one.answers) {
      const wrong = differenceOf(expected, read);
      if (wrong !== undefined) one.failed = `another answer than ${reference.member.label}: ${wrong}`;
    }
  }
}

/** An unreadable answer counts as wrong, but must not lose the other figures. */
function differenceOf(expected, read) {
  try {
    return difference(expected, read());
  } catch (error) {
    return error.message;
  }
}

async function measure(members, work, threads) {
  const entered = entrants(members, work, threads).filter((one) => modesOf(one, work).length > 0);
  if (entered.every((member) => member.isLimit)) return [];
  const running = await (work.kind === 'csv' ? measureCsv : measureMemory)(work, threads, entered);
  checkAnswers(running);
  const { id, row, kind, title, rows } = work;
  const found = running.map(({ member, samples, failed, figures }) => {
    const { name, isLimit = false } = member;
    const what = { work: id, row, kind, title, rows, threads, isBrief: work.modes !== undefined };
    const who = { name, label: labelIn(work, member), isLimit, samples };
    return { ...what, ...who, ...(failed === undefined ? figures() : { failed }) };
  });
  console.log(`\n${table(found)}`);
  return found;
}

/** What the page says about the run as a whole. */
function about(members, startMs) {
  const named = members.filter((one) => one.way === undefined && !one.isLimit);
  const versions = Object.fromEntries(named.map(({ label, version }) => [label, version]));
  const minutes = (performance.now() - startMs) / 60_000;
  const date = new Date().toISOString().slice(0, 10);
  const runs = { repeat, givenBackRuns, processes };
  return { date, machine: machine(), pageReporting: hasPageReporting(), ...runs, minutes, versions };
}

async function main() {
  mkdirSync(SCRATCH, { recursive: true });
  const members = await present();
  const asked = WORKS.filter((work) => listed(given.rows, work.row) && listed(given.works, work.id));
  const works = asked.filter((one) => given.large || given.works !== undefined || !one.onlyWhenAsked);
  const startMs = performance.now();
  let report = { ...about(members, startMs), found: [] };
  for (const work of works) {
    for (const threads of given.threads.split(',').filter((count) => work.threads?.includes(count) ?? true)) {
      const sized = workById(work.id, work.kind === 'memory' ? given.size : undefined);
      const found = [...report.found, ...(await measure(members, sized, Number(threads)))];
      report = { ...about(members, startMs), found };
      // After each task, so that an interrupted run keeps its figures.
      if (given.save !== undefined) writeFileSync(given.save, JSON.stringify(report, null, 2));
    }
  }
  rmSync(SCRATCH, { recursive: true, force: true });
  console.log(`${report.minutes.toFixed(1)} minutes`);
  if (given.write) writeReport([report]);
}

await main();
