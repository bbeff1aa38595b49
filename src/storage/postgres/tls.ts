import { resolve } from 'node:path';

/**
 * The modes of TLS of libpq, said in the words of `pg`, in the order of attempts: `pg` knows no second attempt. By
 * itself it takes each of the last four for `verify-full`, and warns in many lines; `uselibpqcompat` ends both.
 */
const MODES: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  disable: [{ sslmode: 'disable' }],
  allow: [{ sslmode: 'disable' }, { sslmode: 'prefer', uselibpqcompat: 'true' }],
  prefer: [{ sslmode: 'prefer', uselibpqcompat: 'true' }, { sslmode: 'disable' }],
  require: [{ sslmode: 'require', uselibpqcompat: 'true' }],
  'verify-ca': [{ sslmode: 'verify-ca', uselibpqcompat: 'true' }],
  'verify-full': [{ sslmode: 'verify-full' }],
};

/** What is wrong with the parameters of TLS, in words; undefined if nothing is. */
export function tlsFault(parameters: URLSearchParams): string | undefined {
  const mode = parameters.get('sslmode');
  if (mode === null) return undefined;
  if (!Object.hasOwn(MODES, mode)) {
    return `sslmode is one of ${Object.keys(MODES).join(', ')}, not ${JSON.stringify(mode)}`;
  }
  if (mode !== 'verify-ca' || parameters.has('sslrootcert')) return undefined;
  return 'sslmode=verify-ca needs sslrootcert=FILE, with the certificate of the authority; or use verify-full';
}

/** Names of files, which are read for each connection, wherever the process works by then. */
const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** The parameters for each attempt to connect to a server. */
export function tlsAttempts(parameters: URLSearchParams): readonly URLSearchParams[] {
  const attempts = MODES[parameters.get('sslmode') ?? ''];
  const files = FILES.flatMap((name) => parameters.getAll(name).map((path) => [name, resolve(path)] as const));
  return (attempts ?? [{}]).map((words) => {
    const own = new URLSearchParams(parameters);
    for (const [name, path] of files) own.set(name, path);
    if (attempts !== undefined) own.delete('uselibpqcompat');
    for (const [name, word] of Object.entries(words)) own.set(name, word);
    return own;
  });
}
