// What a token request is made of: form bodies, the Basic header, scopes.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { covers } from '../../../src/service/identity/principal.js';
import { parseBasic } from '../../../src/service/token/authentication.js';
import { OAuthError } from '../../../src/service/token/errors.js';
import { parseForm } from '../../../src/service/token/form.js';
import { grantScope } from '../../../src/service/token/grant.js';

function oauthErrorOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof OAuthError) return error.error;
    throw error;
  }
  return 'none';
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });

const parse = (body: string) => parseForm(Buffer.from(body));

describe('a form', () => {
  it('gives back what URLSearchParams wrote', () => {
    const fields = fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, maxLength: 6 });
    fc.assert(
      fc.property(fields, (given) => {
        const body = new URLSearchParams(given).toString();
        expect([...parse(body)]).toEqual(given);
      }),
    );
  });

  it('leaves out parameters without a value, with or without the equals sign', () => {
    expect([...parse('grant_type=password&scope=&username&&=&password=a=b')]).toEqual([
      ['grant_type', 'password'],
      ['password', 'a=b'],
    ]);
  });

  it.each([
    'scope=core_read&scope=core_write',
    'scope=core_read&scope=core_read',
    'scope=&scope=core_read',
    'scope=core_read&scop%65=core_read',
  ])('refuses a repeated parameter: %s', (body) => {
    expect(oauthErrorOf(() => parse(body))).toBe('invalid_request');
  });

  it.each(['password=100%', 'password=%zz', 'password=%ff', '%e4=1'])(
    'refuses what is not percent-encoded UTF-8: %s',
    (body) => {
      expect(oauthErrorOf(() => parse(body))).toBe('invalid_request');
    },
  );
});

it('a form of bytes that are not UTF-8 is refused', () => {
  expect(oauthErrorOf(() => parseForm(Uint8Array.of(0x61, 0x3d, 0xff)))).toBe('invalid_request');
});

const basic = (content: string | Uint8Array): string => `Basic ${Buffer.from(content).toString('base64')}`;

describe('a Basic header', () => {
  it('whose id and secret were form-encoded, as RFC 6749 has it, is read back, first', () => {
    const encode = (part: string): string => new URLSearchParams([['', part]]).toString().slice(1);
    const plain = text.filter((part) => encode(part) !== '');
    fc.assert(
      fc.property(plain, text, (clientId, clientSecret) => {
        const [first] = parseBasic(basic(`${encode(clientId)}:${encode(clientSecret)}`)) ?? [];
        expect(first).toEqual({ clientId, clientSecret });
      }),
    );
  });

  it('whose secret was not encoded is read as it stands, second where that is something else', () => {
    expect(parseBasic(basic('app:a+b'))).toEqual([
      { clientId: 'app', clientSecret: 'a b' },
      { clientId: 'app', clientSecret: 'a+b' },
    ]);
    expect(parseBasic(basic('app:100%'))).toEqual([{ clientId: 'app', clientSecret: '100%' }]);
    expect(parseBasic(basic('app:plain:with-colon'))).toEqual([{ clientId: 'app', clientSecret: 'plain:with-colon' }]);
  });

  it('has its scheme in any case', () => {
    expect(parseBasic(basic('a:b').replace('Basic', 'bAsIc '))).toEqual([{ clientId: 'a', clientSecret: 'b' }]);
  });

  it.each([
    ['nothing', ''],
    ['a scheme alone', 'Basic'],
    ['another scheme', 'Bearer abc'],
    ['no base64', 'Basic a:b'],
    ['base64 of no whole bytes', 'Basic YTpiY'],
    ['no colon', basic('abc')],
    ['no client id', basic(':secret')],
    ['no UTF-8', basic(Uint8Array.of(0x61, 0x3a, 0xff))],
    ['control characters', basic('a:b\n')],
    ['two of them', `${basic('a:b')}, ${basic('a:b')}`],
  ])('is malformed with %s', (_what, header) => {
    expect(parseBasic(header)).toBeUndefined();
  });
});

describe('a scope', () => {
  const both = ['core_read', 'core_write'];

  it('asked for is granted whole, in the one order, and named only where it is other words', () => {
    expect(grantScope('core_write core_read', both)).toEqual({ scopes: both, isDifferent: false });
    expect(grantScope('core_read core_read', both)).toEqual({ scopes: ['core_read'], isDifferent: false });
    expect(oauthErrorOf(() => grantScope(undefined, both))).toBe('invalid_scope');
  });

  it('by the short names of the example of interface 5 is the same scope', () => {
    expect(grantScope('read write', both)).toEqual({ scopes: both, isDifferent: true });
    expect(oauthErrorOf(() => grantScope('admin', both))).toBe('invalid_scope');
  });

  it.each([
    'core_admin',
    'core_read core_admin',
    'openid',
    'core_read  core_write',
    ' core_read',
    'core_read,core_write',
    'ä',
  ])('that the client may not grant is refused whole: %j', (wanted) => {
    expect(oauthErrorOf(() => grantScope(wanted, both))).toBe('invalid_scope');
  });

  it('core_admin implies the other two, and nothing else', () => {
    expect(grantScope('core_read', ['core_admin'])).toEqual({ scopes: ['core_read'], isDifferent: false });
    expect(covers(['core_admin'], 'core_write')).toBe(true);
    expect(covers(['core_admin'], 'openid')).toBe(false);
    expect(covers(['core_write'], 'core_read')).toBe(false);
    expect(covers(['core_read', 'core_write'], 'core_admin')).toBe(false);
  });
});
