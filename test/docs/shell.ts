// Where commands of the pages run: a folder with the examples, `windrow` and `npx windrow` on the PATH, and a service
// with the data of the demo.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
const mainPath = join(root, 'dist/cli/main.js');

export interface Ran {
  readonly status: number | null;
  readonly output: string;
}

export class Shell {
  readonly folder = mkdtempSync(join(tmpdir(), 'windrow-docs-'));
  readonly #env: Record<string, string | undefined>;
  #service: ChildProcess | undefined;

  constructor() {
    mkdirSync(join(this.folder, 'bin'));
    this.#env = {
      ...process.env,
      PATH: `${join(this.folder, 'bin')}:${process.env.PATH}`,
      NO_COLOR: '1',
      COLUMNS: '80',
    };
    const command = `"${process.execPath}" "${mainPath}"`;
    // A service runs until it is stopped, so this one stops it once it listens.
    const served = join(this.folder, 'served');
    const briefly = `"${process.execPath}" "${join(root, 'test/docs/serve-briefly.mjs')}" "${served}"`;
    this.#addProgram('windrow', `case " $* " in " serve "*) exec ${briefly} "$@";; *) exec ${command} "$@";; esac`);
    this.#addProgram('npx', 'shift; exec windrow "$@"');
    // An error response fails the test of the page.
    this.#addProgram('curl', 'exec env PATH="$REAL_PATH" curl --silent --show-error --fail-with-body "$@"');
    // npm itself is not run: CI has installed and built everything before the tests.
    this.#addProgram('npm', `exec "${process.execPath}" "${join(root, 'test/docs/npm-script.mjs')}" "$@"`);
    this.#env.REAL_PATH = process.env.PATH;
    cpSync(join(root, 'docs/examples'), join(this.folder, 'docs/examples'), { recursive: true });
    writeFileSync(join(this.folder, 'password.txt'), 'a password of some length\n');
  }

  /** Runs lines of a page; the paths of machines in them are replaced by ones in this folder. */
  run(lines: string): Ran {
    const script = `exec 2>&1\nset -e -o pipefail\n${this.#moved(lines)}`;
    const { status, stdout } = spawnSync('bash', ['-c', script], {
      cwd: this.folder,
      env: this.#env,
      encoding: 'utf8',
    });
    // Later commands of the page use it.
    const transaction = /^\{.*"data":\{"id":"([^"]+)".*"transactionIDList"/m.exec(stdout)?.[1];
    if (transaction !== undefined) this.#env.TRANSACTION = transaction;
    return { status, output: stdout };
  }

  #moved(lines: string): string {
    return lines
      .replaceAll('/var/lib/windrow', join(this.folder, 'var'))
      .replace(/\bCLIENT_ID\b(?=[ \n]|$)/g, '$ADDED_ID');
  }

  /** Starts the demo and gives the commands its address and credentials. */
  async serve(): Promise<void> {
    const data = join(this.folder, 'demo');
    const words = ['serve', '--demo', '--port', '0', '--data-dir', data, '--log-level', 'error'];
    this.#service = spawn(process.execPath, [mainPath, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
    const told = await readUntil(this.#service, /\/core\/events"\n\n$/);
    const of = (name: string): string => new RegExp(`export WINDROW_${name}=(\\S+)`).exec(told)?.[1] ?? '';
    const [url, id, secret] = [of('URL'), of('CLIENT'), of('SECRET')];
    const basic = Buffer.from(`${id}:${secret}`).toString('base64');
    const answer = await fetch(`${url}/idm/ims/connect/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'core_admin' }),
    });
    const { access_token: token } = Object(await answer.json());
    Object.assign(this.#env, { WINDROW_URL: url, WINDROW_CLIENT: id, WINDROW_SECRET: secret });
    Object.assign(this.#env, { URL: url, CLIENT_ID: id, CLIENT_SECRET: secret, TOKEN: token });
    this.run(`windrow collection add alarms --org demo --allow ${id} --data-dir ${data}`);
    const added = this.run('windrow client add one --org acme --scope core_read --json --data-dir /var/lib/windrow');
    this.#env.ADDED_ID = Object(jsonIn(added.output)).clientId;
  }

  async close(): Promise<void> {
    const service = this.#service;
    if (service !== undefined) {
      const ended = new Promise((take) => service.once('exit', take));
      service.kill();
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  #addProgram(name: string, text: string): void {
    const path = join(this.folder, 'bin', name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
  }
}

async function readUntil(child: ChildProcess, awaited: RegExp): Promise<string> {
  let text = '';
  for await (const piece of child.stderr ?? []) {
    text += piece;
    if (awaited.test(text)) return text;
  }
  throw new Error(`the service ended:\n${text}`);
}

/** The line of a command's output that is JSON. */
export function jsonIn(output: string): unknown {
  return JSON.parse(output.split('\n').find((line) => line.startsWith('{')) ?? '');
}
