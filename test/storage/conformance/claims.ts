import { expect, it } from 'vitest';
import { StaleClaimError } from '../../../src/storage/index.js';
import type { Claim, Transaction } from '../../../src/storage/storage.js';
import type { Current } from './opened-storage.js';
import { thing } from './some-things.js';
import { things } from './tables.js';

const SHARD = 13;
// Long compared with a test, since the clock of a database advances by itself.
const LEASE_MS = 600_000;
const MARGIN_MS = 300_000;

const insert = (id: string) => (tx: Transaction) => tx.insert(things, thing({ id }));

export function describeClaims(current: Current): void {
  const claim = (owner: string, shard = SHARD) => current.storage.claim(shard, owner, LEASE_MS);
  /** Claims the shard and fails unless the claim is given. */
  const mustClaim = async (owner: string): Promise<Claim> => {
    const given = await claim(owner);
    expect(given).toBeDefined();
    return given!;
  };

  it('a shard has one owner while its lease runs, and each claim names its owner', async () => {
    expect(await claim('a')).toEqual({ shard: SHARD, owner: 'a', sequence: 1 });
    expect(await claim('b')).toBeUndefined();
    expect(await claim('b', SHARD + 1)).toEqual({ shard: SHARD + 1, owner: 'b', sequence: 1 });
  });

  it('of many concurrent claims one succeeds', async () => {
    const given = await Promise.all(Array.from({ length: 20 }, (_, i) => claim(`owner ${i}`)));
    expect(given.filter((one) => one !== undefined)).toHaveLength(1);
  });

  it('an owner that renews its claim in time remains the owner and keeps its sequence', async () => {
    for (let i = 0; i < 5; i++) {
      expect((await mustClaim('a')).sequence).toBe(1);
      await current.advance(LEASE_MS - MARGIN_MS);
      expect(await claim('b')).toBeUndefined();
    }
    await current.advance(MARGIN_MS);
    expect((await mustClaim('b')).sequence).toBe(2);
  });

  it('a commit under a claim that another owner has taken over is refused, and nothing is written', async () => {
    const old = await mustClaim('a');
    await current.storage.transaction(SHARD, insert('1'), { claim: old });
    await current.advance(LEASE_MS);
    const next = await mustClaim('b');
    expect(next.sequence).toBe(2);
    await expect(current.storage.transaction(SHARD, insert('2'), { claim: old })).rejects.toBeInstanceOf(
      StaleClaimError,
    );
    await current.storage.transaction(SHARD, insert('3'), { claim: next });
    const found = await current.storage.read(SHARD, (tx) => tx.find(things));
    expect(found.map(({ id }) => id)).toEqual(['1', '3']);
  });

  it('an expired lease still allows commits until another owner claims the shard', async () => {
    const held = await mustClaim('a');
    await current.advance(10 * LEASE_MS);
    await current.storage.transaction(SHARD, insert('1'), { claim: held });
    expect(await current.storage.read(SHARD, (tx) => tx.count(things))).toBe(1);
    expect(await claim('a')).toEqual(held);
  });

  it('a released claim is free at once and allows no more commits', async () => {
    const held = await mustClaim('a');
    await current.storage.release(held);
    await expect(current.storage.transaction(SHARD, insert('1'), { claim: held })).rejects.toBeInstanceOf(
      StaleClaimError,
    );
    expect((await mustClaim('b')).sequence).toBe(2);
  });

  it('releasing a claim that has been taken over does not affect the new owner', async () => {
    const old = await mustClaim('a');
    await current.advance(LEASE_MS);
    const next = await mustClaim('b');
    await current.storage.release(old);
    expect(await claim('c')).toBeUndefined();
    await current.storage.transaction(SHARD, insert('1'), { claim: next });
  });

  it('a claim of one shard is not valid for another', async () => {
    const held = await mustClaim('a');
    await expect(current.storage.transaction(SHARD + 1, insert('1'), { claim: held })).rejects.toBeInstanceOf(
      StaleClaimError,
    );
  });

  it('work with a stale claim is not run at all', async () => {
    const old = await mustClaim('a');
    await current.advance(LEASE_MS);
    await mustClaim('b');
    let hasRun = false;
    const work = async () => {
      hasRun = true;
    };
    await expect(current.storage.transaction(SHARD, work, { claim: old })).rejects.toBeInstanceOf(StaleClaimError);
    expect(hasRun).toBe(false);
  });

  it('claims do not use commit numbers', async () => {
    await mustClaim('a');
    expect(await current.storage.read(SHARD, async (tx) => tx.lastCommit)).toBe(0);
  });

  it('sequences continue to rise after the store is reopened', async () => {
    const old = await mustClaim('a');
    await current.reopen();
    await current.advance(LEASE_MS);
    expect((await mustClaim('b')).sequence).toBeGreaterThan(old.sequence);
    await expect(current.storage.transaction(SHARD, insert('1'), { claim: old })).rejects.toBeInstanceOf(
      StaleClaimError,
    );
  });
}
