// Preloaded into the service (`--import`): how long one turn of its event loop takes at most. Counted is what the
// thread computes (Linux tells it to the nanosecond), not what passes on the clock: other work of the machine, and the
// disk, do not count.
//
// A signal (SIGUSR2) asks for the longest turn since the last one; it is written to standard error.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Of loads that are turns by themselves: the time that `setInterval` leaves between two looks. */
const LOOK_MS = 1;

if (isMainThread) {
  // Opened in this thread, so it is of this thread.
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
