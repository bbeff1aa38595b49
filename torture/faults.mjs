// Makes the system calls on a store fail: each write, sync and truncation of a working service, one per run, and each
// write, sync and rename of a backup, with EIO and ENOSPC. Whatever failed, what was acknowledged must be there.
//
//   npm run torture:faults -- --every 1 --seed 1 --requests 6 --dist dist
//
// --every 10 fails only every tenth call, for a short run; --requests is how many each client sends.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readOptions } from '../scripts/options.mjs';
import { createCheck, expectedStates } from './power/check.mjs';
import { bundleParts } from './power/parts.mjs';
import { LANES, TOKEN_LANE } from './power/plan.mjs';

const { options } = readOptions(import.meta.url, {
  seed: { type: 'number', default: 1 },
  every: { type: 'number', default: 1 },
  requests: { type: 'number', default: 6 },
  dist: { type: 'string', default: 'dist' },
});

const { seed } = options;
const RUN_MS_MAX = 600_000;
const NAMES = ['windrow.db', 'windrow.db-wal'];
const ERRORS = ['EIO', 'ENOSPC'];
const CALLS_OF_STORE = ['pwrite64', 'fsync,fdatasync', 'ftruncate'];
const CALLS_OF_BACKUP = ['pwrite64', 'fsync,fdatasync', 'rename'];
const folder = mkdtempSync(join(tmpdir(), 'windrow-faults-'));
const counts = { runs: 0, endedWriting: 0, wentOn: 0, notStarted: 0, backups: { refused: 0, made: 0 }, calls: {} };

/** Runs a program under strace; returns its output and exit code. */
function trace(words, program) {
  return new Promise((done, fail) => {
    const child = spawn('strace', ['-f', '-qq', ...words, process.execPath, ...program], { detached: true });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (text) => {
      stdout += text;
    });
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const late = setTimeout(() => {
      process.kill(-child.pid, 'SIGKILL');
      fail(new Error(`it does not end: ${words.join(' ')}\n${stdout}${stderr}`));
    }, RUN_MS_MAX);
    child.on('close', (status) => {
      clearTimeout(late);
      done({ status, stdout, stderr });
    });
  });
}

async function makeStore(parts, directory) {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  await (await parts.openSqliteStorage({ directory, clock, reserveBytes: 0 })).close();
}

const pathsOf = (directory) => NAMES.flatMap((name) => ['-P', join(directory, name)]);

/** How often a program makes these calls if nothing fails. */
async function countCalls(calls, paths, program) {
  const log = join(folder, 'calls');
  const { status, stderr } = await trace(['-o', log, '-e', `trace=${calls}`, ...paths], program);
  if (status !== 0) throw new Error(`the program ended with ${status} when nothing failed: ${stderr}`);
  return readFileSync(log, 'latin1')
    .split('\n')
    .filter((line) => /^\d+ +\w+\(/.test(line)).length;
}

async function failService({ parts, partsUrl, check }, calls, error, when) {
  const directory = join(folder, 'store');
  await makeStore(parts, directory);
  const program = [resolve('torture/power/workload.mjs'), partsUrl, directory, String(seed), String(options.requests)];
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}:when=${when}`, ...pathsOf(directory)];
  const { stdout } = await trace(['-o', '/dev/null', ...inject], program);
  const said = stdout.split('\n').map((line) => line.trim().split(' '));
  const acknowledged = new Array(LANES).fill(0);
  const tokens = [];
  for (const [kind, lane, , token] of said) {
    if (kind !== 'acknowledged') continue;
    acknowledged[Number(lane)]++;
    if (token !== undefined) tokens.push(token);
  }
  // The next process finds what the system has of the files.
  const there = NAMES.filter((name) => existsSync(join(directory, name)));
  const files = new Map(there.map((name) => [name, readFileSync(join(directory, name))]));
  await check(files, acknowledged, tokens);
  if (!said.some(([kind]) => kind === 'begun')) counts.notStarted++;
  else if (said.some(([kind]) => kind === 'refused')) counts.endedWriting++;
  else counts.wentOn++;
}

/** A backup is complete or absent, and an earlier one stays. */
async function failBackup(directory, calls, error, when) {
  const target = join(folder, 'backups');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  const file = join(target, 'backup.db');
  const command = resolve(options.dist, 'cli/main.js');
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}:when=${when}`];
  // In every file: the one that it writes has a name of its own each time.
  const { status } = await trace(['-o', '/dev/null', ...inject], [command, 'backup', directory, '--to', file]);
  if (existsSync(file)) {
    const restored = join(target, 'restored');
    const words = [command, 'restore', file, '--to', restored];
    const { status: restoring, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    if (restoring !== 0) throw new Error(`a backup that can not be restored: ${stderr}`);
  }
  if (status === 0 && !existsSync(file)) throw new Error('a backup that was told to be made is not there');
  if (status !== 0 && readdirSync(target).some((name) => name.endsWith('.unfinished'))) {
    throw new Error(`a backup that failed leaves ${readdirSync(target)}`);
  }
  counts.backups[status === 0 ? 'made' : 'refused']++;
}

async function failEach(kind, calls, count, failOne) {
  counts.calls[`${kind}: ${calls}`] = count;
  for (const error of ERRORS) {
    for (let when = 1; when <= count; when += options.every) {
      await failOne(calls, error, when).catch((cause) => {
        throw new Error(`${kind}, ${calls} number ${when} with ${error}: ${cause.message}`, { cause });
      });
      counts.runs++;
      if (counts.runs % 100 === 0) console.error(`${counts.runs} runs`);
    }
  }
}

async function run() {
  const partsUrl = await bundleParts(folder);
  const parts = await import(partsUrl);
  const states = Array.from({ length: TOKEN_LANE }, (_, lane) => expectedStates(seed, lane, options.requests));
  const under = { parts, partsUrl, check: createCheck(parts, folder, states) };
  const directory = join(folder, 'store');
  for (const calls of CALLS_OF_STORE) {
    await makeStore(parts, directory);
    const program = [
      resolve('torture/power/workload.mjs'),
      partsUrl,
      directory,
      String(seed),
      String(options.requests),
    ];
    const count = await countCalls(calls, pathsOf(directory), program);
    await failEach('service', calls, count, (...fault) => failService(under, ...fault));
  }
  const file = join(folder, 'counted.db');
  for (const calls of CALLS_OF_BACKUP) {
    rmSync(file, { force: true });
    const command = [resolve(options.dist, 'cli/main.js'), 'backup', directory, '--to', file];
    const count = await countCalls(calls, [], command);
    await failEach('backup', calls, count, (...fault) => failBackup(directory, ...fault));
  }
}

const startMs = performance.now();
try {
  await run();
  rmSync(folder, { recursive: true, force: true });
} catch (error) {
  console.error(error);
  console.error(`FAILED; what is left is in ${folder}`);
  process.exitCode = 1;
}
console.log(
  JSON.stringify({ seed, seconds: Math.round((performance.now() - startMs) / 1000), ...counts }, undefined, 2),
);
