import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Server, startServer } from '../../src/service/server.js';
import type { Storage } from '../../src/storage/storage.js';
import { openTemporary } from '../storage/open-temporary.js';
import { createTestClock, type TestClock } from './app.js';
import { failingStorage } from './failing-storage.js';

describe('a stop of a service with work that waits for its store', () => {
  let temporary: Awaited<ReturnType<typeof openTemporary>>;
  let clock: TestClock;
  let server: Server;
  let lines: string[];
  let isStopped: boolean;
  /** What waits for the store: from when on nothing is answered, or writes alone are not. */
  let waiting: 'nothing' | 'writes' | 'all';
  let answerAll: () => void;
  beforeEach(async () => {
    temporary = await openTemporary();
    clock = createTestClock(0);
    [lines, isStopped, waiting] = [[], false, 'nothing'];
    const answered = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    const { storage } = temporary;
    const slow: Storage = {
      ...failingStorage(storage, {}),
      check: async () => {
        if (waiting === 'all') await answered;
      },
      transaction: async (shard, work, options) => {
        if (waiting !== 'nothing') await answered;
        return storage.transaction(shard, work, options);
      },
    };
    const logDestination = { write: (line: string) => void lines.push(line) };
    server = await startServer({ storage: slow, clock, scheduler: clock.scheduler, logDestination });
  });
  afterEach(async () => {
    answerAll();
    await server.service.worker.stop();
    await temporary.dispose();
  });
  /** Begins the stop, and lets ten minutes pass. */
  const stopFor10Minutes = async () => {
    server.service.worker.wake(0, true);
    void server.stop().then(() => {
      isStopped = true;
    });
    for (let s = 0; s < 600; s++) {
      clock.advance(1000);
      await setImmediate();
    }
  };
  const lastLine = () => JSON.parse(lines.at(-1)!).msg;

  it('gives up once the store does not answer, as each piece of its work would wait for long', async () => {
    waiting = 'all';
    await stopFor10Minutes();
    expect([isStopped, lastLine()]).toEqual([
      true,
      expect.stringMatching(/^stopped without the store, which does not/),
    ]);
  });

  it('waits for a store that answers, however long its work takes', async () => {
    waiting = 'writes';
    await stopFor10Minutes();
    expect(isStopped).toBe(false);
    answerAll();
    await expect.poll(() => isStopped).toBe(true);
    expect(lastLine()).toBe('stopped');
  });
});
