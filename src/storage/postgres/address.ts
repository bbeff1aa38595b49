import { StorageError } from '../errors.js';

/** The address of a store, in the form of libpq: `postgres://user:password@host1:5432,host2:5432/database?options`. */
export interface Address {
  /** A connection string for each server, in the order of attempts. */
  readonly servers: readonly string[];
  /** For display: without the password. */
  readonly text: string;
}

const FORM = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

/** @throws StorageError for a malformed address, or one that asks for a read-only server. */
export function parseAddress(text: string): Address {
  const [, scheme = '', user, hosts = '', path = '', query = ''] =
    FORM.exec(text) ?? fault(text, 'the text has another form');
  const parameters = new URLSearchParams(query);
  const session = parameters.get('target_session_attrs') ?? 'read-write';
  if (session !== 'read-write' && session !== 'primary') {
    throw fault(text, `windrow writes, so target_session_attrs must be read-write or primary, not ${session}`);
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
    // A server without a host is a Unix socket, which pg accepts and URL does not.
    if (!URL.canParse(server.replace('@/', '@socket/').replace('///', '//socket/')))
      throw fault(safe, 'the text has another form');
  }
  return { servers, text: safe };
}

function fault(text: string, what: string): never {
  const shown = text.replace(/:[^:@/]*@/, ':…@');
  throw new StorageError(
    'storage.failed',
    `${shown}: expected an address such as postgres://user@host:5432/database; ${what}`,
  );
}
