import { afterEach, expect, it, vi } from 'vitest';
import type { Connection } from '../../../src/storage/postgres/connection.js';
import { ConnectionPool } from '../../../src/storage/postgres/pool.js';

afterEach(() => vi.useRealTimers());

it('a work that finds no free connection in time fails as if the database was lost, and leaves its place', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  // `as`: the pool asks for nothing else.
  const connection = { failure: undefined, close: () => {} } as unknown as Connection;
  const pool = new ConnectionPool(async () => connection, 1);
  let end = () => {};
  const first = pool.use(() => new Promise<void>((resolve) => (end = resolve)));
  const second = pool.use(async () => 'second');
  await vi.advanceTimersByTimeAsync(10_000);
  const third = pool.use(async () => 'third');
  const refused = expect(second).rejects.toMatchObject({ kind: 'lost', message: expect.stringMatching(/in use/) });
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  end();
  await first;
  expect(await third).toBe('third');
});
