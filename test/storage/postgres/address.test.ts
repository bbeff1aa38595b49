import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../../src/storage/postgres/address.js';

describe('the address of a store in PostgreSQL', () => {
  it('becomes one connection string for each of its servers, and is shown without the password', () => {
    expect(parseAddress('postgres://me:s3cret@a:5432,b:5433/windrow?sslmode=verify-full')).toEqual({
      servers: [
        'postgres://me:s3cret@a:5432/windrow?sslmode=verify-full',
        'postgres://me:s3cret@b:5433/windrow?sslmode=verify-full',
      ],
      text: 'postgres://me@a:5432,b:5433/windrow',
    });
  });

  it('may name several sockets, each with a port or all with one', () => {
    const { servers } = parseAddress('postgresql:///windrow?host=/run/a,/run/b&port=5432,5433');
    expect(servers).toEqual([
      'postgresql:///windrow?host=%2Frun%2Fa&port=5432',
      'postgresql:///windrow?host=%2Frun%2Fb&port=5433',
    ]);
  });

  it('asks for a server that accepts writes', () => {
    expect(parseAddress('postgres://a/x?target_session_attrs=read-write').servers).toEqual(['postgres://a/x']);
    expect(() => parseAddress('postgres://a/x?target_session_attrs=standby')).toThrow(/must be read-write or primary/);
  });

  it.each(['mysql://a/x', 'postgres:/a', 'postgres://me:s3cret@a:port/x'])('cannot be %s', (text) => {
    expect(() => parseAddress(text)).toThrow(/expected an address such as postgres:/);
    expect(() => parseAddress(text)).not.toThrow(/s3cret/);
  });
});
