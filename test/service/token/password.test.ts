import { describe, expect, it } from 'vitest';
import { createPasswords, isPasswordHash } from '../../../src/service/identity/passwords.js';
import { systemRandom } from '../../../src/service/system.js';
import { OAuthError } from '../../../src/service/token/errors.js';

// These tests do not depend on the cost.
const cheap = { costLog2: 4, blockSize: 8, parallelism: 1 };
const passwords = createPasswords(systemRandom, { cost: cheap });

describe('passwords', () => {
  it('are verified by their hash, which has its cost and its own salt', async () => {
    const hash = await passwords.hash('correct horse');
    expect(hash).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await passwords.verify(hash, 'correct horse')).toBe(true);
    expect(await passwords.verify(hash, 'correct Horse')).toBe(false);
    expect(await passwords.hash('correct horse')).not.toBe(hash);
  });

  it('agree with the vector of RFC 7914', async () => {
    const key =
      'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162' +
      '2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640';
    const part = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
    // The first 32 bytes of a longer key are the shorter key (PBKDF2 at the end).
    const hash = `$scrypt$ln=10,r=8,p=16$${part(Buffer.from('NaCl'))}$${part(Buffer.from(key, 'hex').subarray(0, 32))}`;
    expect(await passwords.verify(hash, 'password')).toBe(true);
  });

  it('have a default cost that takes memory', () => {
    expect(createPasswords(systemRandom).decoy).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
  });

  it('typed with other code points for the same letters are equal', async () => {
    expect(await passwords.verify(await passwords.hash('caf\u00e9'), 'cafe\u0301')).toBe(true);
  });

  it('with hashes of another cost are still verified, and reported as outdated', async () => {
    const dearer = createPasswords(systemRandom, { cost: { ...cheap, costLog2: 5 } });
    const hash = await dearer.hash('a');
    expect(await passwords.verify(hash, 'a')).toBe(true);
    expect(passwords.isOutdated(hash)).toBe(true);
    expect(dearer.isOutdated(hash)).toBe(false);
  });

  it('never match the decoy, which has the same form and cost', async () => {
    expect(isPasswordHash(passwords.decoy)).toBe(true);
    expect(passwords.isOutdated(passwords.decoy)).toBe(false);
    expect(await passwords.verify(passwords.decoy, '')).toBe(false);
  });

  it.each([
    '',
    'secret',
    '$scrypt$ln=0,r=8,p=1$AAAA$AAAA',
    `$scrypt$ln=40,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$${'A'.repeat(43)}`,
  ])('%j is not a hash', (hash) => {
    expect(isPasswordHash(hash)).toBe(false);
  });

  it('wait in a limited queue: beyond it 503 at once, and later there is room again', async () => {
    const bounded = createPasswords(systemRandom, { cost: cheap, runningMax: 1, waitingMax: 2 });
    const all = await Promise.allSettled(Array.from({ length: 5 }, () => bounded.hash('a')));
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected']);
    for (const one of all.slice(3)) {
      const error: unknown = one.status === 'rejected' ? one.reason : undefined;
      expect(error).toBeInstanceOf(OAuthError);
      expect(error).toMatchObject({ statusCode: 503, headers: { 'retry-after': '2' } });
    }
    expect(isPasswordHash(await bounded.hash('a'))).toBe(true);
  });
});
