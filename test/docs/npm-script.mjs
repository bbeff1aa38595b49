// `npm` as the pages show it: a script that it names must be one of package.json. CI runs `npm ci`, the build and the
// scripts themselves.
import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const [verb = '', name = ''] = process.argv.slice(2);
const known = verb === 'install' || verb === 'test' || (verb === 'run' && name in scripts);
if (!known) {
  console.error(`package.json has no script for: npm ${process.argv.slice(2).join(' ')}`);
  process.exitCode = 1;
}
