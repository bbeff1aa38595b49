import type { ServiceContext } from '../context.js';
import { createIssuer } from '../token/issue.js';
import type { TokenServices } from '../token/routes.js';
import { createAuthenticator } from '../token/tokens.js';
import { type Administration, createAdministration } from './administration.js';
import { createPasswords, type PasswordOptions } from './passwords.js';
import type { Principal } from './principal.js';
import type { UserName } from './users.js';

/** Who the callers are, and what they may do. */
export interface Identity {
  /** Who a bearer token stands for; undefined for one that is unknown, revoked or expired. */
  authenticate(token: string): Promise<Principal | undefined>;
  readonly administration: Administration;
  /** `administration.addUser` with the password itself. */
  addUser(user: UserName & { readonly password: string }): Promise<void>;
  readonly tokens: TokenServices;
}

export function createIdentity(
  context: Pick<ServiceContext, 'storage' | 'clock' | 'random' | 'settings'>,
  passwordOptions: PasswordOptions = {},
): Identity {
  const passwords = createPasswords(context.random, passwordOptions);
  const authenticator = createAuthenticator(context);
  const administration = createAdministration(context);
  return Object.freeze({
    authenticate: authenticator.authenticate,
    administration,
    addUser: async ({ password, ...user }: UserName & { readonly password: string }) =>
      administration.addUser({ ...user, passwordHash: await passwords.hash(password) }),
    tokens: { authenticator, issuer: createIssuer(context, passwords) },
  });
}
