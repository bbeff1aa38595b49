// A `windrow serve` process, which can be killed and restarted.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
/** A limit for what would never end, even on a slow machine. */
const START_MS_MAX = 300_000;

/** The option that names a store: the address of a PostgreSQL database or the folder of an embedded one. */
function storeWords(store) {
  return [store.startsWith('postgres') ? '--store' : '--data-dir', store];
}

export class WindrowProcess {
  #store;
  #child;
  #ended;
  /** The URL it listens at; undefined while it does not. */
  url;

  /** @param {string} store the address of a PostgreSQL database or the folder of an embedded one */
  constructor(store) {
    this.#store = store;
  }

  /** Starts it; resolves when it listens. */
  async start() {
    const words = [command, 'serve', '--port', '0', ...storeWords(this.#store), '--log-level', 'error'];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('close', resolve));
    let said = '';
    this.url = await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`windrow did not start: ${said}`)), START_MS_MAX);
      child.stderr.on('data', (text) => {
        said += text;
        const [, url] = /listens at (http:[^;]+);/.exec(said) ?? [];
        if (url !== undefined) {
          clearTimeout(late);
          resolve(url);
        }
      });
      child.once('close', () => reject(new Error(`windrow did not start: ${said}`)));
    });
  }

  get pid() {
    return this.#child?.pid;
  }

  /** `SIGTERM` stops it gracefully, `SIGKILL` crashes it. */
  async end(signal) {
    this.url = undefined;
    this.#child?.kill(signal);
    await this.#ended;
  }
}

/** Runs a windrow command over a store and returns its output. */
export async function runWindrow(words, store) {
  const child = spawn(process.execPath, [command, ...words, ...storeWords(store)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`windrow ${words.join(' ')} ended with ${code}`);
  return text;
}
