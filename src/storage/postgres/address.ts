import { StorageError } from '../errors.js';
import { tlsAttempts, tlsFault } from './tls.js';

/** The address of a store, in the form of libpq: `postgres://user:password@host1:5432,host2:5432/database?options`. */
export interface Address {
  /** For each server, in the order of attempts: a connection string, or two where TLS is optional. */
  readonly servers: readonly (readonly string[])[];
  /** For display: without the password. */
  readonly text: string;
}

const FORM = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
const SCHEME = /^postgres(?:ql)?:\/\//;
const HOST = /^(?:\[[^\]]*\]|[^:[\]]*)(?::(.*))?$/s;
const PORT_MAX = 65_535;
/** What `pg` and this module take from an address. Another name, such as a mistyped sslmode, would have no effect. */
const PARAMETERS = [
  ...['host', 'port', 'user', 'password', 'target_session_attrs', 'application_name', 'fallback_application_name'],
  ...['options', 'client_encoding', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'ssl', 'uselibpqcompat'],
];
/** Of libpq, and without effect here, as the service has limits of its own. */
const PARAMETERS_IGNORED = [
  ...['connect_timeout', 'keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count'],
  ...['tcp_user_timeout'],
];

/** Whether a text is meant as an address, and not as the name of a folder. */
export function isAddress(text: string): boolean {
  return /^postgres(?:ql)?:/.test(text);
}

/** @throws StorageError for a malformed address, or one that asks for a read-only server or what nobody knows. */
export function parseAddress(text: string): Address {
  const shown = withoutSecrets(text);
  if (/[/?#]/.test(passwordOf(text)?.password ?? '')) {
    const mend = 'in a password write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25, and @ as %40 elsewhere';
    throw fault(shown, `what is between its first : and its last @ is the password; ${mend}`);
  }
  const [, scheme = '', user, hosts = '', path = '', query = ''] =
    FORM.exec(text) ?? fault(shown, 'the text has another form');
  const parameters = new URLSearchParams(query);
  const wrongName = nameFault(parameters);
  if (wrongName !== undefined) throw fault(shown, wrongName);
  for (const name of PARAMETERS_IGNORED) parameters.delete(name);
  const session = parameters.get('target_session_attrs') ?? 'read-write';
  if (session !== 'read-write' && session !== 'primary') {
    throw fault(shown, `windrow writes, so target_session_attrs must be read-write or primary, not ${session}`);
  }
  parameters.delete('target_session_attrs');
  const names = (parameters.get('host') ?? '').split(',');
  const ports = (parameters.get('port') ?? '').split(',');
  const isByParameter = parameters.has('host');
  const places = isByParameter ? names : hosts.split(',');
  const wrongTls = tlsFault(parameters);
  if (wrongTls !== undefined) throw fault(shown, wrongTls);
  const servers = places.map((host, i) => {
    const own = new URLSearchParams(parameters);
    if (isByParameter) own.set('host', host);
    if (parameters.has('port')) own.set('port', ports[i] ?? ports[0] ?? '');
    return tlsAttempts(own).map((attempt) => {
      const rest = attempt.size === 0 ? '' : `?${attempt}`;
      return `${scheme}${user === undefined ? '' : `${user}@`}${isByParameter ? '' : host}${path}${rest}`;
    });
  });
  // A host of another form is refused below, by its URL.
  const given = hosts.split(',').map((host) => HOST.exec(host)?.[1] ?? '');
  if (![...given, ...ports].every(isPort)) throw fault(shown, `a port is a number from 1 to ${PORT_MAX}`);
  for (const server of servers.flat()) {
    // A server without a host is a Unix socket, which pg accepts and URL does not.
    if (!URL.canParse(server.replace('@/', '@socket/').replace('///', '//socket/')))
      throw fault(shown, 'the text has another form');
  }
  const name = user?.split(':')[0];
  const safe = `${scheme}${name === undefined ? '' : `${name}@`}${places.join(',')}${path}`;
  return { servers, text: safe };
}

/** What is wrong with the names of parameters, in words; undefined if nothing is. */
function nameFault(parameters: URLSearchParams): string | undefined {
  const names = [...parameters.keys()];
  // Behind an & in a password, the rest of it looks like a name.
  const shown = (name: string) => (names.includes('password') ? '…' : JSON.stringify(name));
  const unknown = names.find((name) => !PARAMETERS.includes(name) && !PARAMETERS_IGNORED.includes(name));
  if (unknown !== undefined) return `${shown(unknown)} is no parameter of it: expected one of ${PARAMETERS.join(', ')}`;
  const repeated = names.find((name, i) => names.indexOf(name) < i);
  return repeated === undefined ? undefined : `the parameter ${shown(repeated)} is there twice: give it once`;
}

/** Whether it is one, or left out. */
function isPort(text: string): boolean {
  return text === '' || (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= PORT_MAX);
}

/**
 * The password and where it begins, in a text that may have another form: all from the first colon after the scheme to
 * the last @, as its own / or @ may have been left as they are.
 */
function passwordOf(text: string): { readonly start: number; readonly password: string } | undefined {
  const schemeLength = SCHEME.exec(text)?.[0].length ?? 0;
  const start = text.indexOf(':', schemeLength) + 1;
  const end = text.lastIndexOf('@');
  return start > 0 && start <= end ? { start, password: text.slice(start, end) } : undefined;
}

/** The address for a message: whatever is wrong with it, without its password and parameters. */
function withoutSecrets(text: string): string {
  if (/[?&]password=/.test(text)) return `${SCHEME.exec(text)?.[0] ?? ''}…`;
  const { start, password } = passwordOf(text) ?? { start: 0, password: undefined };
  const masked = password === undefined ? text : `${text.slice(0, start)}…${text.slice(start + password.length)}`;
  // Where the @ was forgotten, the password is in the place of a port.
  return masked.replace(/[?#].*$/s, '').replace(/:(?!\d*(?:[,/]|$)|\/\/|…@)[^,/@\]]+(?=[,/]|$)/g, ':…');
}

function fault(shown: string, what: string): never {
  throw new StorageError(
    'storage.failed',
    `${shown}: expected an address such as postgres://user@host:5432/database; ${what}`,
  );
}
