import { expect, it, onTestFinished, vi } from 'vitest';
import { Announcer } from '../../../src/storage/postgres/announcer.js';
import type { Connection } from '../../../src/storage/postgres/connection.js';
import { Hints } from '../../../src/storage/postgres/hints.js';

it('a notification before the first poll announces nothing that was there before', async () => {
  const commits = [1_000_000, 2_000_000];
  let notify = (_payload: string): void => {};
  let pollCount = 0;
  const answer = (sql: string): Record<string, unknown>[] => {
    if (sql.includes('pg_backend_pid')) return [{ id: 1 }];
    // Another process commits as soon as this one listens.
    if (sql.startsWith('LISTEN')) notify('other 0:1000000');
    if (!sql.includes('FROM "windrow_shard"')) return [];
    pollCount++;
    return commits.map((commit, shard) => ({ shard, commit }));
  };
  const connection = {
    exec: async (sql: string) => [answer(sql)],
    onNotification: (listener: (payload: string) => void) => {
      notify = listener;
    },
    close: () => {},
  } as unknown as Connection; // `as`: this is what Hints uses of one
  const announcer = new Announcer();
  const hints = new Hints({ announcer, connect: async () => connection, name: 'own', session: 1 });
  onTestFinished(() => hints.close());
  const heard: [number, number, boolean][] = [];
  announcer.onCommit((...of) => heard.push(of));
  await hints.start({ exec: async () => [[{ id: 2 }]] } as unknown as Connection);
  await expect.poll(() => pollCount).toBeGreaterThan(2);
  expect(heard).toHaveLength(0);
  // Any role may notify.
  for (const payload of ['', 'other', 'other 1', 'other 1:x', 'other x:2000009', 'other 99:1', 'other 1:']) {
    notify(payload);
  }
  // A number that far ahead is not believed: commits after it would be taken for known.
  notify(`other 1:${Number.MAX_SAFE_INTEGER}`);
  notify('other 1:2000002');
  announcer.committed(announcer.sending(0, 1_000_001, 1_000_002));
  await expect.poll(() => heard).toHaveLength(4);
  expect(heard).toEqual([
    [1, 2_000_001, false],
    [1, 2_000_002, false],
    [0, 1_000_001, false],
    [0, 1_000_002, true],
  ]);
});

it('a notification during a poll leads to another one at once', async () => {
  // Pauses do not end by themselves.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let notify = (_payload: string): void => {};
  let pollCount = 0;
  let answerPoll = (): void => {};
  const connection = {
    exec: async (sql: string) => {
      if (!sql.includes('FROM "windrow_shard"')) return [[{ id: 1 }]];
      pollCount++;
      if (pollCount === 2) await new Promise<void>((resolve) => (answerPoll = resolve));
      return [[{ shard: 0, commit: 1 }]];
    },
    onNotification: (listener: (payload: string) => void) => {
      notify = listener;
    },
    close: () => {},
  } as unknown as Connection; // `as`: this is what Hints uses of one
  const hints = new Hints({ announcer: new Announcer(), connect: async () => connection, name: 'own', session: 1 });
  onTestFinished(() => hints.close());
  await hints.start({ exec: async () => [[{ id: 2 }]] } as unknown as Connection);
  await expect.poll(() => pollCount).toBe(2);
  // Too far ahead to be believed: the database has to be asked.
  notify('other 0:1000000');
  answerPoll();
  await expect.poll(() => pollCount).toBe(3);
});

it('a lower number never takes the place of a higher one that others are to know', async () => {
  const sent: string[] = [];
  let end = (): void => {};
  const connection = {
    exec: async (sql: string) => {
      if (sql.startsWith('NOTIFY')) {
        sent.push(sql.replace(/^.*'own (.*)'$/, '$1'));
        if (sent.length === 1) await new Promise<void>((resolve) => (end = resolve));
      }
      return [[{ id: 1, shard: 0, commit: 1 }]];
    },
    onNotification: () => {},
    close: () => {},
  } as unknown as Connection; // `as`: this is what Hints uses of one
  const hints = new Hints({ announcer: new Announcer(), connect: async () => connection, name: 'own', session: 1 });
  onTestFinished(() => hints.close());
  await hints.start({ exec: async () => [[{ id: 2 }]] } as unknown as Connection);
  hints.notify(3, 7);
  await expect.poll(() => sent).toEqual(['3:7']);
  hints.notify(3, 9);
  hints.notify(3, 8);
  end();
  await expect.poll(() => sent).toEqual(['3:7', '3:9']);
});

it('a close does not wait for a poll that nobody answers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let pollCount = 0;
  let fail = (): void => {};
  let isCut = false;
  const connection = {
    exec: async (sql: string) => {
      if (sql.includes('FROM "windrow_shard"') && ++pollCount === 2) {
        await new Promise<void>((_, reject) => (fail = () => reject(new Error('cut'))));
      }
      return [[{ id: 1, shard: 0, commit: 1 }]];
    },
    onNotification: () => {},
    close: () => {},
    cut: () => {
      isCut = true;
      fail();
    },
  } as unknown as Connection; // `as`: this is what Hints uses of one
  const hints = new Hints({ announcer: new Announcer(), connect: async () => connection, name: 'own', session: 1 });
  await hints.start({ exec: async () => [[{ id: 2 }]] } as unknown as Connection);
  await vi.advanceTimersByTimeAsync(500);
  expect(pollCount).toBe(2);
  const closing = hints.close();
  await vi.advanceTimersByTimeAsync(1000);
  await closing;
  expect(isCut).toBe(true);
});
