import { expect, it, onTestFinished, vi } from 'vitest';
import { createApp } from '../../src/service/http/app.js';
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
