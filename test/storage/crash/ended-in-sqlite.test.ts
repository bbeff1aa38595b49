import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../open-temporary.js';
import { buildPrograms } from './programs.js';

// The published script of the thread, which `npm test` has built.
const store = new URL('../../../dist/cli/store-worker.js', import.meta.url).href;

let programs: Awaited<ReturnType<typeof buildPrograms>>;
beforeAll(async () => {
  programs = await buildPrograms('ended-in-sqlite');
});
afterAll(() => programs.remove());

/** In a process of its own, as what goes wrong here ends the process. */
function endThread(way: 'limit' | 'stop') {
  const { path, remove } = temporaryDirectory();
  const words = [programs.pathOf('ended-in-sqlite'), path, store, way];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  remove();
  return { status, stderr, stdout };
}

describe('a thread in the midst of a statement', () => {
  it('is ended by its time limit after the statement, and does not take the process with it', () => {
    const said = 'loadSomeLog: the thread did not answer for 60 s and was ended';
    expect(endThread('limit')).toEqual({ status: 0, stderr: '', stdout: JSON.stringify({ said, next: 'done' }) });
  });

  it('is ended likewise by a stop of the service', () => {
    const said = 'Terminating worker thread';
    expect(endThread('stop')).toEqual({ status: 0, stderr: '', stdout: JSON.stringify({ said, next: 'closed' }) });
  });
});
