// The built command as a service: a process, a port, signals.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { createWorld, type Ended } from '../cli/world.js';

export const commandPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Serving {
  readonly url: string;
  readonly child: ChildProcess;
  /** What it has written so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves to its exit code, or to the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** A folder that is deleted after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windrow-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts `windrow serve …` and waits until it listens, or until `awaited` is on standard error. */
export async function serve(words: readonly string[], awaited = /listens at (http:[^;]+);/): Promise<Serving> {
  const command = [commandPath, 'serve', '--port', '0', ...words];
  return listening(spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] }), awaited);
}

/** Waits until a started service listens. */
export async function listening(child: ChildProcess, awaited = /listens at (http:[^;]+);/): Promise<Serving> {
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (text) => {
    stdout += text;
  });
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.on('close', (code, signal) => resolve(code ?? signal)),
  );
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  await expect.poll(() => hasEnded || awaited.test(stderr)).toBe(true);
  expect(hasEnded, stderr).toBe(false);
  const [, url = ''] = /listens at (http:[^;]+);/.exec(stderr) ?? [];
  return {
    url,
    child,
    ended,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
  };
}

export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Runs a command beside the service: in this process, which is another than the service's. */
export function windrow(...words: string[]): Promise<Ended> {
  return createWorld().run(...words);
}

/** Adds a client; creates the store if there is none. */
export async function addClient(directory: string, scope = 'core_read core_write'): Promise<Credentials> {
  const words = ['client', 'add', 'test', '--org', 'acme', '--scope', scope, '--json', '--data-dir', directory];
  const { code, stdout, stderr } = await windrow(...words);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** A header with an access token. */
export async function tokenOf(
  url: string,
  { clientId, clientSecret }: Credentials,
): Promise<{ authorization: string }> {
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const answer = await fetch(`${url}/idm/ims/connect/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'core_read core_write' }),
  });
  expect(answer.status).toBe(200);
  const { access_token: token } = (await answer.json()) as { access_token: string }; // `as`: RFC 6749, 5.1
  return { authorization: `Bearer ${token}` };
}
