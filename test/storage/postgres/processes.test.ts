import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { StaleClaimError, UnknownCommitError } from '../../../src/storage/index.js';
import { openPostgresStorage, type PostgresOptions } from '../../../src/storage/postgres/open.js';
import { LOCK_CLASS } from '../../../src/storage/postgres/schema.js';
import { SHARD_COUNT } from '../../../src/storage/shard.js';
import type { Reader, Storage, Transaction } from '../../../src/storage/storage.js';
import { thing } from '../conformance/some-things.js';
import { suiteTables, things } from '../conformance/tables.js';
import { createDatabase, hasPostgres, limitsOver, type TestDatabase } from './open.js';
import { serverError } from './way.js';

const SHARD = 3;
const LEASE_MS = 600_000;
const insert = (id: string) => async (tx: Transaction) => {
  await tx.insert(things, thing({ id }));
  return tx.commit;
};
const ids = async (tx: Reader) => (await tx.find(things)).map(({ id }) => id);

const versionOf = (database: TestDatabase) => database.query(`SELECT value FROM windrow_meta WHERE name = 'version'`);
/** The sessions in which a migration runs. */
const MIGRATING = `FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()
  AND query LIKE '%pg_sleep%' AND state = 'active'`;

// Two stores over one database behave like two processes.
describe.runIf(hasPostgres)('several processes over one PostgreSQL', () => {
  let database: TestDatabase;
  let storages: Storage[];
  const clock = { monotonicMs: () => performance.now() };
  const open = async (options: Partial<PostgresOptions> = {}) => {
    const storage = await openPostgresStorage({ address: database.address, clock, tables: suiteTables, ...options });
    storages.push(storage);
    return storage;
  };
  const untilOneWaits = (mode: string) =>
    expect
      .poll(() =>
        database.query(`SELECT count(*) FROM pg_locks JOIN pg_database AS "d" ON "d"."oid" = "database"
          WHERE "datname" = current_database() AND "mode" = '${mode}' AND NOT "granted"`),
      )
      .toBe('1');
  const untilMigrating = () => expect.poll(() => database.query(`SELECT count(*) ${MIGRATING}`)).toBe('1');
  beforeEach(async () => {
    database = await createDatabase();
    storages = [];
  });
  afterEach(async () => {
    for (const storage of storages) await storage.close();
    await database.remove();
  });

  it('a transaction knows whether all commits since the one before were of its own process', async () => {
    const [one, other] = [await open(), await open()];
    const found = () => one.transaction(SHARD, async (tx) => tx.soleWriter);
    const first = await found();
    expect(first).toBeDefined();
    await one.transaction(SHARD, insert('a'));
    await expect(one.transaction(SHARD, insert('a'))).rejects.toThrow('exists');
    await other.transaction(SHARD + 1, insert('of another shard'));
    expect(await found()).toBe(first);
    await other.transaction(SHARD, insert('b'));
    const second = await found();
    expect(second).not.toBe(first);
    expect(await found()).toBe(second);
    // Another writer of the same process.
    await one.transactionOver([SHARD, SHARD + 1], async ([tx]) => insert('c')(tx!));
    const third = await found();
    expect(third).not.toBe(second);
    // What a group has kept that failed as a whole is not what is stored.
    const runs: (object | undefined)[] = [];
    await one.transaction(SHARD, async (tx) => {
      await insert('d')(tx);
      if (runs.push(tx.soleWriter) > 1) return;
      await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction'`);
    });
    expect(runs).toHaveLength(2);
    expect(runs[0]).toBe(third);
    expect(runs[1]).not.toBe(third);
    expect(await found()).toBe(runs[1]);
  });

  it('the last commit is current for each of many who ask at once', async () => {
    const [one, other] = [await open(), await open()];
    for (let round = 1; round <= 20; round++) {
      const early = Array.from({ length: 20 }, () => one.lastCommit(SHARD));
      const commit = await other.transaction(SHARD, insert(`row ${round}`));
      const late = await Promise.all(Array.from({ length: 50 }, () => one.lastCommit(SHARD)));
      expect(late.every((number) => number === commit)).toBe(true);
      for (const number of await Promise.all(early)) expect([commit - 1, commit]).toContain(number);
    }
  });

  it('commits of many writers in two processes are numbered without gaps, and none is lost', async () => {
    const [a, b] = [await open(), await open()];
    const works = Array.from({ length: 100 }, async (_, i) => {
      for (let turn = 0; turn < i % 7; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
      return (i % 2 === 0 ? a : b).transaction(SHARD, insert(`${i}`));
    });
    const commits = await Promise.all(works);
    expect(commits.sort((x, y) => x - y)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    expect(await b.read(SHARD, ids)).toHaveLength(100);
  });

  it('listeners hear the commits of other processes, once each, in order, and by whom', async () => {
    const [a, b] = [await open(), await open()];
    const heard: [number, boolean][] = [];
    a.onCommit((_, commit, isOwn) => heard.push([commit, isOwn]));
    for (let i = 0; i < 6; i++) await (i % 2 === 0 ? a : b).transaction(SHARD, insert(`${i}`));
    await expect.poll(() => heard.length).toBe(6);
    expect(heard.map(([commit]) => commit)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(heard.at(-1)).toEqual([6, false]);
  });

  it('listeners hear by whom commits are that follow each other at once', async () => {
    const [a, b] = [await open(), await open()];
    const heard = new Map<number, boolean>();
    a.onCommit((_, commit, isOwn) => heard.set(commit, isOwn));
    const [own, others]: [number[], number[]] = [[], []];
    let isOver = false;
    const writeOn = async () => {
      while (!isOver) own.push(await a.transaction(SHARD, insert(`own ${own.length}`)));
    };
    const writing = writeOn();
    for (let i = 0; i < 100; i++) {
      others.push(await b.transaction(SHARD, insert(`${i}`)));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    isOver = true;
    await writing;
    await expect.poll(() => heard.size).toBe(own.length + others.length);
    expect(own.filter((commit) => heard.get(commit) === false)).toEqual([]);
    expect(others.filter((commit) => heard.get(commit) === true)).toEqual([]);
  });

  it('a live process keeps its claims; those of a dead one end at once', async () => {
    const [a, b] = [await open(), await open()];
    const claim = (await a.claim(SHARD, 'a', LEASE_MS))!;
    expect(await b.claim(SHARD, 'b', LEASE_MS)).toBeUndefined();
    // Like a killed process, it releases nothing.
    await a.close();
    await expect.poll(() => b.claim(SHARD, 'b', LEASE_MS)).toMatchObject({ sequence: 2 });
    await expect(b.transaction(SHARD, insert('late'), { claim })).rejects.toBeInstanceOf(StaleClaimError);
  });

  it('a process that joins gets its share of the shards, and none gets more than that', async () => {
    const shards = Array.from({ length: 6 }, (_, shard) => shard);
    const [a, b] = [await open(), await open()];
    const claimAll = async (storage: Storage, owner: string) => {
      const claims = [];
      for (const shard of shards) claims.push(await storage.claim(shard, owner, LEASE_MS));
      return claims.filter((claim) => claim !== undefined).length;
    };
    expect(await claimAll(a, 'a')).toBe(6);
    expect(await claimAll(b, 'b')).toBe(0);
    expect(await claimAll(a, 'a')).toBe(3);
    expect(await claimAll(b, 'b')).toBe(3);
    expect([await claimAll(a, 'a'), await claimAll(b, 'b')]).toEqual([3, 3]);
  });

  it('each shard is claimed by a live process, and by another one once that has died', async () => {
    let nowMs = 0;
    const clock = { monotonicMs: () => nowMs };
    const keepers = async (storages: readonly Storage[]) => {
      nowMs += 10_000;
      for (const storage of storages) await storage.maintains(0);
      nowMs += 10_000;
      const counts = storages.map(() => 0);
      for (let shard = 0; shard < SHARD_COUNT; shard++) {
        const kept = await Promise.all(storages.map((storage) => storage.maintains(shard)));
        expect(kept.filter((isKept) => isKept)).toHaveLength(1);
        counts[kept.indexOf(true)]!++;
      }
      return counts;
    };
    const [a, b, c] = [await open({ clock }), await open({ clock }), await open({ clock })];
    expect((await keepers([a, b, c])).sort()).toEqual([10, 11, 11]);
    await b.close();
    await expect.poll(async () => (await keepers([a, c]).catch(() => [])).sort()).toEqual([16, 16]);
  });

  it('a process that hangs, though its connections are open, is taken for alive no longer', async () => {
    let nowMs = 0;
    const limits = { silentMsMax: 1500 };
    const storage = await open({ clock: { monotonicMs: () => nowMs }, limits });
    await storage.claim(SHARD, 'here', LEASE_MS);
    const hung = new pg.Client({ connectionString: database.address });
    await hung.connect();
    await hung.query(`SELECT pg_advisory_lock_shared(to_regclass('windrow_shard')::oid::int, 1)`);
    const keptCount = async () => {
      nowMs += 10_000;
      await storage.maintains(0);
      const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);
      return (await Promise.all(shards.map((shard) => storage.maintains(shard)))).filter((isKept) => isKept).length;
    };
    expect(await keptCount()).toBe(SHARD_COUNT / 2);
    const claimCount = async () => {
      const claims = [];
      for (let shard = 0; shard < 8; shard++) claims.push(await storage.claim(shard, 'here', LEASE_MS));
      return claims.filter((claim) => claim !== undefined).length;
    };
    expect(await claimCount()).toBeLessThan(8);
    await expect.poll(keptCount).toBe(SHARD_COUNT);
    expect([await claimCount(), await claimCount()]).toEqual([8, 8]);
    await hung.query('SELECT');
    expect(await keptCount()).toBe(SHARD_COUNT / 2);
    await hung.end();
  });

  it('tells what time it is in the database, twice a second', async () => {
    const told: number[] = [];
    const from = Date.now();
    await open({ onDatabaseTime: (databaseMs, roundTripMs) => told.push(databaseMs, roundTripMs) });
    await expect.poll(() => told.length).toBeGreaterThan(3);
    const [databaseMs, roundTripMs] = told;
    // The database is of this machine, whose clock has more digits there.
    expect(databaseMs).toBeGreaterThan(from - 1);
    expect(databaseMs).toBeLessThan(Date.now() + 1);
    expect(roundTripMs).toBeGreaterThan(0);
  });

  it.each([
    ['before', 1, 1],
    ['after', 1, 1],
    ['before', 1, 1000],
    ['after', 1, 1000],
  ] as const)(
    'a connection that is lost %s its COMMIT took effect: the work is done once (%i commit, %i rows)',
    async (place, commit, count) => {
      const proxy = await startProxy(database.address);
      const storage = await open({ address: proxy.address });
      const rows = Array.from({ length: count }, (_, i) => thing({ id: `${i}`.padStart(4, '0') }));
      proxy.cutAtCommit(place);
      let runCount = 0;
      const work = (tx: Transaction) => {
        runCount++;
        return tx.insertAll(things, rows).then(() => tx.commit);
      };
      expect(await storage.transaction(SHARD, work)).toBe(commit);
      expect(proxy.cutCount()).toBe(1);
      expect(runCount).toBe(place === 'before' ? 2 : 1);
      expect(await storage.read(SHARD, ids)).toEqual(rows.map(({ id }) => id));
      expect(await storage.transaction(SHARD, insert('b'))).toBe(commit + 1);
    },
  );

  it.each([
    ['before', 2],
    ['after', 1],
  ] as const)(
    'a server that ends for want of space, %s its COMMIT took effect: the work is done once',
    async (place, runs) => {
      const proxy = await startProxy(database.address);
      const storage = await open({ address: proxy.address });
      // As a server does that cannot begin the next segment of its log: the commit may be in the one before.
      proxy.cutAtCommit(place, {
        saying: serverError('PANIC', '53100', 'could not write to file: No space left on device'),
      });
      let runCount = 0;
      const work = (tx: Transaction) => {
        runCount++;
        return insert('a')(tx);
      };
      expect(await storage.transaction(SHARD, work)).toBe(1);
      expect([proxy.cutCount(), runCount]).toEqual([1, runs]);
      expect(await storage.read(SHARD, ids)).toEqual(['a']);
    },
  );

  it('work whose statement an administrator cancels is done again', async () => {
    const [one, other] = [await open(), await open()];
    const held = await one.transaction(SHARD, async (tx) => {
      await insert('a')(tx);
      const waiting = other.transaction(SHARD, insert('b'));
      waiting.catch(() => {});
      const cancel = () =>
        database.query(`SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      await expect.poll(cancel).toBe('1');
      return { waiting };
    });
    expect(await held.waiting).toBe(2);
    expect(await one.read(SHARD, ids)).toEqual(['a', 'b']);
  });

  it('a process forgets the writers of processes that ended a week ago', async () => {
    const storage = await open();
    await storage.transaction(SHARD, insert('a'));
    await database.query(`INSERT INTO "windrow_writer" VALUES (1, 'long ago', 5, now() - interval '8 days')`);
    const later = await open();
    const writers = () => database.query(`SELECT string_agg("shard"::text, ',') FROM "windrow_writer"`);
    expect(await writers()).toBe(String(SHARD));
    // One that was only idle goes on.
    await database.query(`DELETE FROM "windrow_writer"`);
    for (const one of [storage, later]) await one.transaction(SHARD, insert(one === later ? 'b' : 'c'));
    expect(await writers()).toBe(`${SHARD},${SHARD}`);
  });

  it('if the database is away for good after a COMMIT was sent, its outcome is unknown, and said to be', async () => {
    const proxy = await startProxy(database.address);
    let offsetMs = 0;
    const storage = await open({
      address: proxy.address,
      clock: { monotonicMs: () => performance.now() + offsetMs },
    });
    proxy.cutAtCommit('after', { isForGood: true });
    const work = storage.transaction(SHARD, insert('a'));
    await expect.poll(() => proxy.refusedCount()).toBeGreaterThan(0);
    offsetMs = 60_000;
    await expect(work).rejects.toBeInstanceOf(UnknownCommitError);
    // Later works are never sent.
    const later = storage.transaction(SHARD, insert('c'));
    offsetMs = 120_000;
    await expect(later).rejects.toMatchObject({ code: 'storage.failed' });
    expect(await (await open()).read(SHARD, ids)).toEqual(['a']);
  });

  it('if a connection breaks while rows are inserted together, the work is done again, once', async () => {
    const proxy = await startProxy(database.address);
    const storage = await open({ address: proxy.address });
    const rows = Array.from({ length: 2000 }, (_, i) => thing({ id: `${i}`, name: 'x'.repeat(1000) }));
    proxy.cutAt('COPY "things"');
    await storage.transaction(SHARD, (tx) => tx.insertAll(things, rows));
    expect(proxy.cutCount()).toBe(1);
    expect(await storage.read(SHARD, ids)).toHaveLength(2000);
  });

  it('connections ended by the server are replaced, and no work fails because of it', async () => {
    const storage = await open();
    const works = Array.from({ length: 60 }, async (_, i) => {
      if (i % 20 === 10) {
        await database.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'windrow'`,
        );
      }
      return storage.transaction(i % 4, insert(`${i}`));
    });
    await Promise.all(works);
    const found = await Promise.all([0, 1, 2, 3].map((shard) => storage.read(shard, ids)));
    expect(found.flat()).toHaveLength(60);
  });

  it('a process whose connections the server takes for alive after they are lost is not taken for dead', async () => {
    const proxy = await startProxy(database.address);
    const [a, b] = [await open({ address: proxy.address }), await open()];
    await a.claim(SHARD, 'a', LEASE_MS);
    proxy.abandon();
    await a.transaction(SHARD, insert('a'));
    const lockCount = () =>
      database.query(`SELECT count(*) FROM pg_locks JOIN pg_database AS "d" ON "d"."oid" = "database"
        WHERE "datname" = current_database() AND classid = 'windrow_shard'::regclass AND granted`);
    // The new connection shows that it lives before the server ends the old one, so it is alive at each moment.
    await expect.poll(lockCount).toBe('2');
    // With both locks it is still one process, whose share is all shards.
    expect(await a.claim(SHARD + 1, 'a', LEASE_MS)).toBeDefined();
    proxy.endAbandoned();
    await expect.poll(lockCount).toBe('1');
    expect(await b.claim(SHARD, 'b', LEASE_MS)).toBeUndefined();
  });

  it('a work that waits for a lock of somebody else ends, and leaves no connection behind that waits on', async () => {
    // As if ten times as fast, in all that waits: it is tried as often, and the same limits end each wait.
    const storage = await open({ limits: limitsOver(10), clock: { monotonicMs: () => performance.now() * 10 } });
    const held = database.query('BEGIN; LOCK TABLE windrow_shard; SELECT pg_sleep(600)');
    // It ends when the database is dropped.
    held.catch(() => {});
    const waiting = async () =>
      Number(
        await database.query(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND datname = current_database() AND application_name = 'windrow'`),
      );
    await expect
      .poll(() =>
        // The lock of this table in this database: pg_locks shows all of the server, which other tests use too.
        database.query(`SELECT count(*) FROM pg_locks JOIN pg_database AS "d" ON "d"."oid" = "database"
          WHERE "datname" = current_database() AND relation = 'windrow_shard'::regclass
          AND mode = 'AccessExclusiveLock' AND granted`),
      )
      .toBe('1');
    const work = storage.transaction(SHARD, insert('a'));
    await expect(work).rejects.toMatchObject({ code: 'storage.failed' });
    await expect.poll(waiting).toBe(0);
  }, 60_000);

  it('a full disk is told as one, on which reads still work, and nothing of the work is stored', async () => {
    const storage = await open();
    await database.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END$$;
      CREATE TRIGGER "full" BEFORE INSERT ON "things" FOR EACH ROW WHEN (NEW."id" = 'large')
      EXECUTE FUNCTION refuse()`);
    await storage.transaction(SHARD, insert('a'));
    const work = storage.transaction(SHARD, async (tx) => [await insert('small')(tx), await insert('large')(tx)]);
    await expect(work).rejects.toMatchObject({ code: 'storage.full', stillWorks: 'reads' });
    expect(await storage.read(SHARD, ids)).toEqual(['a']);
    expect(await storage.transaction(SHARD, insert('b'))).toBe(2);
  });

  it('time limits that an administrator sets for users of the database do not reach this store', async () => {
    const name = await database.query('SELECT current_database()');
    const user = new URL(database.address.replace('@/', '@socket/')).username;
    const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const newer = ['idle_session_timeout', 'transaction_timeout'];
    for (const limit of [...limits, ...newer]) {
      // The newer ones came with PostgreSQL 14 and 17.
      if ((await database.query(`SELECT count(*) FROM pg_settings WHERE name = '${limit}'`)) === '0') continue;
      await database.query(`ALTER ROLE ${user} IN DATABASE ${name} SET ${limit} = '20ms'`);
    }
    const storage = await open();
    const sessions = () =>
      database.query(`SELECT string_agg(pid::text, ' ' ORDER BY pid)
        FROM pg_stat_activity, pg_sleep(0.2) WHERE application_name = 'windrow' AND datname = '${name}'`);
    await storage.transaction(SHARD, async (tx) => {
      await insert('a')(tx);
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    const before = await sessions();
    expect(before).toMatch(/^\d+ \d+/);
    expect(await sessions()).toBe(before);
  });

  it.each(['repeatable read', 'serializable'])('writers take turns, also where the default is %s', async (level) => {
    const name = await database.query('SELECT current_database()');
    await database.query(`ALTER DATABASE ${name} SET default_transaction_isolation = '${level}'`);
    const [one, other] = [await open(), await open()];
    for (const storage of [one, other]) await storage.transaction(SHARD, insert(storage === one ? 'a' : 'b'));
    // A connection that failed is not used again.
    const sessions = () =>
      database.query(`SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity
        WHERE application_name = 'windrow' AND datname = '${name}'`);
    const before = await sessions();
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const first = one.transaction(SHARD, async (tx) => {
      await insert('c')(tx);
      begin();
      await ended;
    });
    await begun;
    const second = other.transaction(SHARD, insert('d'));
    await expect
      .poll(() =>
        database.query(`SELECT count(*) FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND datname = '${name}'`),
      )
      .toBe('1');
    end();
    await first;
    expect(await second).toBe(4);
    expect(await sessions()).toBe(before);
  });

  it('processes of another store of the database, in a schema of its own, have no share of this one', async () => {
    // In lower case, its name would be another one.
    await database.query('CREATE SCHEMA "Be side" AUTHORIZATION "windrow"');
    const address = `${database.address}&options=-c%20search_path%3D%22Be%5C%20side%22`;
    await (await open({ address })).close();
    const beside = await open({ address });
    const storage = await open();
    const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);
    const ofAll = <Result>(work: (shard: number) => Promise<Result>) => Promise.all(shards.map(work));
    expect(await beside.claim(SHARD, 'beside', LEASE_MS)).toBeDefined();
    const claims = await ofAll((shard) => storage.claim(shard, 'here', LEASE_MS));
    expect(claims).not.toContain(undefined);
    expect(await ofAll((shard) => storage.claim(shard, 'here', LEASE_MS))).toEqual(claims);
    expect(await ofAll((shard) => storage.maintains(shard))).not.toContain(false);
  });

  it('processes of the version before are taken for alive, and take those of this one for alive', async () => {
    const storage = await open();
    const claim = await storage.claim(SHARD, 'here', LEASE_MS);
    const held = `FROM pg_locks JOIN pg_database AS "d" ON "d"."oid" = "database"
      WHERE "datname" = current_database() AND "classid" = ${LOCK_CLASS} AND "granted"`;
    expect(await database.query(`SELECT "objid" = (SELECT session FROM windrow_shard WHERE shard = ${SHARD}) ${held}`))
      // As psql writes it.
      .toBe('t');
    const [OLDER, OF_ANOTHER_STORE] = [77, 78];
    const shard = SHARD + 1;
    await database.query(`UPDATE windrow_shard SET owner = 'older', session = ${OLDER}, sequence = 5,
      "leaseUntil" = now() + interval '1 day' WHERE shard = ${shard}`);
    // They end when the database is dropped, or here.
    const living = [OLDER, OF_ANOTHER_STORE].map((session) =>
      database.query(`SELECT pg_advisory_lock_shared(${LOCK_CLASS}, ${session}), pg_sleep(600)`).catch(() => {}),
    );
    await expect.poll(() => database.query(`SELECT count(*) ${held}`)).toBe('3');
    expect(await storage.claim(shard, 'here', LEASE_MS)).toBeUndefined();
    // Its share is one of two, and stays so beside the locks of another store's processes.
    expect(await storage.claim(SHARD, 'here', LEASE_MS)).toEqual(claim);
    await database.query(`SELECT pg_terminate_backend("pid") ${held} AND "objid" IN (${OLDER}, ${OF_ANOTHER_STORE})`);
    await Promise.all(living);
    expect(await storage.claim(shard, 'here', LEASE_MS)).toEqual({ shard, owner: 'here', sequence: 6 });
  });

  it('two processes that open a new store at once create one', async () => {
    const opened = await Promise.all([open(), open(), open()]);
    for (const [i, storage] of opened.entries()) expect(await storage.transaction(SHARD, insert(`${i}`))).toBe(i + 1);
  });

  it('a store of an incompatible version is refused; one with only additions is not', async () => {
    await open();
    const next = 1 + Number(await database.query(`SELECT value FROM windrow_meta WHERE name = 'version'`));
    await database.query(`UPDATE windrow_meta SET value = '${next}' WHERE name = 'version'`);
    await open();
    await database.query(`UPDATE windrow_meta SET value = '${next}' WHERE name = 'oldestVersion'`);
    await expect(open()).rejects.toMatchObject({ code: 'storage.newer' });
  });

  it('a migration step runs once, while processes of the version before go on', async () => {
    const old = await open({ migrations: [] });
    await old.transaction(SHARD, insert('a'));
    const migrations = [{ sql: 'ALTER TABLE "things" ADD COLUMN "added" text' }];
    const [next] = await Promise.all([open({ migrations }), open({ migrations })]);
    expect(await old.transaction(SHARD, insert('b'))).toBe(2);
    expect(await next.read(SHARD, ids)).toEqual(['a', 'b']);
    expect(await versionOf(database)).toBe('2');
  });

  it('a migration may take longer than any other statement', async () => {
    await open({ migrations: [] });
    const migrations = [{ sql: 'SELECT pg_sleep(3); ALTER TABLE "things" ADD COLUMN "added" text' }];
    await open({ migrations, limits: { answerMsMax: 1000 }, waitMsMax: 0 });
    expect(await versionOf(database)).toBe('2');
  });

  it('a process waits for the migration of another one, however long that takes, and says so', async () => {
    await open({ migrations: [] });
    const migrations = [{ sql: 'SELECT pg_sleep(2); ALTER TABLE "things" ADD COLUMN "added" text' }];
    const first = open({ migrations });
    await untilMigrating();
    const reasons: string[] = [];
    await open({ migrations, waitMsMax: 0, onWait: ({ message }) => void reasons.push(message) });
    expect(reasons).toEqual([expect.stringContaining('another windrow process creates or upgrades its tables')]);
    await first;
    expect(await versionOf(database)).toBe('2');
  });

  it.each([
    // The server sees the first only when it sends something, and the second not at all.
    ['closed, as of a process that is killed', (proxy: Proxy) => proxy.cutAll()],
    ['lost on the way', (proxy: Proxy) => proxy.abandon()],
    ['ended by the server', () => database.query(`SELECT pg_terminate_backend(pid) ${MIGRATING}`)],
  ])('if its connection is %s, a migration is done once all the same', async (_, cut) => {
    await open({ migrations: [] });
    const proxy = await startProxy(database.address);
    const migrations = [{ sql: 'SELECT pg_sleep(2); ALTER TABLE "things" ADD COLUMN "added" text' }];
    const first = open({ migrations, address: proxy.address });
    await untilMigrating();
    await cut(proxy);
    const second = await open({ migrations });
    expect(await versionOf(database)).toBe('2');
    await first;
    expect(await second.transaction(SHARD, insert('a'))).toBe(1);
    await expect.poll(() => database.query(`SELECT count(*) ${MIGRATING}`)).toBe('0');
  });

  it('a process that runs while a breaking step is taken reads and writes nothing any more', async () => {
    const old = await open({ migrations: [] });
    await old.transaction(SHARD, insert('a'));
    // What has begun goes on to its end, and the step waits for it.
    let migrating: Promise<Storage> | undefined;
    const migrations = [{ sql: `UPDATE "things" SET "id" = "id" || '-new'`, isBreaking: true }];
    const beginMigrating = async () => {
      migrating ??= open({ migrations });
      await untilOneWaits('AccessExclusiveLock');
    };
    const before = await old.read(SHARD, async (tx) => [await ids(tx), await beginMigrating(), await ids(tx)]);
    expect(before).toEqual([['a'], undefined, ['a']]);
    const newer = await migrating!;
    const refusal = {
      code: 'storage.newer',
      message: expect.stringContaining(
        ': a newer windrow has upgraded it, and it needs version 2, but this one knows versions up to 1',
      ),
    };
    await expect(old.transaction(SHARD, insert('b'))).rejects.toMatchObject(refusal);
    await expect(old.transactionOver([SHARD, SHARD + 1], async () => {})).rejects.toMatchObject(refusal);
    await expect(old.read(SHARD, ids)).rejects.toMatchObject(refusal);
    await expect(old.claim(SHARD, 'worker', 1000)).rejects.toMatchObject(refusal);
    await expect(old.check()).rejects.toMatchObject(refusal);
    await newer.transaction(SHARD, insert('c'));
    expect(await newer.read(SHARD, ids)).toEqual(['a-new', 'c']);
  });

  it('what waits for a breaking step of another process is refused after it', async () => {
    const old = await open({ migrations: [] });
    await old.transaction(SHARD, insert('a'));
    const waiting: Promise<unknown>[] = [];
    const readersWaiting = () =>
      database.query(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND query LIKE 'BEGIN%READ ONLY%'`);
    const held = old.transaction(SHARD, async (tx) => {
      await insert('b')(tx);
      const migrating = open({ migrations: [{ sql: 'SELECT 1', isBreaking: true }] });
      await untilOneWaits('AccessExclusiveLock');
      waiting.push(old.transaction(SHARD + 1, insert('c')), old.read(SHARD + 1, ids));
      for (const work of waiting) work.catch(() => {});
      await untilOneWaits('RowShareLock');
      await expect.poll(readersWaiting).toBe('1');
      return { migrating };
    });
    await (await held).migrating;
    for (const work of waiting) await expect(work).rejects.toMatchObject({ code: 'storage.newer' });
  });
});

type Proxy = Awaited<ReturnType<typeof startProxy>>;

/** A proxy in front of the server that can cut connections. */
async function startProxy(address: string) {
  const url = new URL(address.replace('@/', '@socket/'));
  const path = `${url.searchParams.get('host')}/.s.PGSQL.5432`;
  const sockets = new Set<Socket>();
  let cutAt: 'before' | 'after' | undefined;
  let cutText = '';
  let saying: Buffer | undefined;
  let count = 0;
  let refusedCount = 0;
  let isAway = false;
  let isCutForGood = false;
  const abandoned: Socket[] = [];
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (isAway) {
      refusedCount++;
      client.destroy();
      return;
    }
    const upstream = connect(path);
    open.add(upstream);
    upstream.on('close', () => open.delete(upstream));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    client.on('data', (chunk) => {
      if (cutAt === undefined || !chunk.includes(cutText)) return upstream.write(chunk);
      count++;
      isAway = isCutForGood;
      if (isAway) for (const other of sockets) if (other !== client && other !== upstream) other.destroy();
      if (cutAt === 'after') {
        // The answer is dropped.
        upstream.removeAllListeners('data');
        upstream.once('data', () => end(client));
        upstream.write(chunk);
      } else {
        end(client);
        upstream.destroy();
      }
      cutAt = undefined;
      return true;
    });
    let isCut = false;
    client.on('close', () => {
      isCut = true;
      if (!abandoned.includes(upstream)) upstream.end();
    });
    upstream.on('data', (chunk) => isCut || cutAtAnswer(client, chunk));
    upstream.on('close', () => client.end());
  });
  const end = (client: Socket) => (saying === undefined ? client.destroy() : client.end(saying));
  const cutAtAnswer = (client: Socket, chunk: Buffer) => client.destroyed || client.write(chunk);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const place = server.address() as { port: number }; // `as`: it listens on a port
  return {
    address: `postgres://windrow@127.0.0.1:${place.port}${url.pathname}`,
    /** @param options.saying what the client hears last. */
    cutAtCommit: (
      at: 'before' | 'after',
      { isForGood = false, ...options }: { readonly isForGood?: boolean; readonly saying?: Buffer } = {},
    ) => {
      isCutForGood = isForGood;
      saying = options.saying;
      cutText = 'UPDATE "windrow_shard" SET "commit"';
      cutAt = at;
    },
    cutAt: (text: string) => {
      cutText = text;
      cutAt = 'before';
    },
    cutAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    /** Ends all connections on this side alone, as a network that drops them. */
    abandon: () => {
      abandoned.push(...open);
      for (const socket of sockets) if (!open.has(socket)) socket.destroy();
    },
    endAbandoned: () => {
      for (const socket of abandoned) socket.destroy();
    },
    /** How many connections there are, without those that are abandoned. */
    openCount: () => [...open].filter((socket) => !abandoned.includes(socket)).length,
    cutCount: () => count,
    refusedCount: () => refusedCount,
  };
}
