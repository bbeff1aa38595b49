import type { Scope } from '../principal.js';
import { OAuthError } from './oauth-error.js';

/** Every scope, in the order in which they are written. */
export const allScopes: readonly Scope[] = ['core_read', 'core_write', 'core_admin'];

// The interface's own example of a token request (section 5) asks for `read` and `write`.
const SHORT_NAMES: ReadonlyMap<string, Scope> = new Map(
  allScopes.map((scope) => [scope.replace(/^core_/, ''), scope] as const),
);

export interface GrantedScope {
  readonly scopes: readonly Scope[];
  /** What was granted is not, word for word, what was asked for: the answer must name it (RFC 6749 section 5.1). */
  readonly isOther: boolean;
}

/**
 * What a client gets that asks for `wanted`: all of it, or an error; and all that it may ask for when it asks for
 * nothing in particular.
 *
 * @throws OAuthError invalid_scope.
 */
export function grantScope(wanted: string | undefined, allowed: readonly string[]): GrantedScope {
  if (wanted === undefined) return { scopes: inOrder(new Set(allowed)), isOther: true };
  const names = wanted.split(' ');
  const scopes = new Set<string>();
  for (const name of names) {
    const scope = SHORT_NAMES.get(name) ?? name;
    if (!covers(allowed, scope)) throw invalidScope(name, allowed);
    scopes.add(scope);
  }
  return { scopes: inOrder(scopes), isOther: names.some((name) => !scopes.has(name)) };
}

/** Whether these scopes open what `scope` opens: `core_admin` opens all. */
export function covers(held: Iterable<string>, scope: string): boolean {
  const set = new Set(held);
  return set.has(scope) || (set.has('core_admin') && allScopes.some((known) => known === scope));
}

function inOrder(scopes: ReadonlySet<string>): readonly Scope[] {
  return allScopes.filter((scope) => scopes.has(scope));
}

function invalidScope(name: string, allowed: readonly string[]): OAuthError {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name)) {
    return new OAuthError('invalid_scope', 'the scope is not a list of names with one space between any two');
  }
  return new OAuthError('invalid_scope', `this client may not grant ${name}; it may grant ${allowed.join(' ')}`);
}
