// Makes a fresh clone, or one that has moved on, ready to run: installs and builds what is missing or stale, and
// nothing else. Plain Node, since it runs before anything is installed.
//
//   node scripts/ensure.mjs             [--check]   only says whether dist is stale, and changes nothing

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const rootPath = fileURLToPath(new URL('../', import.meta.url));

// All that the build reads.
const buildSources = [
  'src',
  'types',
  'scripts/build-kernels.mjs',
  'scripts/build-workbench.mjs',
  'scripts/site.mjs',
  'docs',
  'tsup.config.ts',
  'tsconfig.json',
  'package.json',
];

/** Installs the packages of the lock file and builds dist, each only where it is needed. */
export function ensure() {
  if (!isInstalled()) {
    run('installing packages (npm ci)', ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund']);
  }
  if (isStale(publishedFiles(), buildSources)) run('building dist (npm run build)', ['run', '--silent', 'build']);
}

/** Whether node_modules holds what the lock names. npm writes its own list last, so a broken-off install has none. */
function isInstalled() {
  const installedPath = join(rootPath, 'node_modules/.package-lock.json');
  if (!existsSync(installedPath)) return false;
  const installed = readJson(installedPath).packages;
  const locked = readJson(join(rootPath, 'package-lock.json')).packages;
  // Of what is optional only our own must be there: the rest serves other platforms.
  const ours = Object.keys(locked[''].optionalDependencies ?? {}).map((name) => `node_modules/${name}`);
  return Object.entries(locked).every(([path, { version, optional }]) => {
    if (path === '') return true;
    return path in installed ? installed[path].version === version : optional && !ours.includes(path);
  });
}

/** What package.json promises to its users: every file named in `exports` and `bin`. */
function publishedFiles() {
  const { exports, bin } = readJson(join(rootPath, 'package.json'));
  return leavesOf({ exports, bin }).filter((path) => /^(\.\/)?dist\//.test(path));
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function leavesOf(node) {
  return typeof node === 'string' ? [node] : Object.values(node).flatMap(leavesOf);
}

/** Whether an output is missing or any is older than the newest source. */
function isStale(outputs, sources) {
  const outputPaths = outputs.map((path) => join(rootPath, path));
  if (!outputPaths.every((path) => existsSync(path))) return true;
  const oldestOutputMs = Math.min(...outputPaths.map((path) => statSync(path).mtimeMs));
  return oldestOutputMs < Math.max(...sources.map((path) => newestMsUnder(join(rootPath, path))));
}

/** The last change of a file, or of a folder and all in it; a folder's own time tells of files that were removed. */
function newestMsUnder(path) {
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestMsUnder(join(path, name))));
}

function run(title, npmArguments) {
  console.error(`windrow: ${title}`);
  // What npm says goes to standard error: standard output belongs to the command that follows.
  const { status, error } = spawnSync('npm', npmArguments, {
    cwd: rootPath,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

// Tests only look: a build takes dist away from all other tests that run at that moment.
function check() {
  if (!isStale(publishedFiles(), buildSources)) return;
  console.error(
    'windrow: dist is older than what it is built from: run npm run build, or npm test, which does so first',
  );
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--check')) check();
  else ensure();
}
