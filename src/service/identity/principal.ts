import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';

/** Scopes of the interface (section 5): reading, writing, and both with deleting. */
export type Scope = 'core_read' | 'core_write' | 'core_admin';

/** Every scope, in the order in which they are written. */
export const allScopes: readonly Scope[] = ['core_read', 'core_write', 'core_admin'];

/** Whether these scopes open what `scope` opens: `core_admin` opens all. */
export function covers(held: Iterable<string>, scope: string): boolean {
  const set = new Set(held);
  return set.has(scope) || (set.has('core_admin') && allScopes.some((known) => known === scope));
}

export const grantTypes = ['client_credentials', 'password'] as const;
export type GrantType = (typeof grantTypes)[number];

/** Who asks: told by the bearer token. */
export interface Principal {
  readonly clientId: string;
  /** The user, where the password grant gave the token. */
  readonly username: string | null;
  readonly organisation: string;
  readonly scopes: ReadonlySet<string>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `authorize`, which a route names as its `onRequest` hook. */
    principal: Principal | undefined;
    /** From `x-correlation-id`, or made by the service. */
    correlationId: string;
  }
}

/** The principal of a request that `authorize` has let through. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === undefined) throw new Error('assertion failed: the route does not authorize');
  return request.principal;
}

/** Makes the hook of a route that any one of the scopes opens; 401 without a valid token, 403 without a scope. */
export type Authorize = (...anyOf: readonly Scope[]) => onRequestAsyncHookHandler;
