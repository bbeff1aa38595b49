// `windrow serve` in its own process, started for the benchmarks only.

import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

/**
 * Starts a server over a store, which may be from an earlier one.
 *
 * @param {readonly string[]} store its options, `--data-dir` or `--store`.
 * @param {{ dist?: string, client?: { clientId: string, clientSecret: string }, settings?: readonly string[], cgroup?:
 *   string }} given another build than this one's; the client to get a token for, by default one is added; more options
 *   of `serve`; the folder of a cgroup to start it in.
 */
export async function startWindrow(store, { dist = DIST, client, settings = [], cgroup } = {}) {
  const command = join(dist, 'cli/main.js');
  const known = client ?? addClient(command, store);
  const options = [...store, '--port', '0', '--log-level', 'error', ...settings];
  const serve = [process.execPath, command, 'serve', ...options];
  const within = ['-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', cgroup, ...serve];
  const [program, ...args] = cgroup === undefined ? serve : ['sh', ...within];
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'pipe'] });
  const url = await new Promise((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (bytes) => {
      text += bytes;
      const match = /http:\/\/[\d.:]+/.exec(text);
      if (match !== null) resolve(match[0]);
    });
    child.once('exit', () => reject(new Error(`windrow serve ended: ${text}`)));
  });
  const basic = `Basic ${Buffer.from(`${known.clientId}:${known.clientSecret}`).toString('base64')}`;
  const tokenRequest = {
    method: 'POST',
    path: '/idm/ims/connect/token',
    headers: { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from('grant_type=client_credentials&scope=core_read%20core_write'),
  };
  const answer = await fetch(url + tokenRequest.path, tokenRequest);
  if (!answer.ok) throw new Error(await answer.text());
  const { access_token: token } = await answer.json();
  return {
    url,
    pid: child.pid,
    token,
    tokenRequest,
    client: known,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

function addClient(command, store) {
  const scope = 'core_read core_write core_admin';
  const added = spawnSync(
    process.execPath,
    [command, 'client', 'add', 'bench', '--org', 'bench', '--scope', scope, ...store, '--json'],
    { encoding: 'utf8' },
  );
  if (added.status !== 0) throw new Error(added.stderr);
  return JSON.parse(added.stdout);
}
