// A service whose database cannot be reached when it starts.
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { startServer } from '../../src/service/server.js';
import { createDatabase, hasPostgres } from '../storage/postgres/open.js';
import { type Answer, isGone, isSilent, openWay, refusal } from '../storage/postgres/way.js';
import { commandPath, listening, windrow } from './serving.js';

/** `windrow serve` before a database that is answered for as long as the way to it is not open. */
async function serveBefore(answer: Answer) {
  const way = await openWay([answer], Number.POSITIVE_INFINITY);
  const words = [commandPath, 'serve', '--port', '0', '--store', way.address()];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  return { way, serving: await listening(child, /^/) };
}

function linesOf({ stdout }: { readonly stdout: string }): Record<string, string>[] {
  const whole = stdout.slice(0, stdout.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe.runIf(hasPostgres)('windrow serve before a database that cannot be reached', () => {
  it('is live but not ready, logs why, refuses requests, and serves as soon as the database is there', async () => {
    const { way, serving } = await serveBefore(isGone);
    const reason = () => linesOf(serving).find(({ msg }) => msg === 'waiting for the store')?.reason;
    // On a busy machine others may follow: a connection that is closed is noticed by a read or by a write.
    await expect.poll(reason).toMatch(/^the store at postgres:\/\/windrow@127.0.0.1.*: PostgreSQL does not answer: /);
    const listens = () => linesOf(serving).find(({ msg }) => msg === 'listening');
    // It may have begun to wait before it listens.
    await expect.poll(listens).toBeDefined();
    const { url } = listens()!;
    const statuses = async () => {
      const paths = ['/health/live', '/health/ready', '/metrics', '/core/timeseries'];
      return Promise.all(paths.map(async (path) => (await fetch(`${url}${path}`)).status));
    };
    const asks = { headers: { authorization: 'Bearer abc' } };
    expect(await statuses()).toEqual([200, 503, 200, 401]);
    const refused = await fetch(`${url}/core/timeseries`, asks);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(serving.stderr).toBe('');

    way.open();
    await expect.poll(() => serving.stderr).toMatch(/listens at http/);
    expect(await statuses()).toEqual([200, 200, 200, 401]);
    expect((await fetch(`${url}/core/timeseries`, asks)).status).toBe(401);
    expect(linesOf(serving).map(({ msg }) => msg)).toContain('ready');
    serving.child.kill('SIGTERM');
    expect(await serving.ended).toBe(0);
  });

  it('stops at SIGTERM, even while a connection is not answered', async () => {
    const { way, serving } = await serveBefore(isSilent);
    await expect.poll(way.count).toBe(1);
    serving.child.kill('SIGTERM');
    expect(await serving.ended).toBe(0);
    expect(way.count()).toBe(1);
  });

  it('fails at once if waiting cannot help', async () => {
    const { way, serving } = await serveBefore(refusal('28P01', 'password authentication failed for user "windrow"'));
    expect(await serving.ended).toBe(1);
    expect(serving.stderr).toMatch(/^windrow: the store at .*: no access: password authentication failed/);
    expect(way.count()).toBe(1);
  });

  it('fails when it has waited for as long as the settings say, and listens no more', async () => {
    const way = await openWay([isGone], Number.POSITIVE_INFINITY);
    const lines: string[] = [];
    const logDestination = { write: (line: string) => void lines.push(line) };
    const starting = startServer({ store: way.address(), settings: { storeWaitMsMax: 300 }, logDestination });
    await expect(starting).rejects.toThrow(/check that the database runs .*; gave up after 0\.3 s$/);
    const { url } = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'listening');
    await expect(fetch(`${url}/health/live`)).rejects.toThrow();
  });
});

it.runIf(hasPostgres)('a command waits for the database too, and says so', async () => {
  const way = await openWay([isGone], 1);
  const ended = await windrow(
    'client',
    'add',
    'sender',
    '--org',
    'acme',
    '--scope',
    'core_read',
    '--store',
    way.address(),
  );
  expect([ended.code, ended.stderr]).toEqual([
    0,
    expect.stringMatching(/^windrow: waiting for the store at .*: PostgreSQL does not answer: .*\n/),
  ]);
});

it.runIf(hasPostgres)('a command creates tables only where the first client or user is added', async () => {
  const { address, query } = await createDatabase();
  const tables = () => query(`SELECT count(*) FROM pg_class WHERE relname LIKE 'windrow%' AND relkind = 'r'`);
  for (const words of [
    ['client', 'list'],
    ['client', 'remove', 'id'],
    ['collection', 'add', 'site', '--org', 'acme'],
    ['retention', 'list'],
  ]) {
    const { code, stderr } = await windrow(...words, '--store', address);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^windrow: .*: there is no store of windrow; check --store; `windrow serve`, .* create a/),
    ]);
  }
  expect(await tables()).toMatch(/^\s*0\s*$/);
  expect(
    (await windrow('client', 'add', 'sender', '--org', 'acme', '--scope', 'core_read', '--store', address)).code,
  ).toBe(0);
  expect(await tables()).not.toMatch(/^\s*0\s*$/);
});
