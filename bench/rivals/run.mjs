/**
 * Side by side, in one run: every work, windrow and each rival that can say it.
 *
 *   node run.mjs [--rows 1,3] [--works mask,where] [--rivals windrow,duckdb] [--threads 1,2] [--repeat 5]
 *                [--cpus 0,1 | --no-pin] [--large] [--save FILE.json] [--write]
 *
 * --rows are those of the target table, --large adds the 100M rows, --save keeps the figures as JSON,
 * --write puts docs/benchmarks.md and docs/benchmarks.svg in place.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { difference, readCsvPairs, readPairs } from './answers.mjs';
import { columnFiles, csvFile } from './data.mjs';
import { runProcess, startMember } from './member.mjs';
import { machine, table, writeReport } from './report.mjs';
import { RIVALS, commandOf, environment, hasWindrow, windrowCommand } from './rivals.mjs';
import { WORKS } from './works.mjs';

const DEADLINE_MS = 120_000;
const SCRATCH = join(tmpdir(), `windrow-rivals-${process.pid}`);

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string' },
    works: { type: 'string' },
    rivals: { type: 'string' },
    threads: { type: 'string', default: '1,2' },
    repeat: { type: 'string', default: '5' },
    cpus: { type: 'string', default: '0,1' },
    'no-pin': { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    save: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const listed = (text, item) => text === undefined || text.split(',').includes(String(item));
const repeat = Number(given.repeat);
const cpus = given['no-pin'] || process.platform !== 'linux' ? undefined : given.cpus.split(',');

function median(sorted) {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Asks each rival what it is and what it can say; one that does not start is named and left out. */
async function present() {
  const members = [];
  for (const rival of RIVALS.filter((one) => listed(given.rivals, one.name))) {
    try {
      if (rival.name === 'windrow' && !hasWindrow()) throw new Error('not built: no dist/cli/main.js');
      const { text } = await runProcess(commandOf(rival, 1, undefined, ['version']), environment(1));
      members.push({ ...rival, ...JSON.parse(text) });
    } catch (error) {
      console.error(`${rival.label} is left out: ${error.message}`);
    }
  }
  return members;
}

/** Who takes part in a work at so many threads. */
function entrants(members, work, threads) {
  return members.filter((member) => {
    if (work.kind === 'process') return member.runsCsvItself || (member.works.includes('process') && !member.suffix);
    return member.works.includes(work.id + (member.suffix ?? '')) && (threads === 1 || member.threaded);
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

async function measureProcess(work, threads, entered) {
  const input = csvFile(work.rows);
  const request = join(SCRATCH, 'request.json');
  writeFileSync(request, JSON.stringify(work.request));
  const running = entered.map((member) => ({ member, ms: [], peaks: [] }));
  // The first round warms the file cache and is not counted.
  await rounds(repeat + 1, running, async (one, round) => {
    const output = join(SCRATCH, `${one.member.name}.csv`);
    rmSync(output, { force: true });
    const command = one.member.runsCsvItself
      ? windrowCommand(threads, cpus, { request, input, output })
      : commandOf(one.member, threads, cpus, ['process', input, output, String(threads)]);
    const { ms, peakMb } = await runProcess(command, environment(threads));
    if (round > 0) one.ms.push(ms);
    one.peaks.push(peakMb);
  });
  for (const one of running) {
    one.peakMb = Math.max(...one.peaks);
    one.read = () => readCsvPairs(join(SCRATCH, `${one.member.name}.csv`));
  }
  return running;
}

async function measureMemory(work, threads, entered) {
  const running = entered.map((member) => ({ member, ms: [] }));
  await rounds(1, running, async (one) => {
    const args = ['memory', work.id + (one.member.suffix ?? ''), String(threads)];
    // Python cannot ask data.mjs where the files are, and nobody is to make them while others are timed.
    args.push(JSON.stringify(columnFiles(work.rows)));
    one.process = await startMember(commandOf(one.member, threads, cpus, args), environment(threads), DEADLINE_MS);
  });
  // Two rounds uncounted: compilers and caches warm up.
  await rounds(repeat + 2, running, async (one, round) => {
    const ms = await one.process.run();
    if (round > 1) one.ms.push(ms);
  });
  await rounds(1, running, async (one) => {
    one.peakMb = one.process.peakMb();
    const path = join(SCRATCH, `${one.member.name}.f64`);
    await one.process.answer(path);
    one.read = () => readPairs(path);
  });
  await Promise.all(running.map((one) => one.process?.stop()));
  return running;
}

/** Against windrow where it ran, else against plain JavaScript, else the first. */
function checkAnswers(running) {
  const answered = running.filter((one) => one.failed === undefined && !one.member.isLimit);
  const judge = ['windrow', 'javascript'].map((name) => answered.find((one) => one.member.name === name)).find(Boolean);
  const reference = judge ?? answered[0];
  if (reference === undefined) return;
  const expected = reference.read();
  for (const one of answered) {
    one.samples = expected.length / 2;
    const wrong = one === reference ? undefined : difference(expected, one.read());
    if (wrong !== undefined) one.failed = `another answer than ${reference.member.label}: ${wrong}`;
  }
}

function figures(work, threads, running) {
  return running.map(({ member, ms, peakMb, samples, failed }) => {
    const sorted = ms.toSorted((x, y) => x - y);
    const spread = { medianMs: median(sorted), minMs: sorted[0], maxMs: sorted.at(-1) };
    const { id, row, title, rows } = work;
    const { name, label, isLimit = false } = member;
    const what = { work: id, row, title, rows, threads, name, label, isLimit, peakMb, samples };
    return { ...what, ...(failed === undefined ? spread : { failed }) };
  });
}

async function measure(members, work, threads) {
  const entered = entrants(members, work, threads);
  if (entered.every((member) => member.isLimit)) return [];
  const running = await (work.kind === 'process' ? measureProcess : measureMemory)(work, threads, entered);
  checkAnswers(running);
  const found = figures(work, threads, running);
  console.log(`\n${table(found)}`);
  return found;
}

async function main() {
  mkdirSync(SCRATCH, { recursive: true });
  const members = await present();
  const works = WORKS.filter((work) => listed(given.rows, work.row) && listed(given.works, work.id));
  const found = [];
  for (const work of works.filter((one) => given.large || given.works !== undefined || !one.onlyWhenAsked)) {
    // Cost against size and streams are questions about one core.
    const counts = [6, 8].includes(work.row) ? ['1'] : given.threads.split(',');
    for (const threads of counts) found.push(...(await measure(members, work, Number(threads))));
  }
  rmSync(SCRATCH, { recursive: true, force: true });
  const versions = Object.fromEntries(members.map(({ label, version }) => [label, version]));
  const report = { date: new Date().toISOString().slice(0, 10), machine: machine(), repeat, versions, found };
  if (given.save !== undefined) writeFileSync(given.save, JSON.stringify(report, null, 2));
  if (given.write) writeReport(report);
}

await main();
