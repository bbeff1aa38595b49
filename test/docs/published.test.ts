// The modules of dist, as programs import them.
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { root } from './shell.js';

it.each([
  ['module', "import { createPlan } from './dist/index.js'"],
  ['commonjs', "const { createPlan } = require('./dist/index.cjs')"],
])('an error that nobody catches shows some of the code around it, not all: %s', (type, load) => {
  const program = `${load}; createPlan([{ metric: 'M' }]);`;
  const args = [`--input-type=${type}`, '--eval', program];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain('RequestError');
  expect(stderr).toContain('the request has 2 problems');
  expect(stderr.length).toBeLessThan(8000);
});
