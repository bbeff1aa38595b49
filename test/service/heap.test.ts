// Bodies that take many times their bytes once they are parsed do not end a process, however many come at once.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addClient, commandPath, listening, temporaryFolder, tokenOf } from './serving.js';

const BODY_COUNT = 8;
const BODY_BYTES = 8 * 2 ** 20;

it('many bodies of ever more arrays at once leave a process with little memory alive', async () => {
  const directory = join(temporaryFolder(), 'data');
  const client = await addClient(directory);
  const words = ['--max-old-space-size=300', commandPath, 'serve', '--port', '0', '--data-dir', directory];
  const serving = await listening(spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] }));
  const headers = { ...(await tokenOf(serving.url, client)), 'content-type': 'application/json' };
  const element = `${'['.repeat(250)}${']'.repeat(250)},`;
  const body = `[${element.repeat(BODY_BYTES / element.length)}[]]`;
  const post = async (path: string) => (await fetch(serving.url + path, { method: 'POST', headers, body })).status;
  const paths = Array.from({ length: BODY_COUNT }, (_, i) => (i % 2 === 0 ? '/core/samples' : '/operations'));
  expect(await Promise.all(paths.map(post))).toEqual(Array(BODY_COUNT).fill(413));
  expect((await fetch(`${serving.url}/health/ready`)).status).toBe(200);
});
