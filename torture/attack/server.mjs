// The attacked service: its process and its port; and the good clients beside the attack.

import { spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { newStore } from './store.mjs';

const stallsUrl = new URL('./stalls.mjs', import.meta.url);
const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const probeUrl = new URL('./probe.mjs', import.meta.url);
const children = new Set();

/**
 * Runs another command on the store of a service.
 *
 * @returns its output.
 */
export function windrow({ store }, words, input) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...words, ...store.words], {
    encoding: 'utf8',
    input,
  });
  if (status !== 0) throw new Error(`windrow ${words.join(' ')}: exit code ${status}\n${stdout}${stderr}`);
  return stdout;
}

export async function start({ store, words = [], descriptors, grant = 'client_credentials' } = {}) {
  store ??= await newStore();
  const client = ['client', 'add', 'good', '--org', 'acme', '--scope', 'core_admin', '--grant', grant, '--json'];
  const { clientId, clientSecret } = JSON.parse(windrow({ store }, client));
  const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors}; `;
  const serve = [
    '--import',
    stallsUrl.href,
    command,
    'serve',
    '--port',
    '0',
    '--log-level',
    'error',
    ...store.words,
    ...words,
  ];
  const child = spawn('sh', ['-c', `${limit}exec "$@"`, 'sh', process.execPath, ...serve]);
  children.add(child);
  let stderr = '';
  const turns = new EventEmitter();
  let stdout = '';
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', (text) => {
      stderr += text;
      for (const [, ms] of String(text).matchAll(/longest turn ([\d.]+) ms/g)) turns.emit('longest', Number(ms));
      const found = /listens at (http:[^;]+);/.exec(stderr);
      if (found !== null) resolve(found[1]);
    });
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${stderr}`)));
  });
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const port = Number(new URL(url).port);
  const logged = () => stdout.split('\n');
  const server = { url, child, turns, store, clientId, basic, port, logged, authorization: '' };
  server.authorization = `Bearer ${await demandToken(server)}`;
  return server;
}

/** Creates a collection of events, to which the good client has access. */
export function addCollection(server, id) {
  windrow(server, ['collection', 'add', id, '--org', 'acme', '--allow', server.clientId]);
}

/** The longest turn of the service's event loop since the last call, in milliseconds of its own processor time. */
export async function longestTurn({ child, turns }) {
  const told = once(turns, 'longest');
  child.kill('SIGUSR2');
  return (await told)[0];
}

/** On a busy machine the service may answer 503 for a while. */
async function demandToken(server) {
  for (let tries = 0; ; tries++) {
    const answer = await askToken(server);
    const text = await answer.text();
    if (answer.status === 200) return JSON.parse(text).access_token;
    if (answer.status !== 503 || tries > 100) throw new Error(`no token: ${answer.status} ${text}`);
    await pause(500);
  }
}

export function askToken(
  { url, basic },
  form = { grant_type: 'client_credentials', scope: 'core_admin' },
  headers = {},
) {
  return fetch(`${url}/idm/ims/connect/token`, {
    method: 'POST',
    headers: { authorization: basic, ...headers },
    body: new URLSearchParams(form),
  });
}

export async function stop({ child }) {
  children.delete(child);
  child.removeAllListeners('exit');
  child.kill('SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 200));
}

export const isAlive = ({ child }) => child.exitCode === null && child.signalCode === null;

/** The processor time of all threads that the process has now, in milliseconds. */
export function workedMs({ child }) {
  const folder = `/proc/${child.pid}/task`;
  const worked = readdirSync(folder).map((thread) => {
    try {
      return Number(readFileSync(`${folder}/${thread}/schedstat`, 'latin1').split(' ')[0]);
    } catch {
      return 0; // it has ended meanwhile
    }
  });
  return worked.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

/** The peak memory of the process in MB. */
export const peakMb = ({ child }) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024;

export async function post({ url, authorization }, path, type, body, headers = {}) {
  const startMs = performance.now();
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': type, ...headers },
    body,
    ...(typeof body?.next === 'function' ? { duplex: 'half' } : {}),
  });
  const text = await answer.text();
  return { status: answer.status, text, ms: performance.now() - startMs };
}

/** Good clients, on kept and on new connections. */
export async function probe({ url, authorization }, seriesId = 'good') {
  const worker = new Worker(probeUrl, { workerData: { url, authorization, seriesId } });
  const take = () =>
    new Promise((resolve) => {
      worker.once('message', resolve);
      worker.postMessage('take');
    });
  await pause(500);
  await take();
  return { take, end: () => worker.terminate() };
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const show = ({ p50, p99, max, count, failed }) =>
  `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, most ${max.toFixed(0)} ms, ${count} requests, ${failed} failed`;

/** Kills the services that still run. */
export function endAll() {
  for (const child of children) child.kill('SIGKILL');
}
