// The token endpoint over a store that refuses.
import { expect, it } from 'vitest';
import { openSqliteStorage, StorageError, StorageFullError, UnknownCommitError } from '../../../src/storage/index.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTestService } from '../app.js';
import { clientGrant, post } from './requests.js';

it.each([
  [new StorageFullError('full', 'reads'), 503, 'temporarily_unavailable', '5'],
  [new StorageError('storage.closed', 'closed'), 503, 'temporarily_unavailable', '5'],
  [new StorageError('storage.failed', 'secret detail'), 503, 'temporarily_unavailable', '5'],
  [new UnknownCommitError('secret detail'), 503, 'temporarily_unavailable', '5'],
  [new StorageError('storage.key', 'secret detail'), 500, 'server_error', undefined],
] as const)('%s: %i, an error of RFC 6749, and nothing to store', async (failure, statusCode, error, retryAfter) => {
  let isFailing = false;
  const service = await openTestService({
    storage: async (directory, clock) => {
      const storage = await openSqliteStorage({ directory, clock });
      const transaction: Storage['transaction'] = (shard, work, claim) =>
        isFailing ? Promise.reject(failure) : storage.transaction(shard, work, claim);
      return new Proxy(storage, {
        get: (target, name) => {
          if (name === 'transaction') return transaction;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  });
  const client = await service.addClient({ organisation: 'acme' });
  isFailing = true;
  const answer = await post(service, 'token', client, clientGrant);
  isFailing = false;
  expect([answer.statusCode, answer.json().error, answer.headers['retry-after']]).toEqual([
    statusCode,
    error,
    retryAfter,
  ]);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.body).not.toContain('secret detail');
  expect((await post(service, 'token', client, clientGrant)).statusCode).toBe(200);
  await service.close();
});
