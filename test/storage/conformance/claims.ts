import { expect, it } from 'vitest';
import { StaleClaimError } from '../../../src/storage/index.js';
import type { Claim, Transaction } from '../../../src/storage/storage.js';
import type { Current } from '../conformance.js';
import { thing } from './some-things.js';
import { things } from './tables.js';

const SHARD = 13;
// Long beside the time that a test takes: the clock of a database goes on by itself.
const LEASE_MS = 600_000;
const MARGIN_MS = 300_000;

const insert = (id: string) => (tx: Transaction) => tx.insert(things, thing({ id }));

export function describeClaims(current: Current): void {
  const claim = (owner: string, shard = SHARD) => current.storage.claim(shard, owner, LEASE_MS);
  /** The claim, where it has to be given. */
  const mustClaim = async (owner: string): Promise<Claim> => {
    const given = await claim(owner);
    expect(given).toBeDefined();
    return given!;
  };

  it('a shard has one owner while its lease runs, and its claims say whose they are', async () => {
    expect(await claim('a')).toEqual({ shard: SHARD, owner: 'a', sequence: 1 });
    expect(await claim('b')).toBeUndefined();
    expect(await claim('b', SHARD + 1)).toEqual({ shard: SHARD + 1, owner: 'b', sequence: 1 });
  });

  it('of many that claim at once one is given the shard', async () => {
    const given = await Promise.all(Array.from({ length: 20 }, (_, i) => claim(`owner ${i}`)));
    expect(given.filter((one) => one !== undefined)).toHaveLength(1);
  });

  it('an owner that claims anew in time stays the owner, with its sequence', async () => {
    for (let i = 0; i < 5; i++) {
      expect((await mustClaim('a')).sequence).toBe(1);
      await current.advance(LEASE_MS - MARGIN_MS);
      expect(await claim('b')).toBeUndefined();
    }
    await current.advance(MARGIN_MS);
    expect((await mustClaim('b')).sequence).toBe(2);
  });

  it('a commit of an owner whose shard has passed on is refused, with nothing written', async () => {
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

  it('a lease that has run out hinders nobody while no other has claimed', async () => {
    const held = await mustClaim('a');
    await current.advance(10 * LEASE_MS);
    await current.storage.transaction(SHARD, insert('1'), { claim: held });
    expect(await current.storage.read(SHARD, (tx) => tx.count(things))).toBe(1);
    expect(await claim('a')).toEqual(held);
  });

  it('a claim that was given back is free at once, and good for nothing any more', async () => {
    const held = await mustClaim('a');
    await current.storage.release(held);
    await expect(current.storage.transaction(SHARD, insert('1'), { claim: held })).rejects.toBeInstanceOf(
      StaleClaimError,
    );
    expect((await mustClaim('b')).sequence).toBe(2);
  });

  it('who gives back a claim that has passed on takes it from nobody', async () => {
    const old = await mustClaim('a');
    await current.advance(LEASE_MS);
    const next = await mustClaim('b');
    await current.storage.release(old);
    expect(await claim('c')).toBeUndefined();
    await current.storage.transaction(SHARD, insert('1'), { claim: next });
  });

  it('a claim of one shard is none of another', async () => {
    const held = await mustClaim('a');
    await expect(current.storage.transaction(SHARD + 1, insert('1'), { claim: held })).rejects.toBeInstanceOf(
      StaleClaimError,
    );
  });

  it('a work with a stale claim is not run at all', async () => {
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

  it('claims have no commit number of their own', async () => {
    await mustClaim('a');
    expect(await current.storage.read(SHARD, async (tx) => tx.lastCommit)).toBe(0);
  });

  it('sequences rise on when the store is opened again', async () => {
    const old = await mustClaim('a');
    await current.reopen();
    await current.advance(LEASE_MS);
    expect((await mustClaim('b')).sequence).toBeGreaterThan(old.sequence);
    await expect(current.storage.transaction(SHARD, insert('1'), { claim: old })).rejects.toBeInstanceOf(
      StaleClaimError,
    );
  });
}
