// Makes a clone ready to run: installs and builds what is missing or stale, and nothing else. Plain Node, as it runs
// before anything is installed.
//
//   node scripts/ensure.mjs             [--check]   only reports whether dist is stale, and changes nothing

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const rootPath = fileURLToPath(new URL('../', import.meta.url));

// Everything that the build reads.
const buildSources = [
  'src',
  'types',
  'scripts/build-kernels.mjs',
  'scripts/build-workbench.mjs',
  'scripts/document-types.mjs',
  'scripts/site.mjs',
  'docs',
  'tsup.config.ts',
  'tsconfig.json',
  'package.json',
];

/** Installs the packages of the lock file and builds dist, each only if needed. */
export function ensure() {
  if (!isInstalled()) {
    run('installing packages (npm ci)', ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund']);
  }
  if (isStale(publishedFiles(), buildSources)) run('building dist (npm run build)', ['run', '--silent', 'build']);
}

/** Whether node_modules has what the lock names. npm writes its own list last, so an interrupted install has none. */
function isInstalled() {
  const installedPath = join(rootPath, 'node_modules/.package-lock.json');
  if (!existsSync(installedPath)) return false;
  const installed = readJson(installedPath).packages;
  const locked = readJson(join(rootPath, 'package-lock.json')).packages;
  // Of the optional packages only our own must be there; the others are for other platforms.
  const ours = Object.keys(locked[''].optionalDependencies ?? {}).map((name) => `node_modules/${name}`);
  return Object.entries(locked).every(([path, { version, optional }]) => {
    if (path === '') return true;
    return path in installed ? installed[path].version === version : optional && !ours.includes(path);
  });
}

/** The files that package.json promises to users: all those named in `exports` and `bin`. */
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

/** Whether an output is missing or older than the newest source. */
function isStale(outputs, sources) {
  const outputPaths = outputs.map((path) => join(rootPath, path));
  if (!outputPaths.every((path) => existsSync(path))) return true;
  const oldestOutputMs = Math.min(...outputPaths.map((path) => statSync(path).mtimeMs));
  return oldestOutputMs < Math.max(...sources.map((path) => newestMsUnder(join(rootPath, path))));
}

/** The last change of a file, or of a folder and all files in it; the time of the folder itself shows deleted files. */
function newestMsUnder(path) {
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestMsUnder(join(path, name))));
}

function run(title, npmArguments) {
  console.error(`windrow: ${title}`);
  // npm's output goes to standard error: standard output belongs to the command that follows.
  const { status, error } = spawnSync('npm', npmArguments, {
    cwd: rootPath,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

// Tests only check: a build would remove dist while other tests use it.
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
