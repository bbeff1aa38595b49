// Preloaded into the service (`--import`), this measures the longest turn of its event loop. It counts the thread's
// processor time (in nanoseconds from Linux), not wall-clock time, so other work of the machine and the disk do not
// count.
//
// SIGUSR2 asks for the longest turn since the last request; it is written to standard error.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Turns are measured between two callbacks of `setInterval`, this far apart. */
const LOOK_MS = 1;

if (isMainThread) {
  // Opened in this thread, so `self` is this thread.
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(64);
  const workedMs = () => {
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return Number(bytes.toString('latin1', 0, length).split(' ')[0]) / 1e6;
  };
  let lastMs = workedMs();
  let longestMs = 0;
  const look = () => {
    const nowMs = workedMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  setInterval(look, LOOK_MS).unref();
  process.on('SIGUSR2', () => {
    look();
    writeSync(2, `longest turn ${longestMs.toFixed(2)} ms\n`);
    longestMs = 0;
  });
  process.on('exit', () => closeSync(file));
}
