import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../../src/storage/postgres/address.js';

describe('the address of a store in PostgreSQL', () => {
  it('becomes one connection string for each of its servers, and is shown without the password', () => {
    expect(parseAddress('postgres://me:s3cret@a:5432,b:5433/windrow?sslmode=verify-full')).toEqual({
      servers: [
        ['postgres://me:s3cret@a:5432/windrow?sslmode=verify-full'],
        ['postgres://me:s3cret@b:5433/windrow?sslmode=verify-full'],
      ],
      text: 'postgres://me@a:5432,b:5433/windrow',
    });
  });

  it('may name several sockets, each with a port or all with one', () => {
    const { servers } = parseAddress('postgresql:///windrow?host=/run/a,/run/b&port=5432,5433');
    expect(servers).toEqual([
      ['postgresql:///windrow?host=%2Frun%2Fa&port=5432'],
      ['postgresql:///windrow?host=%2Frun%2Fb&port=5433'],
    ]);
  });

  it('asks for a server that accepts writes', () => {
    expect(parseAddress('postgres://a/x?target_session_attrs=read-write').servers).toEqual([['postgres://a/x']]);
    expect(() => parseAddress('postgres://a/x?target_session_attrs=standby')).toThrow(/must be read-write or primary/);
  });

  it.each([
    ['sslmod=verify-full', '"sslmod" is no parameter of it: expected one of host, port,'],
    ['SSLMODE=verify-full', '"SSLMODE" is no parameter of it'],
    ['channel_binding=require', '"channel_binding" is no parameter of it'],
    ['sslmode=disable&sslmode=verify-full', 'the parameter "sslmode" is there twice: give it once'],
  ])('is refused with a parameter that would have no effect: %s', (query, message) => {
    expect(() => parseAddress(`postgres://a/x?${query}`)).toThrow(message);
  });

  it('may have the limits of libpq, which have no effect', () => {
    expect(parseAddress('postgres://a/x?connect_timeout=5&keepalives=1').servers).toEqual([['postgres://a/x']]);
  });

  it.each(['mysql://a/x', 'postgres:/a', 'postgres://me:s3cret@a:port/x'])('cannot be %s', (text) => {
    expect(() => parseAddress(text)).toThrow(/expected an address such as postgres:/);
    expect(() => parseAddress(text)).not.toThrow(/s3cret/);
  });

  /** All that is ever shown of an address. */
  const shownOf = (text: string): string => {
    try {
      return parseAddress(text).text;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each([
    (password: string) => `postgres://windrow:${password}@127.0.0.1:15444/windrow`,
    (password: string) => `postgres://:${password}@a,b/windrow?sslmode=disable`,
    (password: string) => `postgres://windrow:${password}@a/windrow?target_session_attrs=any`,
    (password: string) => `postgres://windrow:${password}@a:port/windrow`,
    (password: string) => `mysql://windrow:${password}@a/windrow`,
    (password: string) => `windrow:${password}@a/windrow`,
    (password: string) => `postgres://windrow@a:5432/windrow?password=${password}`,
    (password: string) => `postgres://windrow:b@a:5432/windrow?sslmode=x&password=${password}`,
    (password: string) => `postgres://windrow:b@a:5432/windrow?password=${password}&sslmode=require`,
  ])('is shown without its password, whatever characters that has (%#)', (address) => {
    // What is shown must not depend on the password, but for what is wrong with it.
    const known = ['x', '/', '@', '#', '&x'].map((password) => shownOf(address(password)));
    const characters = fc.constantFrom(...'/:@?#%&=[]., \\\n\t…', '%2F', '%zz', '//', '5432');
    const passwords = fc.string({
      unit: fc.oneof(characters, fc.string({ unit: 'binary', minLength: 1, maxLength: 3 })),
    });
    fc.assert(fc.property(passwords, (password) => void expect(known).toContain(shownOf(address(password)))));
  });

  it.each(['S3cr/etPW', '12/etPW', 'SEC@RET/PW', 'a?b', 'a#b'])(
    'with the password %s is refused, with how to write it',
    (password) => {
      expect(shownOf(`postgres://windrow:${password}@127.0.0.1:15444/windrow`)).toBe(
        'postgres://windrow:…@127.0.0.1:15444/windrow: expected an address such as ' +
          'postgres://user@host:5432/database; ' +
          'what is between its first : and its last @ is the password; in a password write / as %2F, ? as %3F, ' +
          '# as %23, @ as %40 and % as %25, and @ as %40 elsewhere',
      );
      const address = `postgres://windrow:${encodeURIComponent(password)}@127.0.0.1:15444/windrow`;
      expect(parseAddress(address).servers).toEqual([[address]]);
    },
  );

  it('may have a colon or an @ in its password', () => {
    const address = 'postgres://a:SECRET:b@c@h/x';
    expect(parseAddress(address)).toEqual({ servers: [[address]], text: 'postgres://a@h/x' });
  });

  it('that lacks its @ shows no word in the place of the port', () => {
    expect(shownOf('postgres://windrow:S3cret')).toMatch(
      /^postgres:\/\/windrow:…: expected .* number from 1 to 65535$/,
    );
  });
});
