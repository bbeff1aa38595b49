import { StorageError } from '../errors.js';

/** Where a store is: `postgres://user:password@host1:5432,host2:5432/database?options`, as libpq writes it. */
export interface Address {
  /** A connection string for each server, in the order in which they are tried. */
  readonly servers: readonly string[];
  /** For people: without the password. */
  readonly text: string;
}

const FORM = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

/** @throws StorageError for a text that is no address, or asks for a server that cannot be written to. */
export function parseAddress(text: string): Address {
  const [, scheme = '', user, hosts = '', path = '', query = ''] = FORM.exec(text) ?? fault(text, 'its form');
  const parameters = new URLSearchParams(query);
  const session = parameters.get('target_session_attrs') ?? 'read-write';
  if (session !== 'read-write' && session !== 'primary') {
    throw fault(text, `target_session_attrs=${session}: windrow writes, so only read-write and primary will do`);
  }
  parameters.delete('target_session_attrs');
  const names = (parameters.get('host') ?? '').split(',');
  const ports = (parameters.get('port') ?? '').split(',');
  const isByParameter = parameters.has('host');
  const servers = (isByParameter ? names : hosts.split(',')).map((host, i) => {
    const own = new URLSearchParams(parameters);
    if (isByParameter) own.set('host', host);
    if (parameters.has('port')) own.set('port', ports[i] ?? ports[0] ?? '');
    const rest = own.size === 0 ? '' : `?${own}`;
    return `${scheme}${user === undefined ? '' : `${user}@`}${isByParameter ? '' : host}${path}${rest}`;
  });
  const name = user?.split(':')[0];
  const place = isByParameter ? names.join(',') : hosts;
  const safe = `${scheme}${name === undefined ? '' : `${name}@`}${place}${path}`;
  for (const server of servers) {
    // A server without a host is a socket, which pg understands and URL does not.
    if (!URL.canParse(server.replace('@/', '@socket/').replace('///', '//socket/'))) throw fault(safe, 'its form');
  }
  return { servers, text: safe };
}

function fault(text: string, what: string): never {
  const shown = text.replace(/:[^:@/]*@/, ':…@');
  throw new StorageError(
    'storage.failed',
    `${shown}: expected an address such as postgres://user@host:5432/database, and cannot take ${what}`,
  );
}
