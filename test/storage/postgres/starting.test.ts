import { describe, expect, it } from 'vitest';
import { openPostgresStorage, type PostgresOptions } from '../../../src/storage/postgres/open.js';
import { hasPostgres } from './open.js';
import { asksPassword, hasNoTls, isGone, isSilent, isStarting, openWay, refusal } from './way.js';

const clock = { monotonicMs: () => performance.now() };
const forEver = Number.POSITIVE_INFINITY;

describe.runIf(hasPostgres)('a database that cannot be reached yet', () => {
  it.each([
    ['is starting', [isStarting, isStarting, isStarting], /the database system is starting up/],
    ['does not answer in time', [isSilent], /timeout expired/],
    ['ends the connection', [isGone, isGone], /PostgreSQL does not answer: /],
    [
      'ends a transaction that takes long',
      [refusal('25P04', 'terminating connection due to transaction timeout')],
      /timeout/,
    ],
    ['has no connection left', [refusal('53300', 'sorry, too many clients already')], /raise max_connections/],
  ])('is waited for, and the reason is told once: it %s', async (_, answers, reason) => {
    const way = await openWay(answers, answers.length);
    const reasons: string[] = [];
    const onWait = ({ message }: Error) => void reasons.push(message);
    const storage = await openPostgresStorage({ address: way.address(), clock, onWait });
    await storage.check();
    await storage.close();
    expect(reasons).toEqual([expect.stringMatching(reason)]);
  });

  it('is waited for while it is a standby, which takes no writes', async () => {
    const way = await openWay([], 0);
    const name = new URL(way.address()).pathname.slice(1);
    await way.database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    let promoting: Promise<unknown> | undefined;
    const onWait = () => {
      promoting = way.database.query(
        `BEGIN READ WRITE; ALTER DATABASE ${name} RESET default_transaction_read_only; COMMIT`,
      );
    };
    const storage = await openPostgresStorage({ address: way.address(), clock, onWait });
    await promoting;
    await storage.check();
    await storage.close();
  });

  it('is not waited for longer than asked, and the error says for how long it was', async () => {
    const way = await openWay([isStarting], forEver);
    let nowMs = 0;
    const later = {
      monotonicMs: () => {
        nowMs += 10_000;
        return nowMs;
      },
    };
    await expect(
      openPostgresStorage({ address: way.address(), clock: later, waitMsMax: 60_000 }),
    ).rejects.toMatchObject({
      code: 'storage.failed',
      message: expect.stringMatching(
        /the database system is starting up \(57P03\); check that the database runs .*; gave up after 60 s$/,
      ),
    });
    expect(way.count()).toBe(6);
  });

  it('is not waited for once the start is to end, even in the middle of a connection', async () => {
    const way = await openWay([isSilent], forEver);
    const ending = new AbortController();
    const options: PostgresOptions = { address: way.address(), clock, signal: ending.signal, waitMsMax: 20_000 };
    const opening = openPostgresStorage(options);
    await expect.poll(way.count).toBe(1);
    const reason = new Error('it ends');
    ending.abort(reason);
    await expect(opening).rejects.toBe(reason);
    expect(way.count()).toBe(1);
  });
});

it.runIf(hasPostgres)('what PostgreSQL knows nothing of yet is analysed at the start', async () => {
  const way = await openWay([], 0);
  const open = () => openPostgresStorage({ address: way.address(), clock });
  const [first, { query }] = [await open(), way.database];
  const known = async () => Number(await query(`SELECT reltuples FROM pg_class WHERE relname = 'items'`));
  await query('ALTER TABLE items SET (autovacuum_enabled = off)');
  await query(`INSERT INTO items SELECT 1, 'acme', i, i, 'Raw', 'batch', NULL, '', '', '', '', '', NULL, '', 1, 1, 1
    FROM generate_series(1, 500) AS of (i)`);
  await first.close();
  expect(await known()).toBeLessThanOrEqual(0);
  await (await open()).close();
  expect(await known()).toBe(500);
});

describe.runIf(hasPostgres)('what waiting cannot mend is refused at the first connection', () => {
  it.each([
    ['a wrong password', [refusal('28P01', 'password authentication failed')], /no access: .*check the user/],
    ['a missing password', [asksPassword], /no access: .*password.*check the user/],
    ['a server without TLS', [hasNoTls], /does not support SSL/, '?sslmode=verify-full'],
    ['a pooler of transactions', [refusal('42P05', 'prepared statement exists')], /a pooler must keep a session/],
    ['an error of the server', [refusal('XX000', 'could not read file')], /PostgreSQL reports damage/],
  ])('%s', async (_, answers, message, query = '') => {
    const way = await openWay(answers, forEver);
    const address = `${way.address()}${query}`;
    await expect(openPostgresStorage({ address, clock, waitMsMax: 20_000 })).rejects.toThrow(message);
    expect(way.count()).toBe(1);
  });

  it('an unknown database', async () => {
    const way = await openWay([], 0);
    const address = `${way.address()}_of_nobody`;
    const message = /no access: database .* does not exist/;
    await expect(openPostgresStorage({ address, clock, waitMsMax: 20_000 })).rejects.toThrow(message);
    expect(way.count()).toBe(1);
  });

  it('an unknown user', async () => {
    const way = await openWay([], 0);
    const options: PostgresOptions = { address: way.address('nobody'), clock, waitMsMax: 20_000 };
    await expect(openPostgresStorage(options)).rejects.toThrow(/no access: role "nobody" does not exist/);
    expect(way.count()).toBe(1);
  });

  it('a user who may not create tables', async () => {
    const way = await openWay([], 0);
    // As of PostgreSQL 15 where the user does not own the database; before, anybody might.
    await way.database.query('ALTER SCHEMA public OWNER TO CURRENT_USER; REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    const opening = openPostgresStorage({ address: way.address(), clock, waitMsMax: 20_000 });
    await expect(opening).rejects.toThrow(/no access: permission denied for schema public .*privileges/);
    expect(way.count()).toBe(1);
  });

  it.each([
    ['sslrootcert=/nowhere/ca.pem', /: sslrootcert: the file \/nowhere\/ca\.pem cannot be read \(ENOENT\); check/],
    ['sslkey=/', /: sslkey: the file \/ cannot be read \(EISDIR\); check/],
  ])('a file of TLS that cannot be read: %s', async (parameter, message) => {
    const way = await openWay([], 0);
    const address = `${way.address()}?sslmode=verify-full&${parameter}`;
    await expect(openPostgresStorage({ address, clock, waitMsMax: 20_000 })).rejects.toMatchObject({
      code: 'storage.failed',
      message: expect.stringMatching(message),
    });
    expect(way.count()).toBe(0);
  });

  it('a store of a newer version', async () => {
    const way = await openWay([], 0);
    const storage = await openPostgresStorage({ address: way.address(), clock });
    await storage.close();
    await way.database.query(`UPDATE windrow_meta SET "value" = '99' WHERE "name" IN ('version', 'oldestVersion')`);
    const before = way.count();
    const opening = openPostgresStorage({ address: way.address(), clock, waitMsMax: 20_000 });
    await expect(opening).rejects.toMatchObject({ code: 'storage.newer' });
    expect(way.count()).toBe(before + 1);
  });

  it.each([
    ['tables', 'CREATE TABLE "events" ("id" int); CREATE VIEW "items" AS SELECT 1', '"events", "items"'],
    ['a type', `CREATE TYPE "series" AS ENUM ('a')`, '"series"'],
    [
      'the first table with other columns',
      'SET ROLE windrow; CREATE TABLE "windrow_meta" ("key" text)',
      '"windrow_meta"',
    ],
    [
      'the first table without rows',
      'SET ROLE windrow; CREATE TABLE "windrow_meta" ("name" text, "value" text)',
      '"windrow_meta"',
    ],
  ])("another program's %s of a name that windrow uses, unless it has another schema", async (_, sql, names) => {
    const way = await openWay([], 0);
    await way.database.query(sql);
    const expected = "expected no other program's tables of the names that windrow uses";
    const mend = 'use another database, or another schema by ?options=-c%20search_path%3DNAME in the address';
    const opening = openPostgresStorage({ address: way.address(), clock, waitMsMax: 20_000 });
    await expect(opening).rejects.toMatchObject({
      code: 'storage.damaged',
      message: `the store at ${way.address()}: ${expected}, found ${names}; ${mend}`,
    });
    expect(way.count()).toBe(1);
    await way.database.query('CREATE SCHEMA other AUTHORIZATION windrow');
    const address = `${way.address()}?options=-c%20search_path%3Dother`;
    const storage = await openPostgresStorage({ address, clock });
    await storage.check();
    await storage.close();
    expect(await way.database.query(`SELECT to_regclass('other.windrow_meta')`)).toContain('windrow_meta');
  });
});
