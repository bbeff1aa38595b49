/** A rival's process: started, timed, and its memory watched. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

const POLL_MS = 20;
const ERROR_CHARS = 160;

/** The peak memory of a process in MB; undefined if it has ended or there is no /proc. */
function peakMb(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
  } catch {
    return undefined;
  }
}

/** The line of a failed process's output that names the error. */
function errorIn(chunks) {
  const text = Buffer.concat(chunks).toString().trim();
  const named = text.split('\n').find((one) => /\b(\w*error|\w*exception)\b.*:/i.test(one));
  return (named ?? text).trim().slice(0, ERROR_CHARS);
}

/** Runs a process to its end. Returns `{ ms, peakMb, text }`; throws its output if it fails. */
export async function runProcess([command, ...args], env, deadlineMs) {
  const startMs = performance.now();
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: deadlineMs });
  const errors = [];
  const text = [];
  child.stderr.on('data', (bytes) => errors.push(bytes));
  child.stdout.on('data', (bytes) => text.push(bytes));
  let peak = 0;
  const watch = setInterval(() => {
    peak = peakMb(child.pid) ?? peak;
  }, POLL_MS);
  const error = await new Promise((resolve) => {
    child.on('error', (failure) => resolve(`${failure}`));
    const ending = (code, signal) => errorIn(errors) || `ended with ${code ?? signal}`;
    child.on('close', (code, signal) => resolve(code === 0 ? undefined : ending(code, signal)));
  });
  const ms = performance.now() - startMs;
  clearInterval(watch);
  if (error !== undefined) throw new Error(error);
  return { ms, peakMb: peak, text: Buffer.concat(text).toString() };
}
