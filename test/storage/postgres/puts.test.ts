import { describe, expect, it, onTestFinished } from 'vitest';
import { StorageFullError } from '../../../src/storage/errors.js';
import { throttles } from '../../../src/storage/tables/identity.js';
import { hasPostgres, openTemporaryPostgres } from './open.js';

const SHARD = 5;
const row = (subject: string, failureCount = 1) => ({ subject, failureCount, windowStartMs: 0, blockedUntilMs: null });

describe.runIf(hasPostgres)('a put, whose answer is not awaited', () => {
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
