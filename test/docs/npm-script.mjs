// `npm` as the pages use it: a script that they name must be in package.json. CI itself runs `npm ci`, the build and
// the scripts.
import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const [verb = '', name = ''] = process.argv.slice(2);
const known = verb === 'install' || verb === 'test' || (verb === 'run' && name in scripts);
if (!known) {
  console.error(`package.json has no script for: npm ${process.argv.slice(2).join(' ')}`);
  process.exitCode = 1;
}
