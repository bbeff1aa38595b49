/**
 * Not every npm registry has pond-ts. This builds it from its repository, github.com/pond-ts/pond, or a copy, into
 * data/pond (git-ignored), where the runner finds it:
 *
 *   node pond.mjs GIT_DIRECTORY_OR_URL
 *
 * If `npm install --no-save pond-ts` works, that is enough.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HERE } from './rivals.mjs';

const target = join(HERE, 'data/pond');
const source = process.argv[2] ?? 'https://github.com/pond-ts/pond.git';

function run(command, args, cwd) {
  execFileSync(command, args, { cwd, stdio: 'inherit' });
}

/**
 * A snapshot may lack large files of other folders, so a local copy is not cloned; only the files of the build are
 * taken.
 */
function takeFrom(gitDirectory) {
  const wanted = ['package.json', 'package-lock.json', 'packages/core'];
  const args = ['--git-dir', gitDirectory, 'archive', 'HEAD', ...wanted];
  const archive = execFileSync('git', args, { maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x'], { cwd: target, input: archive });
}

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
if (source.includes('://')) run('git', ['clone', '--depth', '1', source, target], HERE);
else takeFrom(source);
run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--workspace', 'packages/core'], target);
run('npx', ['tsc', '-p', 'tsconfig.json'], join(target, 'packages/core'));
