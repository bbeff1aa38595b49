// Checks /openapi.json of the built service with two linters, Redocly's and Spectral's: neither may report an error or
// a warning. They are downloaded when this runs, so that `npm install` does not include them.
//
//   npm run check:openapi

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../dist/service.js';

const folder = mkdtempSync(join(tmpdir(), 'windrow-openapi-'));
const file = join(folder, 'openapi.json');
try {
  const server = await startServer({ dataDirectory: join(folder, 'data'), logLevel: 'silent' });
  const answer = await fetch(`${server.url}/openapi.json`);
  writeFileSync(file, JSON.stringify(await answer.json(), null, 2));
  await server.stop();
  const ruleset = join(folder, 'spectral.json');
  writeFileSync(ruleset, JSON.stringify({ extends: ['spectral:oas'] }));

  const redocly = lint('@redocly/cli@2.77.0', ['lint', file, '--format', 'json']);
  const { totals, problems } = JSON.parse(redocly.stdout);
  for (const { severity, ruleId, message, location } of problems) {
    console.error(`redocly ${severity} ${ruleId} ${location?.[0]?.pointer ?? ''}: ${message}`);
  }
  const spectral = lint('@stoplight/spectral-cli@6.16.3', ['lint', file, '-r', ruleset, '-F', 'warn', '-f', 'json']);
  // After the list it may say that there were no results.
  const found = JSON.parse(/^\s*(\[[\s\S]*\])/.exec(spectral.stdout)?.[1] ?? 'null');
  if (!Array.isArray(found)) throw new Error(`spectral gave no list: ${spectral.stdout}${spectral.stderr}`);
  const serious = found.filter(({ severity }) => severity <= 1);
  for (const { code, message, path } of serious) console.error(`spectral ${code} ${path.join('.')}: ${message}`);
  const count = totals.errors + totals.warnings + serious.length;
  console.error(
    `OpenAPI: ${totals.errors} errors and ${totals.warnings} warnings of Redocly, ${serious.length} of Spectral`,
  );
  process.exitCode = count === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function lint(name, words) {
  const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const run = spawnSync('npx', ['--yes', name, ...words], { cwd: folder, encoding: 'utf8', env: environment });
  if (run.error !== undefined || run.stdout === '') throw new Error(`${name} did not run: ${run.error ?? run.stderr}`);
  return run;
}
