import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';

/** Scopes of the interface (section 5): read; write; both, and delete. */
export type Scope = 'core_read' | 'core_write' | 'core_admin';

/** In the order in which answers list them. */
export const allScopes: readonly Scope[] = ['core_read', 'core_write', 'core_admin'];

/** Whether the held scopes include `scope`; `core_admin` includes all. */
export function covers(held: Iterable<string>, scope: string): boolean {
  const set: ReadonlySet<string> = held instanceof Set ? held : new Set(held);
  return set.has(scope) || (set.has('core_admin') && allScopes.some((known) => known === scope));
}

export const grantTypes = ['client_credentials', 'password'] as const;
export type GrantType = (typeof grantTypes)[number];

/** Who sends a request, according to its bearer token. */
export interface Principal {
  readonly clientId: string;
  /** Null unless the token was issued by the password grant. */
  readonly username: string | null;
  readonly organisation: string;
  readonly scopes: ReadonlySet<string>;
}

declare module 'fastify' {
  interface FastifyRequest {
    // Hosts of the plugin may decorate requests with shorter names.
    /** Set by `authorize`, the route's `onRequest` hook. */
    windrowPrincipal: Principal | undefined;
    /** From `x-correlation-id`, or generated. */
    windrowCorrelationId: string;
  }
}

/** The principal of a request that `authorize` has let through. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.windrowPrincipal === undefined) throw new Error('assertion failed: the route does not authorize');
  return request.windrowPrincipal;
}

/** Makes a route's hook, which answers 401 without a valid token, and 403 without any of the scopes. */
export type Authorize = (
  ...anyOf: readonly Scope[]
) => onRequestAsyncHookHandler & { readonly anyOf: readonly Scope[] };
