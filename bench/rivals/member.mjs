/** One rival's process, as the runner sees it: started, spoken to, watched for its memory. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { performance } from 'node:perf_hooks';

const POLL_MS = 20;
const ERROR_CHARS = 160;

/** The most memory a process has held, in MB; undefined when it has gone, or where there is no /proc. */
function peakMb(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  } catch {
    return undefined;
  }
}

/** Forgets the peak so far, so that loading does not count; only Linux knows this. */
function forgetPeak(pid) {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Without it the peak includes loading: more, never less.
  }
}

function start([command, ...args], env) {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const errors = [];
  child.stderr.on('data', (bytes) => errors.push(bytes));
  child.stdin.on('error', () => {});
  const ended = new Promise((resolve) => {
    child.on('error', (error) => resolve(`${error}`));
    child.on('close', (code) => resolve(code === 0 ? undefined : errorIn(errors) || `ended with ${code}`));
  });
  return { child, ended };
}

/** The line that names the error, among what a process said as it died. */
function errorIn(chunks) {
  const text = Buffer.concat(chunks).toString().trim();
  const named = text.split('\n').find((one) => /\b(\w*error|\w*exception)\b.*:/i.test(one));
  return (named ?? text).trim().slice(0, ERROR_CHARS);
}

/** Runs a whole process. `{ ms, peakMb, text }`; throws what it said when it failed. */
export async function runProcess(command, env) {
  const startMs = performance.now();
  const { child, ended } = start(command, env);
  const text = [];
  child.stdout.on('data', (bytes) => text.push(bytes));
  let peak = 0;
  const watch = setInterval(() => {
    peak = peakMb(child.pid) ?? peak;
  }, POLL_MS);
  const error = await ended;
  const ms = performance.now() - startMs;
  clearInterval(watch);
  if (error !== undefined) throw new Error(error);
  return { ms, peakMb: peak, text: Buffer.concat(text).toString() };
}

/** Starts a member that loads and then obeys; resolves when it is ready. */
export async function startMember(command, env, deadlineMs) {
  const { child, ended } = start(command, env);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const reply = async () => {
    const late = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
    const { value, done } = await lines.next();
    clearTimeout(late);
    if (done) throw new Error((await ended) ?? 'ended early');
    return JSON.parse(value);
  };
  await reply();
  forgetPeak(child.pid);
  const ask = (order) => {
    child.stdin.write(`${order}\n`);
    return reply();
  };
  return {
    run: async () => (await ask('run')).ms,
    answer: (path) => ask(`answer ${path}`),
    peakMb: () => peakMb(child.pid),
    stop: () => {
      child.stdin.end();
      return ended;
    },
  };
}
