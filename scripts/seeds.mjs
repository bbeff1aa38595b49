#!/usr/bin/env node
// Runs the whole test suite with one seed after another and prints each outcome, for instance over a night.
//
//   npm run test:seeds -- [FIRST [COUNT [FILTER…]]]

import { spawnSync } from 'node:child_process';

const [first = String(Date.now() % 2 ** 31), count = '20', ...filters] = process.argv.slice(2);

let failureCount = 0;
for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
  const env = { ...process.env, FAST_CHECK_SEED: String(seed) };
  const { status } = spawnSync('npx', ['vitest', 'run', '--project=!checks', '--reporter=dot', ...filters], {
    env,
    stdio: 'inherit',
  });
  if (status !== 0) failureCount++;
  console.log(`seed ${seed}: ${status === 0 ? 'passed' : 'FAILED'}; again with FAST_CHECK_SEED=${seed} npm test`);
}
process.exitCode = failureCount > 0 ? 1 : 0;
