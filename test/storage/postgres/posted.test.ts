import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DuplicateKeyError, StorageFullError } from '../../../src/storage/errors.js';
import type { Transaction } from '../../../src/storage/storage.js';
import { throttles } from '../../../src/storage/tables/identity.js';
import { sampleLog } from '../../../src/storage/tables/samples.js';
import { hasPostgres, openTemporaryPostgres } from './open.js';

const SHARD = 5;
const row = (subject: string, failureCount = 1) => ({ subject, failureCount, windowStartMs: 0, blockedUntilMs: null });

const append = (tx: Transaction, part: number) =>
  tx.insert(sampleLog, {
    commit: tx.commit,
    part,
    organisation: 'acme',
    sampleCount: 0,
    changes: new Uint8Array(),
    checksum: 0,
    source: null,
    partition: null,
    offset: null,
  });

it.runIf(hasPostgres).each(['off', 'local'])(
  'a commit waits for what confirms it, also with synchronous_commit=%s',
  async (given) => {
    const through = (address: string) => `${address}&options=-c%20synchronous_commit%3D${given}`;
    const { storage, database, dispose } = await openTemporaryPostgres({}, through);
    onTestFinished(dispose);
    await database.query(`
    CREATE FUNCTION tell() RETURNS trigger AS $$ BEGIN
      RAISE EXCEPTION 'it is %', current_setting('synchronous_commit');
    END $$ LANGUAGE plpgsql;
    CREATE TRIGGER tell BEFORE INSERT ON throttles FOR EACH ROW EXECUTE FUNCTION tell()`);
    const put = storage.transaction(SHARD, (tx) => tx.put(throttles, row('a')));
    await expect(put).rejects.toThrow('it is on');
  },
);

describe.runIf(hasPostgres)('a statement whose answer is not awaited', () => {
  const openWith = async (condition: string, sqlState: string) => {
    const opened = await openTemporaryPostgres();
    onTestFinished(() => opened.dispose());
    await opened.database.query(`
      CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN
        IF ${condition} THEN RAISE EXCEPTION 'refused' USING ERRCODE = '${sqlState}'; END IF; RETURN NEW;
      END $$ LANGUAGE plpgsql;
      CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON throttles FOR EACH ROW EXECUTE FUNCTION refuse()`);
    const put = (...subjects: string[]) =>
      opened.storage.transaction(SHARD, async (tx) => {
        for (const subject of subjects) await tx.put(throttles, row(subject));
      });
    const subjects = async () =>
      (await opened.storage.read(SHARD, (tx) => tx.find(throttles))).map(({ subject }) => subject);
    return { ...opened, put, subjects };
  };

  it('that the database refuses, undoes its own transaction and none that shares its commit', async () => {
    const { put, subjects } = await openWith(`NEW."subject" = 'bad'`, '22000');
    const ended = await Promise.allSettled([put('a'), put('bad'), put('c'), put('d', 'bad'), put('e')]);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']);
    const reasons = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason.message] : []));
    for (const reason of reasons) expect(reason).toContain('PostgreSQL refused a statement: refused (22000)');
    expect(await subjects()).toEqual(['a', 'c', 'e']);
  });

  it('and fails behind the last work of a group, undoes that work alone', async () => {
    const { put, subjects } = await openWith(`NEW."subject" = 'bad'`, '22000');
    const ended = await Promise.allSettled([put('a'), put('b'), put('bad')]);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(await subjects()).toEqual(['a', 'b']);
    await expect(put('bad')).rejects.toThrow('PostgreSQL refused a statement: refused (22000)');
    await put('c');
    expect(await subjects()).toEqual(['a', 'b', 'c']);
  });

  it('and cannot be indexed, as it is too long, is the fault of its value and undoes that work alone', async () => {
    const { put, subjects } = await openWith('false', '22000');
    const tooLong = randomBytes(3000).toString('base64');
    const ended = await Promise.allSettled([put('a'), put(tooLong), put('c')]);
    expect(ended).toMatchObject([
      { status: 'fulfilled' },
      {
        status: 'rejected',
        reason: {
          code: 'storage.value',
          message: expect.stringMatching(/the source and partition of a queue in .* 2,600 bytes/),
        },
      },
      { status: 'fulfilled' },
    ]);
    expect(await subjects()).toEqual(['a', 'c']);
  });

  it('and is refused again and again, does not hold up the works of others', async () => {
    const { put, subjects } = await openWith('false', '22000');
    let refusedCount = 0;
    let isOver = false;
    const refuse = async (): Promise<void> => {
      while (!isOver && refusedCount < 2000) {
        await put(randomBytes(3000).toString('base64')).catch(() => refusedCount++);
      }
    };
    const refusing = Array.from({ length: 20 }, refuse);
    for (const name of ['a', 'b', 'c']) await put(name);
    isOver = true;
    await Promise.all(refusing);
    expect(refusedCount).toBeLessThan(500);
    expect(await subjects()).toEqual(['a', 'b', 'c']);
  });

  it('adds a row to a log once: the second of the same key undoes its own work', async () => {
    const { storage } = await openWith('false', '22000');
    const write = (parts: readonly number[]) =>
      storage.transaction(SHARD, async (tx) => {
        for (const part of parts) await append(tx, part);
        return tx.commit;
      });
    const ended = await Promise.allSettled([write([0, 1]), write([0, 0]), write([0])]);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await expect(write([0, 0])).rejects.toBeInstanceOf(DuplicateKeyError);
    await expect(write([0])).resolves.toBe(3);
    const rows = await storage.read(SHARD, (tx) => tx.find(sampleLog));
    expect(rows.map(({ commit, part }) => [commit, part])).toEqual([
      [1, 0],
      [1, 1],
      [2, 0],
      [3, 0],
    ]);
  });

  it.each([
    ['row of a log', (tx: Transaction) => append(tx, 0)],
    ['put', (tx: Transaction) => tx.put(throttles, row('bad'))],
  ])('and belongs to work that throws (a %s) is no failure of who comes next', async (_, write) => {
    const { storage, put, database } = await openWith(`NEW."subject" = 'bad'`, '22000');
    await database.query(`CREATE FUNCTION refuse_rows() RETURNS trigger AS $$ BEGIN
        RAISE EXCEPTION 'refused' USING ERRCODE = '22000'; END $$ LANGUAGE plpgsql;
      CREATE TRIGGER refuse BEFORE INSERT ON sample_log FOR EACH ROW EXECUTE FUNCTION refuse_rows()`);
    for (let i = 0; i < 5; i++) {
      const thrown = storage.transaction(SHARD, async (tx) => {
        await write(tx);
        throw new Error('its own');
      });
      await expect(thrown).rejects.toThrow('refused (22000)');
      await put('good');
    }
  });

  it('for which there is no room is told as that, also where a statement after it fails', async () => {
    const { put, storage, subjects } = await openWith(`NEW."subject" = 'full'`, '53100');
    await expect(put('full')).rejects.toBeInstanceOf(StorageFullError);
    const readOn = storage.transaction(SHARD, async (tx) => {
      await tx.put(throttles, row('full'));
      await tx.find(throttles);
    });
    await expect(readOn).rejects.toBeInstanceOf(StorageFullError);
    expect(await subjects()).toEqual([]);
  });

  it('is seen by what the same transaction reads, and the last of thousands on one row wins', async () => {
    const { storage } = await openWith('false', '22000');
    const found = await storage.transaction(SHARD, async (tx) => {
      for (let count = 1; count <= 2000; count++) await tx.put(throttles, row('a', count));
      return tx.get(throttles, { subject: 'a' });
    });
    expect(found?.failureCount).toBe(2000);
  });
});
