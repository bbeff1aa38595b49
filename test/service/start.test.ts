import { expect, it, onTestFinished, vi } from 'vitest';
import { createApp } from '../../src/service/http/app.js';
import { startServer } from '../../src/service/server.js';
import { systemRandom } from '../../src/service/system.js';
import { silentLog } from './silent-log.js';

it('a start takes as long as its plugins need, as on a busy machine', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const app = createApp({ log: silentLog, random: systemRandom });
  let isLoaded = false;
  app.register(async () => {
    await vi.advanceTimersByTimeAsync(3_600_000);
    isLoaded = true;
  });
  await app.ready();
  await app.close();
  expect(isLoaded).toBe(true);
});

it('a server without a place for its store is refused before it listens', async () => {
  const lines: string[] = [];
  const logDestination = { write: (line: string) => void lines.push(line) };
  await expect(startServer({ logDestination })).rejects.toThrow('expected dataDirectory, store, or a storage');
  expect(lines).toEqual([]);
});
