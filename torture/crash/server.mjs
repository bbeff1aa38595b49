// `windrow serve` as a process to be killed, and other commands.

import { spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/** A limit for what would never end, even on a slow machine. */
const START_MS_MAX = 300_000;

const RETENTION_INTERVAL = 'PT0.1S';

/** The option that names a store: a folder, or the URL of a database. */
export function storeWords(store) {
  return /^\w+:\/\//.test(store) ? ['--store', store] : ['--data-dir', store];
}

/**
 * Whether a process that starts gave up because the database did not answer for three seconds, as when somebody stops
 * all processes for a measurement.
 */
export function wasUnanswered(said) {
  return said.includes('PostgreSQL does not answer: timeout expired');
}

/** How often in a row that is taken for a pause of the machine. */
export const UNANSWERED_MAX = 3;

/**
 * Runs a command other than the service.
 *
 * @returns its output.
 */
export function windrow(command, words) {
  for (let tries = 1; ; tries++) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [resolve(command), ...words], { encoding: 'utf8' });
    if (status === 0) return stdout;
    if (wasUnanswered(stderr) && tries <= UNANSWERED_MAX) continue;
    throw new Error(`windrow ${words.join(' ')}: exit code ${status}\n${stdout}${stderr}`);
  }
}

/**
 * Starts a service in a process group of its own.
 *
 * @param {{ command: string, store: string, isWrapped: boolean }} of a wrapped service is the child of a shell.
 */
export function startServer({ command, store, isWrapped }) {
  const words = [process.execPath, resolve(command), 'serve', '--port', '0', '--log-level', 'error'];
  words.push('--retention-interval', RETENTION_INTERVAL);
  words.push(...storeWords(store));
  const [program, ...rest] = isWrapped ? ['sh', '-c', '"$@"; exit $?', 'sh', ...words] : words;
  const startedMs = performance.now();
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let said = '';
  const ended = new Promise((done) => child.on('close', (code, signal) => done(signal ?? code)));
  child.stdout.on('data', (text) => {
    said += text;
  });
  const listening = new Promise((done, fail) => {
    const late = setTimeout(() => fail(new Error(`the service does not start:\n${said}`)), START_MS_MAX);
    child.stderr.on('data', (text) => {
      said += text;
      const [, url] = /listens at (http:[^;]+);/.exec(said) ?? [];
      if (url !== undefined) done({ url, startMs: performance.now() - startedMs });
    });
    void ended.then((how) => fail(new Error(`the service ended (${how}) before it listened:\n${said}`)));
    void ended.finally(() => clearTimeout(late));
  });
  // Whoever kills it before it listens does not wait for this.
  listening.catch(() => {});
  return {
    listening,
    ended,
    get said() {
      return said;
    },
    /** Sends a signal to the process, or to its whole group. */
    signal: (name) => {
      try {
        process.kill(isWrapped ? -child.pid : child.pid, name);
      } catch (error) {
        if (error.code !== 'ESRCH') throw error;
      }
    },
  };
}
