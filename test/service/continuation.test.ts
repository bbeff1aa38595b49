import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ContinuationBinding,
  type ContinuationTokens,
  createContinuationTokens,
} from '../../src/service/http/continuation.js';
import { ServiceError } from '../../src/service/http/errors.js';
import { defaultSettings } from '../../src/service/settings.js';
import { openSqliteStorage } from '../../src/storage/index.js';
import { IDENTITY_SHARD } from '../../src/storage/shard.js';
import type { Storage } from '../../src/storage/storage.js';
import { secrets } from '../../src/storage/tables/identity.js';

const START_MS = Date.UTC(2024, 0, 31);
let nowMs = START_MS;
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
const random = { bytes: (count: number) => new Uint8Array(randomBytes(count)), uuid: randomUUID };
const settings = { ...defaultSettings, continuationLifetimeS: 60 };
const directory = mkdtempSync(join(tmpdir(), 'windrow-continuation-'));
const binding: ContinuationBinding = {
  list: 'events',
  principal: { clientId: 'c', username: null, organisation: 'o', scopes: new Set(['core_read']) },
  query: ['collection', { top: 5 }],
};

let storage: Storage;
let tokens: ContinuationTokens;
const open = async (): Promise<void> => {
  storage = await openSqliteStorage({ directory, clock });
  tokens = createContinuationTokens({ storage, clock, random, settings });
};

async function refusal(opening: Promise<unknown>): Promise<string> {
  const error = await opening.then(
    () => new Error('it was opened'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ statusCode: 400 });
  return (error as ServiceError).message; // `as`: checked by the line before
}

describe('a continuation token (interface 4.4)', () => {
  beforeAll(open);
  afterAll(async () => {
    await storage.close();
    rmSync(directory, { recursive: true });
  });

  it('returns what was sealed, and its expiry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (place) => {
        const token = await tokens.seal(binding, place);
        expect(token).toMatch(/^[\w-]+$/);
        expect(await tokens.open(binding, token)).toEqual({
          place: JSON.parse(JSON.stringify(place)),
          expiresMs: nowMs + 60_000,
        });
      }),
    );
  });

  it('reveals nothing of its content and is never the same twice', async () => {
    const seal = () => tokens.seal(binding, { lastId: 'secret-id' });
    const [one, two] = [await seal(), await seal()];
    expect(one).not.toBe(two);
    expect(Buffer.from(one, 'base64url').toString('latin1')).not.toContain('secret');
    // Only the version and the position of the tag are the same: salt, nonce and key differ.
    expect(one.slice(2, 40)).not.toBe(two.slice(2, 40));
  });

  it('with any character changed, removed or added is 400, always in the same words', async () => {
    const token = await tokens.seal(binding, { lastId: 'a' });
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ .';
    const said = new Set<string>();
    for (let i = 0; i < token.length; i++) {
      const [before, after] = [token.slice(0, i), token.slice(i + 1)];
      const others = [...letters].filter((letter) => letter !== token[i]);
      // Every letter in the last place, where Base64 ignores spare bits; a few elsewhere.
      const tried = i >= token.length - 2 ? others : [others[i % others.length], others[(i * 7 + 3) % others.length]];
      for (const letter of tried) said.add(await refusal(tokens.open(binding, before + letter + after)));
      said.add(await refusal(tokens.open(binding, before + after)));
      said.add(await refusal(tokens.open(binding, before)));
      said.add(await refusal(tokens.open(binding, `${before}=${token.slice(i)}`)));
    }
    const bytes = Buffer.from(token, 'base64url');
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i] = bytes[i]! ^ (1 << (i % 8));
      said.add(await refusal(tokens.open(binding, changed.toString('base64url'))));
    }
    for (const text of ['', 'A', '💥', 'x'.repeat(100_000), `${token}A`, token.repeat(2)]) {
      said.add(await refusal(tokens.open(binding, text)));
    }
    expect([...said]).toHaveLength(1);
    expect(await tokens.open(binding, token)).toMatchObject({ place: { lastId: 'a' } });
  });

  it('is bound to one list, organisation, client, user and query', async () => {
    const token = await tokens.seal(binding, 1);
    const { principal } = binding;
    const others: ContinuationBinding[] = [
      { ...binding, list: 'status' },
      { ...binding, query: ['other', { top: 5 }] },
      { ...binding, query: ['collection', { top: 6 }] },
      { ...binding, principal: { ...principal, organisation: 'p' } },
      { ...binding, principal: { ...principal, clientId: 'd' } },
      { ...binding, principal: { ...principal, username: 'u' } },
      { ...binding, principal: { ...principal, clientId: 'o', organisation: 'c' } },
    ];
    const said = new Set<string>();
    for (const other of others) said.add(await refusal(tokens.open(other, token)));
    expect([...said]).toEqual([await refusal(tokens.open(binding, 'forged'))]);
    // Scopes belong to the access token, which may be another one on the next page.
    expect(await tokens.open({ ...binding, principal: { ...principal, scopes: new Set() } }, token)).toBeDefined();
  });

  it('expires after its lifetime, or at the time it was given', async () => {
    const token = await tokens.seal(binding, 1);
    const shorter = await tokens.seal(binding, 1, nowMs + 10);
    nowMs += 10;
    expect(await refusal(tokens.open(binding, shorter))).toMatch(/has expired; start again/);
    nowMs += 59_989;
    expect((await tokens.open(binding, token)).expiresMs).toBe(nowMs + 1);
    nowMs += 1;
    expect(await refusal(tokens.open(binding, token))).toMatch(/has expired/);
  });

  it('survives a restart, under a key that the first process makes once', async () => {
    const token = await tokens.seal(binding, 'before');
    const others = [1, 2, 3].map(() => createContinuationTokens({ storage, clock, random, settings }));
    for (const other of others) expect(await other.open(binding, token)).toMatchObject({ place: 'before' });
    await storage.close();
    await open();
    expect(await tokens.open(binding, token)).toMatchObject({ place: 'before' });
    expect(await storage.read(IDENTITY_SHARD, (tx) => tx.count(secrets))).toBe(1);
  });

  it('of processes that start at the same moment has the same key', async () => {
    await storage.transaction(IDENTITY_SHARD, (tx) => tx.delete(secrets, []));
    const processes = [1, 2, 3].map(() => createContinuationTokens({ storage, clock, random, settings }));
    const sealed = await Promise.all(processes.map((process) => process.seal(binding, 'x')));
    for (const process of processes) {
      for (const token of sealed) expect(await process.open(binding, token)).toMatchObject({ place: 'x' });
    }
  });

  it('works again once the store does', async () => {
    await storage.close();
    const closed = createContinuationTokens({ storage, clock, random, settings });
    await expect(closed.seal(binding, 1)).rejects.toThrow();
    await open();
    let isOpen = false;
    const later = new Proxy(storage, {
      get: (target, name) => {
        if (!isOpen) throw new Error('not yet');
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const retrying = createContinuationTokens({ storage: later, clock, random, settings });
    await expect(retrying.seal(binding, 1)).rejects.toThrow('not yet');
    isOpen = true;
    expect(await tokens.open(binding, await retrying.seal(binding, 1))).toMatchObject({ place: 1 });
  });
});
